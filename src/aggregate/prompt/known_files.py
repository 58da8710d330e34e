"""What the index knows of files and of groups of them by their contents, and how that lies there as bytes.

Of each file its words are known, in tables of a group of files that follow each other by their paths. What an edit
changes stands in a small table beside the group's large one, in which these files count for nothing from then on. Its
definitions and pieces are known only where a question has asked for them.
"""

import json
import sys
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from struct import Struct
from typing import Final
from zlib import crc32

from aggregate.base.concurrency import Call, in_children
from aggregate.base.text import LOCK_FILES, TELLING_SUFFIXES, generated_reason
from aggregate.code.syntax import LANGUAGES, naming_class, telling_names
from aggregate.project.files import SourceFile, read_file
from aggregate.project.index import Index, Kind, code_version, file_state, settled_mark
from aggregate.prompt.file_reading import ReadFacts
from aggregate.prompt.selection import ResolvedFile
from aggregate.ranking.files import (
    MOST_MEMBERS,
    Analysis,
    FileTable,
    RoughFile,
    look_roughly,
    pack_tables,
)

_MEMBERS: Final = 128  # Files of a group on average
GONE: Final = MOST_MEMBERS  # Stands in a table for a file that has changed since, or is no more
# Of the files of a group so many may stand in its small table; with more all are looked at once more.
_MOST_CHANGED: Final = 0.25
_GROUPS_AT_ONCE: Final = 16  # Of which the index is asked at once
_SIZE: Final = Struct("=I")
# Characters of a group's texts that wait for each other; what is behind them is looked at at once.
_MOST_WAITING: Final = 4_000_000
# Characters of files that are looked at here: about 10 ms, in which no process has begun.
_MOST_AT_ONCE: Final = 100_000
# What to look at: a file's path and its text.
Named = tuple[str, str]
Asked = tuple[str, str, bytes]  # the same, and what is known already but for references
_Looked = Named | RoughFile | None  # or what was found there, nothing in one that cannot be read

USUAL: Final = ReadFacts()  # What reading most files tells


def analysed(files: Iterable[Asked], *, with_references: bool) -> Iterator[Analysis]:
    """Yield the analysis of each file, in their order, made in child processes."""
    calls = (Call(file, _packed, (*file, with_references), len(file[1])) for file in files)
    with closing(in_children(calls)) as answered:
        for call in answered:
            yield Analysis.unpack(
                call.answer
                if isinstance(call.answer, bytes)
                else _packed(*call.about[:2], b"", with_references, str(call.answer))
            )


def _packed(path: str, text: str, known: bytes, with_references: bool, problem: str = "") -> bytes:
    from aggregate.ranking.files import analyse  # the parser, which these alone need

    made = analyse(path, text, problem=problem, packed=known, with_references=with_references)
    return made.pack()


def tables_of(files: Sequence[_Looked]) -> tuple[bytes, bytes]:
    """Return what ``pack_tables`` does of files by their texts."""
    return pack_tables(
        [
            look_roughly(*file) if file and not isinstance(file, RoughFile) else file
            for file in files
        ]
    )


@dataclass(frozen=True, slots=True)
class Part:
    """A table of some files of a group.

    Attributes:
        key: By which the index knows it.
        members: Which file of the group each of its files is, or ``GONE``.
        terms: The table of their terms, where no index keeps it.
    """

    key: bytes
    members: bytes
    table: FileTable
    terms: bytes | None = None


@dataclass(slots=True)
class FileGroup:
    """A group of files on its way into the corpus.

    Attributes:
        places: Of these among all files of the prompt.
        name: What the index calls it: by what it ends with, whatever else belongs to it.
        marks: By which the index knows each file again.
        identities: The files' identities, ``b""`` for one that is not known.
        facts: By a file's place in the group what reading it told, where that is not what it mostly is.
        parts: The tables of its files, the large one first.
    """

    files: Sequence[ResolvedFile]
    places: Sequence[int]
    name: bytes
    marks: list[bytes] = field(default_factory=list)
    identities: list[bytes] = field(default_factory=list)
    facts: dict[int, ReadFacts] = field(default_factory=dict)
    parts: list[Part] = field(default_factory=list)

    @property
    def unknown(self) -> Sequence[int]:
        """The files that no table is known of."""
        known = {member for part in self.parts for member in part.members}
        return [member for member in range(len(self.files)) if member not in known]

    def key(self, members: Iterable[int]) -> bytes:
        return sha256(b"".join([self.identities[member] for member in members])).digest()

    def pack(self) -> bytes:
        """Return what the index keeps of it, and of each file for as long as that is unchanged."""
        parts = [(part.key.hex(), part.members.hex()) for part in self.parts]
        about = json.dumps([self.facts, parts]).encode()
        return b"".join([_SIZE.pack(len(about)), about, *self.identities])

    def unpack(self, kept: bytes, before: Sequence[int]) -> list[tuple[bytes, bytes]]:
        """Take what was kept, and return the keys and members of its parts.

        ``before`` says which file of the group each one was, ``-1`` for none.
        """
        self.identities = [b""] * len(self.files)
        if not kept:
            return []
        start = _SIZE.size + _SIZE.unpack_from(kept)[0]
        facts, parts = json.loads(kept[_SIZE.size : start])
        starts = range(start, len(kept), _IDENTITY_BYTES)
        old = [kept[start : start + _IDENTITY_BYTES] for start in starts]
        now = bytearray([GONE]) * (GONE + 1)
        for member, place in enumerate(before):
            if place >= 0:
                now[place] = member
                self.identities[member] = old[place]
        self.facts = {now[int(place)]: ReadFacts(*told) for place, told in facts.items()}
        self.facts.pop(GONE, None)
        moved = [
            (bytes.fromhex(key), bytes.fromhex(members).translate(now)) for key, members in parts
        ]
        return [(key, members) for key, members in moved if members.strip(bytes([GONE]))]


# Whose code takes part in analysing a file's bytes, and in making tables of that.
ANALYSIS_CODE = (
    "prompt.known_files",
    "prompt.file_reading",
    "base.concurrency.child_server",  # whose limits decide what is analysed without a grammar
    "base.disk.reading",
    "base.disk.witnesses",
    "base.errors",
    "base.files",
    "base.values",
    "ranking.files.analyse",
    "ranking.files.analysis",
    "ranking.files.packing",
    "ranking.files.pieces",
    "ranking.files.rough",
    "ranking.files.tables",
    "ranking.files.term_tables",
    "ranking.terms",
    "base.redaction",
    "project.files.encodings",
    "project.files.file_content",
    "code.syntax",
    "base.text",
)
# What others have made of that: encodings are guessed, secrets and definitions found by them.
ANALYSIS_LIBRARIES = ("charset_normalizer", "re2", "tree_sitter")
_HASH_BYTES: Final = 32  # Of a content's hash, with which an identity begins
_DIGEST_BYTES: Final = 16  # Of what decides on an analysis besides the content
_IDENTITY_BYTES: Final = _HASH_BYTES + _DIGEST_BYTES + 1  # Of a file's identity
_OF_BYTES, _OF_CLEAN_TEXT = b"\0", b"\1"  # What the hash is of: an identity ends with it


def content_hash(identity: bytes) -> bytes:
    """Return the hash of a file's bytes; nothing where that was not made of them."""
    return identity[:_HASH_BYTES] if identity[-1:] == _OF_BYTES else b""


@dataclass(slots=True, eq=False)
class KnownFiles:
    """Finds what is known of files by what they hold and are called, and of groups by what their files hold.

    A file's identity is a hash of its bytes, or where it is to be known without its secrets of the text without them,
    and a digest of what else decides.
    """

    index: Index
    grouped: int = 0  # Tables that had to be made
    _by_suffix: dict[str, bytes] = field(default_factory=dict)

    def look_at(self, files: Sequence[ResolvedFile]) -> list[FileGroup]:
        """Return the files that can be read in groups, with what is kept of those that are unchanged."""
        groups = list(self._groups(files))
        for start in range(0, len(groups), _GROUPS_AT_ONCE):
            some = groups[start : start + _GROUPS_AT_ONCE]
            looks = self.index.look_at_groups(
                [(group.name, [(file.file, file.path) for file in group.files]) for group in some]
            )
            kept: list[tuple[FileGroup, bytes, bytes]] = []
            for group, look in zip(some, looks, strict=True):
                group.marks = look.marks
                kept += ((group, *part) for part in group.unpack(look.kept, look.places))
            tables = self._tables([key for _, key, _ in kept])
            for (group, key, members), table in zip(kept, tables, strict=True):
                if table:
                    group.parts.append(Part(key, members, table))
        return groups

    def _groups(self, files: Sequence[ResolvedFile]) -> Iterator[FileGroup]:
        """Yield the files that can be read in groups whose borders follow from their paths: a new file moves few."""
        asked = json.dumps([sys.byteorder, analysis_version()])
        # All that decides on what is known of a file, besides its content and its name.
        settings = sha256(asked.encode()).digest()
        placed = sorted((file.path, place) for place, file in enumerate(files) if not file.problem)
        places: list[int] = []
        for number, (path, place) in enumerate(placed, start=1):
            places.append(place)
            is_border = crc32(path.encode(errors="surrogatepass")) % _MEMBERS == 0
            if is_border or len(places) >= MOST_MEMBERS or number == len(placed):
                members = [files[each] for each in places]
                # Whatever the last file is called, the last group is the same; other globs take other files.
                end = "" if number == len(placed) else path
                globs = sorted({file.item.path for file in members if file.by_glob})
                named = "\0".join((files[place].file.removesuffix(path), end, *globs))
                name = sha256(settings + named.encode(errors="surrogatepass")).digest()
                yield FileGroup(members, places, name)
                places = []

    def find_out(self, groups: Iterable[FileGroup]) -> Generator[int, None, None]:
        """Read the files of groups that no table is known of, and make these; yield how many files of each."""

        def calls() -> Iterator[Call[tuple[FileGroup, int, bytes], tuple[bytes, bytes]]]:
            has_begun = False
            for group in groups:
                count = len(group.unknown)
                members, files = self._new_part(group)
                size = sum(len(file[1]) for file in files if file)
                has_begun = has_begun or size > _MOST_AT_ONCE
                function = tables_of if has_begun else None
                yield Call((group, count, members), function, (files,), size, is_parsed=False)

        with closing(in_children(calls())) as answered:
            for call in answered:
                group, count, members = call.about
                if call.arguments[0]:
                    made = call.answer if isinstance(call.answer, tuple) else None
                    self._keep(group, members, *(made or tables_of(*call.arguments)))
                self.index.remember_group(group.name, group.marks, group.pack())
                yield count

    def _new_part(self, group: FileGroup) -> tuple[bytes, list[_Looked]]:
        """Add the part of a group that is missing, or return its members and files where no table is known of them."""
        unread = [member for member, identity in enumerate(group.identities) if not identity]
        texts = self._texts(group, unread)
        members = sorted({*group.unknown, *(m for part in group.parts[1:] for m in part.members)})
        members = [member for member in members if member != GONE]
        del group.parts[1:]
        if len(members) > _MOST_CHANGED * len(group.files):
            members, group.parts = [*range(len(group.files))], []
        key = group.key(members)
        (table,) = self._tables([key])
        if table:
            group.parts.append(Part(key, bytes(members), table))
            return b"", []
        texts |= self._texts(group, [each for each in members if each not in texts])
        return bytes(members), [texts[member] for member in members]

    def _texts(self, group: FileGroup, members: Iterable[int]) -> dict[int, _Looked]:
        texts: dict[int, _Looked] = {}
        room = _MOST_WAITING
        for member in members:
            named = self._read(group, member)
            room -= len(named[1]) if named else 0
            texts[member] = look_roughly(*named) if named and room < 0 else named
        return texts

    def _read(self, group: FileGroup, member: int) -> Named | None:
        """Read a file for its words alone, and note what it holds: of these nothing is shown, so no secret is."""
        file, seen_ns = group.files[member], self.index.now_ns()
        source = read_file(file.file, hashed=True)
        state = source.info and file_state(source.info, seen_ns=seen_ns)
        group.marks[member] = settled_mark(state, file.path)
        group.identities[member] = self.identity(file.path, source)
        facts = ReadFacts.of(file.path, source)
        group.facts.pop(member, None)
        if facts[:-1] != USUAL[:-1]:  # most sizes are never told
            group.facts[member] = facts
        return None if facts.error else (file.path, source.text)

    def _keep(self, group: FileGroup, members: bytes, named: bytes, terms: bytes) -> None:
        key = group.key(members)
        self.index.put_many(_kind("name group"), [(key, named)])
        self.index.put_many(_kind("term group"), [(key, terms)])
        held = None if self.index.is_used else terms
        group.parts.append(Part(key, members, FileTable(named), held))
        self.grouped += 1

    def _tables(self, keys: Sequence[bytes]) -> list[FileTable | None]:
        rows = self.index.get_many(_kind("name group"), keys)
        return [FileTable(row) if row else None for row in rows]

    def terms(self, keys: Sequence[bytes]) -> list[bytes | None]:
        return self.index.get_many(_kind("term group"), keys)

    def identity(self, path: str, source: SourceFile) -> bytes:
        if source.content_hash:
            return self._identity(path, source.content_hash)
        text = f"{source.error}\0{source.text}".encode(errors="surrogatepass")
        return self._identity(path, sha256(text).digest(), _OF_CLEAN_TEXT)

    def _identity(self, path: str, hashed: bytes, of: bytes = _OF_BYTES) -> bytes:
        name = path[path.rfind("/") + 1 :].lower()
        dot = name.rfind(".")
        suffix = name[dot:] if dot > 0 else ""
        if suffix in TELLING_SUFFIXES or name in _telling() or not dot:
            return hashed + self._digest(path) + of
        digest = self._by_suffix.get(suffix)
        if digest is None:
            digest = self._by_suffix[suffix] = self._digest(path)
        return hashed + digest + of

    def _digest(self, path: str) -> bytes:
        traits = naming_class(path), generated_reason(path, "")
        return sha256(json.dumps(traits).encode()).digest()[:_DIGEST_BYTES]

    def analyses(self, identities: Sequence[bytes]) -> list[Analysis | None]:
        keys = [sha256(identity).digest() for identity in identities]
        rows = self.index.get_many(_kind("analysis"), keys)
        return [Analysis.unpack(row) if row else None for row in rows]

    def keep_analysis(self, identity: bytes, analysis: Analysis) -> None:
        self.index.put_many(_kind("analysis"), [(sha256(identity).digest(), analysis.pack())])


@cache
def _telling() -> frozenset[str]:
    return telling_names() | {name.lower() for name in LOCK_FILES}


@cache
def analysis_version() -> str:
    grammars = {language.module for language in LANGUAGES if language.is_installed}
    return code_version(ANALYSIS_CODE, installed=(*ANALYSIS_LIBRARIES, *sorted(grammars)))


@cache
def _kind(name: str) -> Kind:
    # Numbers lie as this machine writes them, and a cache folder may be shared with others.
    return Kind(f"{name}:{sys.byteorder}", analysis_version())
