"""What the index knows of files and of groups of them by their contents, and how that lies there as bytes.

Of each file its words are known, in tables of a group of files that follow each other by their paths; its definitions
and pieces only where a question has asked for them.
"""

import json
import struct
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cache, cached_property
from hashlib import sha256
from typing import Any, Final
from zlib import crc32

from aggregate.base.concurrency import Call, in_children
from aggregate.base.text import LOCK_FILES, TELLING_SUFFIXES, generated_reason
from aggregate.code.syntax import LANGUAGES, naming_class, telling_names
from aggregate.project.files import SourceFile
from aggregate.project.index import FileState, Index, Kind, code_version, file_state
from aggregate.prompt.file_reading import ReadFacts, Reading
from aggregate.prompt.selection import ResolvedFile
from aggregate.ranking.files import (
    MOST_MEMBERS,
    NO_TRAITS,
    Analysis,
    NameGroup,
    RoughFile,
    column,
    look_roughly,
    numbers,
    pack_names,
    pack_terms,
)

# Files of a group on average: an edit makes one group anew, in some hundredths of a second, and a project of 100,000
# files has some 1,600 groups to look a term up in.
_MEMBERS: Final = 64
_GROUPS_AT_ONCE: Final = 32  # Of which the index is asked at once
_SIZE: Final = struct.Struct("=I")
# Characters of a text that does not wait for the others of its group, but is looked at at once.
_LARGE: Final = 200_000
# What to look at: a file's path and its text.
Named = tuple[str, str]

USUAL: Final = ReadFacts()  # What reading most files tells


def analysed(files: Iterable[Named]) -> Iterator[Analysis]:
    """Yield the analysis of each file, in their order, made in child processes."""
    calls = (Call(file, _packed, file, len(file[1])) for file in files)
    with closing(in_children(calls)) as answered:
        for call in answered:
            yield Analysis.unpack(
                call.answer
                if isinstance(call.answer, bytes)
                else _packed(*call.about, str(call.answer))
            )


def _packed(path: str, text: str, problem: str = "") -> bytes:
    from aggregate.ranking.files import analyse  # the parser, which these alone need

    return analyse(path, text, problem=problem).pack()


def tables_of(files: Sequence[Named | RoughFile | None]) -> tuple[bytes, bytes]:
    """Return what is told of files and the names that they define, and the table of their terms."""
    rough = [
        look_roughly(*file) if file and not isinstance(file, RoughFile) else file for file in files
    ]
    traits = [file.traits if file else NO_TRAITS for file in rough]
    languages = sorted({each.language for each in traits})
    head = json.dumps([len(files), languages]).encode()
    columns = (
        bytes([languages.index(each.language) for each in traits]),
        bytes([each.is_code for each in traits]),
        column("I", [each.characters for each in traits]),
        column("I", [each.terms for each in traits]),
        column("I", [each.pieces for each in traits]),
    )
    named = b"".join([_SIZE.pack(len(head)), head, *columns, pack_names(rough)])
    return named, pack_terms(rough)


class KnownGroup:
    """What is known of a group of files: what is told of each, and which names they define.

    Their terms are many times as much, and are looked up group by group.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._start = int(_SIZE.unpack_from(data)[0]) + _SIZE.size  # of the columns

    def told(self) -> list[Sequence[Any]]:
        """Return what ``FileFacts`` tells of each file behind its path, by columns."""
        count, languages = self._head
        start = self._start
        names, flags = self._data[start : start + count], self._data[start + count :][:count]
        start += 2 * count
        counts = numbers("I", memoryview(self._data)[start : start + 12 * count])
        return [
            [languages[number] for number in names],
            [flag == 1 for flag in flags],
            *(counts[number * count : (number + 1) * count] for number in range(3)),
        ]

    @cached_property
    def _head(self) -> tuple[int, list[str]]:
        count, languages = json.loads(self._data[_SIZE.size : self._start])
        return count, languages

    @cached_property
    def names(self) -> NameGroup:
        return NameGroup(memoryview(self._data)[self._start + 14 * self._head[0] :])


@dataclass(slots=True)
class FileGroup:
    """A group of files on its way into the corpus.

    Attributes:
        places: Of these among all files of the prompt.
        name: What the index calls it by its files, whatever they hold.
        identities: The files' identities, none while they are not known.
        facts: By a file's place in the group what reading it told, where that is not what it mostly is.
        terms: The table of its terms, where no index keeps it.
    """

    files: Sequence[ResolvedFile]
    places: Sequence[int]
    name: bytes
    identities: list[bytes] = field(default_factory=list)
    facts: dict[int, ReadFacts] = field(default_factory=dict)
    known: KnownGroup | None = None
    terms: bytes | None = None

    @property
    def key(self) -> bytes:
        return sha256(b"".join(self.identities)).digest()

    def pack(self) -> bytes:
        """Return what the index keeps of it for as long as its files are unchanged."""
        return b"".join(self.identities) + json.dumps(self.facts).encode()

    def unpack(self, kept: bytes) -> None:
        end = len(self.files) * _IDENTITY_BYTES
        starts = range(0, end, _IDENTITY_BYTES)
        self.identities = [kept[start : start + _IDENTITY_BYTES] for start in starts]
        facts = json.loads(kept[end:])
        self.facts = {int(place): ReadFacts(*told) for place, told in facts.items()}


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
    "ranking.files.pieces",
    "ranking.files.rough",
    "ranking.files.tables",
    "ranking.terms",
    "base.redaction",
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

    _index: Index
    grouped: int = 0  # Groups whose tables had to be made
    _by_suffix: dict[str, bytes] = field(default_factory=dict)

    @property
    def keeps_nothing(self) -> bool:
        return not self._index.is_used

    def look_at(self, files: Sequence[ResolvedFile]) -> list[FileGroup]:
        """Return the files that can be read in groups, with what is kept of those that are unchanged."""
        groups = list(self._groups(files))
        for start in range(0, len(groups), _GROUPS_AT_ONCE):
            some = groups[start : start + _GROUPS_AT_ONCE]
            looks = self._index.look_at_groups(
                [(group.name, [file.file for file in group.files]) for group in some]
            )
            known = [group for group, kept in zip(some, looks, strict=True) if kept]
            for group, kept in zip(known, filter(None, looks), strict=True):
                group.unpack(kept)
            tables = self._tables([group.key for group in known])
            for group, table in zip(known, tables, strict=True):
                group.known = table
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
                members = [files[place] for place in places]
                named = "\0".join([part for file in members for part in (file.file, file.path)])
                name = settings + named.encode(errors="surrogatepass")
                yield FileGroup(members, places, sha256(name).digest())
                places = []

    def find_out(
        self, groups: Sequence[FileGroup], read: Callable[[ResolvedFile], Reading]
    ) -> Generator[FileGroup, None, None]:
        """Find out about groups that are not known as they were seen: their files are read."""

        def calls() -> Iterator[Call[FileGroup, tuple[bytes, bytes]]]:
            for group in groups:
                files = self._read(group, read)
                (group.known,) = self._tables([group.key])
                size = sum(len(file[1]) for file in files if file)
                yield Call(group, None if group.known else tables_of, (files,), size)

        with closing(in_children(calls())) as answered:
            for call in answered:
                if call.function:
                    made = call.answer if isinstance(call.answer, tuple) else None
                    self._keep(call.about, *(made or tables_of(*call.arguments)))
                yield call.about

    def _read(
        self, group: FileGroup, read: Callable[[ResolvedFile], Reading]
    ) -> list[Named | RoughFile | None]:
        """Read the files of a group, note what they hold, and return their texts."""
        seen_ns = self._index.now_ns()
        group.identities, group.facts = [], {}
        states: list[FileState] = []
        texts: list[Named | RoughFile | None] = []
        for place, file in enumerate(group.files):
            reading = read(file)
            source = reading.source
            if source.info:
                states.append(file_state(source.info, seen_ns=seen_ns))
            group.identities.append(self.identity(file.path, source))
            if (facts := reading.facts._replace(size=0)) != USUAL:  # most sizes are never told
                group.facts[place] = reading.facts
            named = file.path, source.text
            is_large = len(source.text) > _LARGE
            texts.append(None if facts.error else look_roughly(*named) if is_large else named)
        if len(states) == len(group.files):
            self._index.remember_group(group.name, states, group.pack())
        return texts

    def _keep(self, group: FileGroup, named: bytes, terms: bytes) -> None:
        group.known = KnownGroup(named)
        self._index.put_many(_kind("name group"), [(group.key, named)])
        self._index.put_many(_kind("term group"), [(group.key, terms)])
        if not self._index.is_used:
            group.terms = terms
        self.grouped += 1

    def _tables(self, keys: Sequence[bytes]) -> list[KnownGroup | None]:
        rows = self._index.get_many(_kind("name group"), keys)
        return [KnownGroup(row) if row else None for row in rows]

    def terms(self, keys: Sequence[bytes]) -> list[bytes | None]:
        return self._index.get_many(_kind("term group"), keys)

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
        rows = self._index.get_many(_kind("analysis"), keys)
        return [Analysis.unpack(row) if row else None for row in rows]

    def keep_analysis(self, identity: bytes, analysis: Analysis) -> None:
        self._index.put_many(_kind("analysis"), [(sha256(identity).digest(), analysis.pack())])


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
