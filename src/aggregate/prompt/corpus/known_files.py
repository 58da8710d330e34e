"""Tables of words and definitions in files.

They are cached by content for the ranking. Neighbouring files form a group with one large table. Edited files move to a
small second table. Definitions and pieces are cached only for files analysed for a question.
"""

import json
import sys
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from struct import Struct
from typing import Any, Final
from zlib import crc32

from aggregate.base.concurrency import Call, in_children
from aggregate.base.text import LOCK_FILES, TELLING_SUFFIXES, generated_reason
from aggregate.code.syntax import LANGUAGES, TAGGED_NAMES, naming_class
from aggregate.project.files import SourceFile, read_file
from aggregate.project.index import Index, Kind, code_version, settled_mark
from aggregate.prompt.files.file import File
from aggregate.prompt.files.file_reading import ReadFacts
from aggregate.ranking.files import (
    MOST_MEMBERS,
    Analysis,
    GroupTable,
    RoughFile,
    look_roughly,
    pack_tables,
)

_MEMBERS: Final = 128  # files of a group on average
GONE: Final = MOST_MEMBERS  # a table's entry for a changed or deleted file
_MOST_CHANGED: Final = 0.25  # part of a group in its small table; with more both are rebuilt
_GROUPS_AT_ONCE: Final = 16  # groups looked up together
_SIZE: Final = Struct("=I")
_MOST_AT_ONCE: Final = 100_000  # bytes read in this process: 10 ms, less than a child's start
FileRead = tuple[bytes, bytes, ReadFacts]  # mark, hash of the bytes, facts
Asked = tuple[str, str, bytes]  # path, text, and the packed analysis without references, if any

USUAL: Final = ReadFacts()  # the facts of most files


def analysed(files: Iterable[Asked], *, with_references: bool) -> Iterator[Analysis]:
    """Analyse files in child processes; yield the analyses in order."""
    calls = (Call(file, _packed, (*file, with_references), len(file[1])) for file in files)
    with closing(in_children(calls)) as answered:
        for call in answered:
            yield Analysis.unpack(
                call.answer
                if isinstance(call.answer, bytes)
                else _packed(*call.about[:2], b"", with_references, str(call.answer))
            )


def _packed(path: str, text: str, packed: bytes, with_references: bool, problem: str = "") -> bytes:
    from aggregate.ranking.files import analyse  # imports the parser

    analysis = analyse(path, text, problem=problem, packed=packed, with_references=with_references)
    return analysis.pack()


def _read(file: str, path: str, seen_ns: int) -> tuple[FileRead, str]:
    """Read a file for its words, which are never shown."""
    source = read_file(file, hashed=True)
    facts = ReadFacts.of(path, source)
    return (
        settled_mark(source.state, path, seen_ns=seen_ns),
        source.content_hash,
        facts,
    ), source.text


def _read_tables(
    files: Sequence[tuple[str, str]], seen_ns: int
) -> tuple[list[FileRead], tuple[bytes, bytes]]:
    """Read files, pairs of location and path, and pack their tables."""
    reads: list[FileRead] = []
    words: list[RoughFile | None] = []
    for file, path in files:
        read, text = _read(file, path, seen_ns)
        reads.append(read)
        words.append(None if read[-1].error else look_roughly(path, text))
    return reads, pack_tables(words)


@dataclass(frozen=True, slots=True)
class Part:
    """A stored table about some files of a group, and which files these are."""

    key: bytes  # in the index
    members: bytes  # for each of its files the index in the group, or ``GONE``
    table: GroupTable
    terms: bytes | None = None  # the table of terms, without an index


@dataclass(slots=True)
class FileGroup:
    """Neighbouring files with common stored tables.

    The tables have the files' words and facts. Unchanged files are not read again.
    """

    files: Sequence[File]
    places: Sequence[int]  # indexes among all files of the prompt
    name: bytes  # in the index, by its last path
    marks: list[bytes] = field(default_factory=list)  # of the files' states on disk
    identities: list[bytes] = field(default_factory=list)  # ``b""`` for an unknown file
    facts: dict[int, ReadFacts] = field(default_factory=dict)  # unusual ones, by member
    parts: list[Part] = field(default_factory=list)  # the large table first
    is_new: bool = False  # the index has no row

    @property
    def unknown(self) -> Sequence[int]:
        """The group's files without a table."""
        members = {member for part in self.parts for member in part.members}
        return [member for member in range(len(self.files)) if member not in members]

    def key(self, members: Iterable[int]) -> bytes:
        return sha256(b"".join([self.identities[member] for member in members])).digest()

    def pack(self) -> bytes:
        parts = [(part.key.hex(), part.members.hex()) for part in self.parts]
        about = json.dumps([self.facts, parts]).encode()
        return b"".join([_SIZE.pack(len(about)), about, *self.identities])

    def unpack(self, row: bytes, before: Sequence[int]) -> list[tuple[bytes, bytes]]:
        """Return the parts in a row of the index.

        Each part is a key with the numbers of its files. ``before`` has each file's number in the row, ``-1`` if the
        row lacks it.
        """
        self.identities = [b""] * len(self.files)
        if not row:
            return []
        start = _SIZE.size + _SIZE.unpack_from(row)[0]
        facts, parts = json.loads(row[_SIZE.size : start])
        starts = range(start, len(row), _IDENTITY_BYTES)
        identities = [row[start : start + _IDENTITY_BYTES] for start in starts]
        now = bytearray([GONE]) * (GONE + 1)
        for member, old in enumerate(before):
            if old >= 0:
                now[old] = member
                self.identities[member] = identities[old]
        self.facts = {now[int(old)]: ReadFacts(*values) for old, values in facts.items()}
        self.facts.pop(GONE, None)
        moved = [
            (bytes.fromhex(key), bytes.fromhex(members).translate(now)) for key, members in parts
        ]
        return [(key, members) for key, members in moved if members.strip(bytes([GONE]))]


# Modules hashed into the version of the analyses and tables.
ANALYSIS_CODE = (
    "prompt.corpus.known_files",
    "prompt.files.file_reading",
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
    "ranking.files.group_table",
    "ranking.files.term_tables",
    "ranking.terms",
    "base.redaction",
    "project.files.encodings",
    "project.files.file_content",
    "code.syntax",
    "base.text",
)
ANALYSIS_LIBRARIES = ("charset_normalizer", "re2", "tree_sitter")
_HASH_BYTES: Final = 32  # of the content's hash, which begins an identity
_DIGEST_BYTES: Final = 16  # of the traits of the file's name
_IDENTITY_BYTES: Final = _HASH_BYTES + _DIGEST_BYTES + 1
# File names which decide the language, or whether a file is generated.
_TELLING_NAMES: Final = TAGGED_NAMES | {name.lower() for name in LOCK_FILES}
_OF_BYTES, _OF_CLEAN_TEXT = b"\0", b"\1"  # the hashed content, which ends an identity


def content_hash(identity: bytes) -> bytes:
    """Return the hash of a file's bytes, ``b""`` if the redacted text was hashed."""
    return identity[:_HASH_BYTES] if identity[-1:] == _OF_BYTES else b""


@dataclass(slots=True, eq=False)
class KnownFiles:
    """Cached analyses of files, and cached tables of groups.

    A key is a hash of a file's bytes (or of its redacted text) and of the parts of its name that matter.
    """

    index: Index
    grouped: int = 0  # new tables
    _by_suffix: dict[str, bytes] = field(default_factory=dict)

    def look_at(self, files: Sequence[File]) -> list[FileGroup]:
        """Return the readable files in groups, with stored tables for files that are unchanged."""
        groups = list(self._groups(files))
        for start in range(0, len(groups), _GROUPS_AT_ONCE):
            batch = groups[start : start + _GROUPS_AT_ONCE]
            looks = self.index.look_at_groups(
                [(group.name, [(file.file, file.path) for file in group.files]) for group in batch]
            )
            parts: list[tuple[FileGroup, bytes, bytes]] = []
            for group, look in zip(batch, looks, strict=True):
                group.marks, group.is_new = look.marks, not look.kept
                parts += ((group, *part) for part in group.unpack(look.kept, look.places))
            tables = self._tables([key for _, key, _ in parts])
            for (group, key, members), table in zip(parts, tables, strict=True):
                if table:
                    group.parts.append(Part(key, members, table))
        return groups

    def _groups(self, files: Sequence[File]) -> Iterator[FileGroup]:
        """Yield the readable files in groups.

        Borders depend on paths, so a new file changes few groups.
        """
        versions = json.dumps([sys.byteorder, analysis_version()])
        settings = sha256(versions.encode()).digest()
        ordered = sorted((file.path, index) for index, file in enumerate(files) if not file.problem)
        indexes: list[int] = []
        for number, (path, index) in enumerate(ordered, start=1):
            indexes.append(index)
            is_border = crc32(path.encode(errors="surrogatepass")) % _MEMBERS == 0
            if is_border or len(indexes) >= MOST_MEMBERS or number == len(ordered):
                members = [files[member] for member in indexes]
                # The last group's name does not depend on its last file.
                end = "" if number == len(ordered) else path
                globs = sorted({file.item.path for file in members if file.by_glob})
                parts = "\0".join((files[index].file.removesuffix(path), end, *globs))
                name = sha256(settings + parts.encode(errors="surrogatepass")).digest()
                yield FileGroup(members, indexes, name)
                indexes = []

    def find_out(self, groups: Iterable[FileGroup]) -> Generator[int, None, None]:
        """Make tables for files that have none; yield the number of files read after each step."""

        def calls() -> Iterator[Call[tuple[FileGroup, int, Sequence[int]], Any]]:
            has_begun = False
            for group in groups:
                count = len(group.unknown)
                members = range(len(group.files)) if group.is_new else self._new_part(group)
                files = [(group.files[member].file, group.files[member].path) for member in members]
                marks = filter(None, (group.marks[member] for member in members))
                size = sum(int(mark.split(b" ", 3)[2]) for mark in marks)
                has_begun = has_begun or size > _MOST_AT_ONCE
                function = _read_tables if has_begun and files else None
                arguments = files, self.index.now_ns()
                yield Call((group, count, members), function, arguments, size)

        with closing(in_children(calls())) as answered:
            for call in answered:
                group, count, members = call.about
                if members:
                    answer: Any = call.answer  # a deadline, or nothing, means to read here
                    is_read = isinstance(answer, tuple)
                    reads, tables = answer if is_read else _read_tables(*call.arguments)
                    for member, read in zip(members, reads, strict=True):
                        self._note(group, member, read)
                    self._store(group, bytes(members), *tables)
                self.index.remember_group(group.name, group.marks, group.pack())
                yield count

    def _new_part(self, group: FileGroup) -> Sequence[int]:
        """Add the table of a group's new files.

        Without such a table in the index, return the files to read for it.
        """
        for member, identity in enumerate(group.identities):
            if not identity:
                file = group.files[member]
                self._note(group, member, _read(file.file, file.path, self.index.now_ns())[0])
        members = sorted({*group.unknown, *(m for part in group.parts[1:] for m in part.members)})
        members = [member for member in members if member != GONE]
        del group.parts[1:]
        if len(members) > _MOST_CHANGED * len(group.files):
            members, group.parts = [*range(len(group.files))], []
        key = group.key(members)
        (table,) = self._tables([key])
        if table is None:
            return members
        group.parts.append(Part(key, bytes(members), table))
        return ()

    def _note(self, group: FileGroup, member: int, read: FileRead) -> None:
        path = group.files[member].path
        group.marks[member], content_hash, facts = read
        source = SourceFile("", facts.error, content_hash=content_hash)
        group.identities[member] = self.identity(path, source)
        group.facts.pop(member, None)
        if facts[:-1] != USUAL[:-1]:
            group.facts[member] = facts

    def _store(self, group: FileGroup, members: bytes, names: bytes, terms: bytes) -> None:
        key = group.key(members)
        self.index.put_many(_kind("name group"), [(key, names)])
        self.index.put_many(_kind("term group"), [(key, terms)])
        part_terms = None if self.index.is_used else terms
        group.parts.append(Part(key, members, GroupTable(names), part_terms))
        self.grouped += 1

    def _tables(self, keys: Sequence[bytes]) -> list[GroupTable | None]:
        rows = self.index.get_many(_kind("name group"), keys)
        return [GroupTable(row) if row else None for row in rows]

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
        if suffix in TELLING_SUFFIXES or name in _TELLING_NAMES or not dot:
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
def analysis_version() -> str:
    grammars = {language.module for language in LANGUAGES if language.is_installed}
    return code_version(ANALYSIS_CODE, installed=(*ANALYSIS_LIBRARIES, *sorted(grammars)))


@cache
def _kind(name: str) -> Kind:
    # Machines of both byte orders may share a cache folder.
    return Kind(f"{name}:{sys.byteorder}", analysis_version())
