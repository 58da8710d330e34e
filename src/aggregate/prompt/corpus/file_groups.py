"""Groups of neighbouring files with cached tables of their words and definitions.

A group has one large table. Edited files move to a small second table. Definitions and pieces are cached only for files
analysed for a question. All keys are hashes of contents.
"""

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cache, lru_cache
from hashlib import sha256
from struct import Struct
from typing import Any, Final
from zlib import crc32

from aggregate.base.concurrency import Call, in_children
from aggregate.base.text import LOCK_FILES, TELLING_SUFFIXES, generated_reason
from aggregate.code.syntax import LANGUAGES, TAGGED_NAMES, naming_class
from aggregate.project.files import SourceFile, read_file
from aggregate.project.index import Index, Kind, code_version, settled_mark
from aggregate.prompt.files import File, ReadFacts
from aggregate.ranking.files import MOST_MEMBERS, GroupTable, RoughFile, look_roughly, pack_tables

# Modules hashed into the version of the analyses and tables.
ANALYSIS_CODE = (
    "prompt.corpus.file_groups",
    "prompt.files.file_reading",
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
    "ranking.terms",
    "base.redaction",
    "project.files.file_content",
    "code.syntax",
    "base.text",
)
ANALYSIS_LIBRARIES = ("charset_normalizer", "re2", "tree_sitter")
_MEMBERS: Final = 128  # files of a group on average
GONE: Final = MOST_MEMBERS  # a table's entry for a changed or deleted file
_MOST_CHANGED: Final = 0.25  # part of a group in its small table; with more both are rebuilt
_SIZE: Final = Struct("=I")
_MOST_AT_ONCE: Final = 100_000  # bytes read in this process: 10 ms, less than a child's start
USUAL: Final = ReadFacts()  # the facts of most files, apart from their sizes
HASH_BYTES: Final = 32  # of the content's hash, which begins an identity
_DIGEST_BYTES: Final = 16  # of the traits of the file's name
_IDENTITY_BYTES: Final = HASH_BYTES + _DIGEST_BYTES + 1
# File names which decide the language, or whether a file is generated.
_TELLING_NAMES: Final = TAGGED_NAMES | {name.lower() for name in LOCK_FILES}
OF_BYTES, _OF_CLEAN_TEXT = b"\0", b"\1"  # the hashed content, which ends an identity
_FileRead = tuple[bytes, bytes, ReadFacts]  # mark, identity, facts


def _read_tables(
    files: Sequence[tuple[str, str]], seen_ns: int
) -> tuple[list[_FileRead], tuple[bytes, bytes]]:
    """Read files, pairs of location and path, and pack tables of their words, which are never shown."""
    reads: list[_FileRead] = []
    words: list[RoughFile | None] = []
    for file, path in files:
        source = read_file(file, hashed=True)
        mark = settled_mark(source.state, path, seen_ns=seen_ns)
        reads.append((mark, identity_of(path, source), ReadFacts.of(path, source)))
        words.append(None if source.error else look_roughly(path, source.text))
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

    @property
    def unknown(self) -> Sequence[int]:
        """The group's files without a table."""
        members = {member for part in self.parts for member in part.members}
        return [member for member in range(len(self.files)) if member not in members]

    def key(self, members: Iterable[int]) -> bytes:
        return sha256(b"".join([self.identities[member] for member in members])).digest()

    def take_outdated(self) -> Sequence[int]:
        """Drop the small table, or all if much has changed; return the files without a table."""
        members = {*self.unknown, *(member for part in self.parts[1:] for member in part.members)}
        del self.parts[1:]
        members.discard(GONE)
        if len(members) > _MOST_CHANGED * len(self.files):
            members, self.parts = set(range(len(self.files))), []
        return sorted(members)

    def note(self, member: int, read: _FileRead) -> None:
        self.marks[member], self.identities[member], facts = read
        self.facts.pop(member, None)
        if facts._replace(size=0) != USUAL:
            self.facts[member] = facts

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


def _look_at_groups(files: Sequence[File], index: Index) -> list[FileGroup]:
    """Return the readable files in groups, with stored tables for files that are unchanged."""
    groups = list(_groups(files))
    named = []
    for group in groups:
        named.append((group.name, [(file.file, file.path) for file in group.files]))
    looks = index.look_at_groups(named)
    parts: list[tuple[FileGroup, bytes, bytes]] = []
    for group, look in zip(groups, looks, strict=True):
        group.marks = look.marks
        parts += ((group, *part) for part in group.unpack(look.kept, look.places))
    tables = index.get_many(kind_of("name group"), [key for _, key, _ in parts])
    for (group, key, members), table in zip(parts, tables, strict=True):
        if table:
            group.parts.append(Part(key, members, GroupTable(table)))
    return groups


def read_groups(
    files: Sequence[File],
    index: Index,
    on_start: Callable[[int], None] | None,
    on_done: Callable[[int], None] | None,
) -> tuple[list[FileGroup], int]:
    """Return the readable files in groups, and how many groups have new tables.

    ``on_start`` gets the number of files without a table, ``on_done`` those of each step.
    """
    all_groups = _look_at_groups(files, index)
    groups = [group for group in all_groups if group.unknown]
    if on_start:
        on_start(sum(len(group.unknown) for group in groups))
    with closing(in_children(_table_calls(groups, index.now_ns()))) as answered:
        for call in answered:
            group, count, members = call.about
            answer: Any = call.answer  # a deadline, or nothing, means to read here
            is_read = isinstance(answer, tuple)
            reads, (names, terms) = answer if is_read else _read_tables(*call.arguments)
            for member, read in zip(members, reads, strict=True):
                group.note(member, read)
            key = group.key(members)
            index.put_many(kind_of("name group"), [(key, names)])
            index.put_many(kind_of("term group"), [(key, terms)])
            part_terms = None if index.is_used else terms
            group.parts.append(Part(key, bytes(members), GroupTable(names), part_terms))
            index.remember_group(group.name, group.marks, group.pack())
            if on_done:
                on_done(count)
    return all_groups, len(groups)


def _table_calls(
    groups: Sequence[FileGroup], now_ns: int
) -> Iterator[Call[tuple[FileGroup, int, Sequence[int]], Any]]:
    has_begun = False
    for group in groups:
        count, members = len(group.unknown), group.take_outdated()
        files = [(group.files[member].file, group.files[member].path) for member in members]
        marks = filter(None, (group.marks[member] for member in members))
        size = sum(int(mark.split(b" ", 3)[2]) for mark in marks)
        has_begun = has_begun or size > _MOST_AT_ONCE
        function = _read_tables if has_begun else None
        yield Call((group, count, members), function, (files, now_ns), size)


def _groups(files: Sequence[File]) -> Iterator[FileGroup]:
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


def identity_of(path: str, source: SourceFile) -> bytes:
    """Return a hash of a file's bytes (or of its redacted text) and of the traits of its name."""
    hashed, end = source.content_hash, OF_BYTES
    if not hashed:
        text = f"{source.error}\0{source.text}".encode(errors="surrogatepass")
        hashed, end = sha256(text).digest(), _OF_CLEAN_TEXT
    name = path[path.rfind("/") + 1 :].lower()
    dot = name.rfind(".")
    suffix = name[dot:] if dot > 0 else ""
    is_telling = suffix in TELLING_SUFFIXES or name in _TELLING_NAMES or not dot
    return hashed + _traits(path if is_telling else f"name{suffix}") + end


@lru_cache(maxsize=1_024)  # most names have one of a few suffixes
def _traits(path: str) -> bytes:
    traits = naming_class(path), generated_reason(path, "")
    return sha256(json.dumps(traits).encode()).digest()[:_DIGEST_BYTES]


@cache
def analysis_version() -> str:
    grammars = {language.module for language in LANGUAGES if language.is_installed}
    return code_version(ANALYSIS_CODE, installed=(*ANALYSIS_LIBRARIES, *sorted(grammars)))


@cache
def kind_of(name: str) -> Kind:
    # Machines of both byte orders may share a cache folder.
    return Kind(f"{name}:{sys.byteorder}", analysis_version())
