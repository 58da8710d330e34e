"""What the index knows of files and of groups of them by their contents, and how that lies there as bytes.

What is known of files that follow each other by their paths is kept together, in tables of a group.
"""

import json
import struct
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cache, cached_property
from hashlib import sha256
from typing import Any, Final, NamedTuple
from zlib import crc32

from aggregate.base.concurrency import Call, in_child, in_children
from aggregate.base.errors import DeadlineError
from aggregate.base.redaction import Redaction
from aggregate.base.text import LOCK_FILES, TELLING_SUFFIXES, generated_reason
from aggregate.code.syntax import LANGUAGES, naming_class, telling_names
from aggregate.project.files import SourceFile
from aggregate.project.index import FileState, Index, Kind, code_version, file_state
from aggregate.prompt.file_reading import ReadFacts, Reading
from aggregate.prompt.selection import ResolvedFile
from aggregate.ranking.files import (
    MOST_MEMBERS,
    Analysis,
    NameGroup,
    column,
    numbers,
    pack_names,
    pack_terms,
)

# Files of a group on average: an edit makes one group anew, in some hundredths of a second, and a project of 100,000
# files has some 1,600 groups to look a term up in.
_MEMBERS: Final = 64
_GROUPS_AT_ONCE: Final = 32  # Of which the index is asked at once
# Bytes of analyses that wait in memory where no index keeps them; those of more files are made once more where they are
# asked for.
_MOST_HELD: Final = 64_000_000
# Characters of a text that does not wait for the others of its group to be read, but is read once more.
_LARGE: Final = 200_000
# What to analyse: a file's path and what reading it gave; ``None`` asks for nothing.
AnalysisRequest = tuple[str, SourceFile] | None
_SIZE: Final = struct.Struct("=I")

USUAL: Final = ReadFacts()  # What reading most files tells


class KnownFile(NamedTuple):
    facts: ReadFacts
    analysis: Analysis

    @classmethod
    def of(cls, path: str, source: SourceFile, *, problem: str = "") -> "KnownFile":
        """Analyse what reading the file at ``path`` gave: without its grammar where that has a problem with it.

        The grammar is to be asked in child processes only.
        """
        from aggregate.ranking.files import analyse  # the parser, which these alone need

        facts = ReadFacts.of(path, source, problem)
        if facts._replace(size=0) == USUAL:  # most sizes are never told
            facts = USUAL
        return cls(facts, analyse(path, source.text, with_grammar=not problem))

    def pack(self) -> bytes:
        facts = json.dumps(self.facts).encode()
        return _SIZE.pack(len(facts)) + facts + self.analysis.pack()

    @classmethod
    def unpack(cls, data: bytes) -> "KnownFile":
        (size,) = _SIZE.unpack_from(data)
        start = _SIZE.size + size
        facts = ReadFacts(*json.loads(data[_SIZE.size : start]))
        return cls(facts, Analysis.unpack(data[start:]))


def pack_all(
    requests: Iterable[AnalysisRequest], *, workers: int | None = None
) -> Iterator[bytes | None]:
    """Yield the packed ``KnownFile`` of each request, in their order, made in child processes.

    Requests are taken some megabytes ahead, and dropped once they are answered.
    """
    calls = (Call(request, _packed if request else None, request or ()) for request in requests)
    with closing(in_children(calls, workers=workers)) as answered:
        for call in answered:
            if isinstance(call.answer, bytes):
                yield call.answer
            else:
                yield _without_grammar(*call.about, call.answer) if call.about else None


def pack_one(path: str, source: SourceFile) -> bytes:
    try:
        return in_child(_packed, path, source)
    except DeadlineError as error:
        return _without_grammar(path, source, error)


def _packed(path: str, source: SourceFile) -> bytes:
    return KnownFile.of(path, source).pack()


def _without_grammar(path: str, source: SourceFile, why: Exception | None) -> bytes:
    return KnownFile.of(path, source, problem=str(why)).pack()


class KnownGroup:
    """What is known of a group of files: what is told of each, and which names they define and use.

    Their terms are many times as much, and are looked up group by group.
    """

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._start = int(_SIZE.unpack_from(data)[0]) + _SIZE.size  # of the columns

    @classmethod
    def of(cls, members: Sequence[KnownFile]) -> "tuple[KnownGroup, bytes]":
        """Make it of some files, with the table of their terms."""
        traits = [member.analysis.traits for member in members]
        languages = sorted({each.language for each in traits})
        unusual = {
            place: member.facts for place, member in enumerate(members) if member.facts != USUAL
        }
        facts = json.dumps([len(members), languages, unusual]).encode()
        columns = (
            bytes([languages.index(each.language) for each in traits]),
            bytes([each.is_code for each in traits]),
            column("I", [each.characters for each in traits]),
            column("I", [each.terms for each in traits]),
            column("I", [each.pieces for each in traits]),
        )
        texts = [None if member.facts.error else member.analysis for member in members]
        packed = _SIZE.pack(len(facts)), facts, *columns, pack_names(texts)
        return cls(b"".join(packed)), pack_terms(texts)

    def told(self) -> tuple[list[Sequence[Any]], dict[int, ReadFacts]]:
        """Return what ``FileFacts`` tells of each file behind its path, and what reading told of unusual ones."""
        count, languages, unusual = self._head
        start = self._start
        names, flags = self.data[start : start + count], self.data[start + count :][:count]
        start += 2 * count
        counts = numbers("I", memoryview(self.data)[start : start + 12 * count])
        columns: list[Sequence[Any]] = [
            [languages[number] for number in names],
            [flag == 1 for flag in flags],
            *(counts[number * count : (number + 1) * count] for number in range(3)),
        ]
        return columns, {int(place): ReadFacts(*facts) for place, facts in unusual.items()}

    @cached_property
    def _head(self) -> tuple[int, list[str], dict[str, list[Any]]]:
        count, languages, unusual = json.loads(self.data[_SIZE.size : self._start])
        return count, languages, unusual

    @cached_property
    def names(self) -> NameGroup:
        return NameGroup(memoryview(self.data)[self._start + 14 * self._head[0] :])


@dataclass(slots=True)
class FileGroup:
    """A group of files on its way into the corpus.

    Attributes:
        places: Of these among all files of the prompt.
        name: What the index calls it by its files, whatever they hold.
        identities: The files' identities, ``b""`` while one is not known.
        states: The files as they were seen, where what they hold is known; none where the group is known as a whole.
        terms: The table of its terms, where no index keeps it.
    """

    files: Sequence[ResolvedFile]
    places: Sequence[int]
    name: bytes
    identities: list[bytes]
    states: list[FileState | None] = field(default_factory=list)
    seen_ns: int = 0
    known: KnownGroup | None = None
    terms: bytes | None = None

    @property
    def key(self) -> bytes:
        return sha256(b"".join(self.identities)).digest()


@dataclass(slots=True)
class _Plan:
    """A group whose tables are not known yet: the analyses of its files, and the places of those that are made."""

    group: FileGroup
    analyses: list[KnownFile | None] = field(default_factory=list)
    waiting: deque[int] = field(default_factory=deque)


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
    """Return the hash of a file's bytes; nothing where they hold secrets."""
    return identity[:_HASH_BYTES] if identity[-1:] == _OF_BYTES else b""


@dataclass(slots=True, eq=False)
class KnownFiles:
    """Finds what is known of files by what they hold and are called, and of groups by what their files hold.

    A file's identity is a hash of its bytes, or where these hold secrets of the text without them, and a digest of
    what else decides.
    """

    _index: Index
    redaction: Redaction
    held: dict[bytes, bytes] = field(default_factory=dict)  # what no index keeps, by identity
    analysed: int = 0  # Files that were not known
    grouped: int = 0  # Groups whose tables had to be made
    _held_bytes: int = 0
    _by_suffix: dict[str, bytes] = field(default_factory=dict)

    def look_at(self, files: Sequence[ResolvedFile]) -> list[FileGroup]:
        """Return the files that can be read in groups, with what is kept of those that are unchanged."""
        groups = list(self._groups(files))
        for start in range(0, len(groups), _GROUPS_AT_ONCE):
            self._look_at(groups[start : start + _GROUPS_AT_ONCE])
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
                yield FileGroup(members, places, sha256(name).digest(), [b""] * len(members))
                places = []

    def _look_at(self, groups: Sequence[FileGroup]) -> None:
        """Find out which files are unchanged, as a group or each, and load what is kept of groups of such."""
        looks = self._index.look_at_groups(
            [(group.name, [file.file for file in group.files]) for group in groups]
        )
        for group, joined in zip(groups, looks, strict=True):
            if joined and self._is_as_kept(group, joined):
                starts = range(0, len(joined), _IDENTITY_BYTES)
                group.identities = [joined[start : start + _IDENTITY_BYTES] for start in starts]
            else:
                self._look_at_each(group)
        whole = [group for group in groups if all(group.identities)]
        for group, known in zip(whole, self._tables([group.key for group in whole]), strict=True):
            group.known = known
            if known:
                self._remember(group)

    def _is_as_kept(self, group: FileGroup, joined: bytes) -> bool:
        """Tell whether a group's files, should some hold secrets, are shown as they were when that was found out."""
        flags = joined[_IDENTITY_BYTES - 1 :: _IDENTITY_BYTES]
        return _OF_CLEAN_TEXT not in flags or all(map(self._is_clean, group.files))

    def _is_clean(self, file: ResolvedFile) -> bool:
        """Tell whether nothing but a file's text without secrets decides how it is shown."""
        return self.redaction == Redaction() and not file.item.custom_slices

    def _look_at_each(self, group: FileGroup) -> None:
        states = self._index.known([file.file for file in group.files])
        group.seen_ns = max((state.seen_ns for state in states if state), default=0)
        group.states = [state if state and state.content_hash else None for state in states]
        group.identities = [
            self._identity(file.path, state.content_hash) if state and state.content_hash else b""
            for file, state in zip(group.files, states, strict=True)
        ]

    def find_out(
        self, groups: Sequence[FileGroup], read: Callable[[ResolvedFile], Reading]
    ) -> Generator[FileGroup, None, None]:
        """Find out about groups that are not known as they were seen: what is not known of their files is read."""
        plans: deque[_Plan] = deque()

        def requests() -> Iterator[AnalysisRequest]:
            for group in groups:
                plan, texts = self._plan(group, read)
                plans.append(plan)
                for place in list(plan.waiting):
                    source = texts.get(place) or self._read(group, place, read)
                    yield group.files[place].path, source
                yield None  # behind each group

        for packed in pack_all(requests()):
            plan = plans[0]
            if packed is not None:
                place = plan.waiting.popleft()
                identity = plan.group.identities[place]
                plan.analyses[place] = self._keep(identity, packed)
                self.analysed += 1
                continue
            plans.popleft()
            if plan.group.known is None:
                self._make_tables(plan.group, [member for member in plan.analyses if member])
                self.grouped += 1
            self._remember(plan.group)
            yield plan.group

    def _plan(
        self, group: FileGroup, read: Callable[[ResolvedFile], Reading]
    ) -> tuple[_Plan, dict[int, SourceFile]]:
        """Find out what has to be analysed of a group: nothing where it is known once its unknown files are read."""
        texts: dict[int, SourceFile] = {}
        plan = _Plan(group)
        for place, identity in enumerate(group.identities):
            if not identity:
                source = self._read(group, place, read)
                if len(source.text) < _LARGE:
                    texts[place] = source
        (group.known,) = self._tables([group.key])
        if group.known is None:
            plan.analyses = self.files(group.identities)
            unknown = (place for place, known in enumerate(plan.analyses) if known is None)
            plan.waiting.extend(unknown)
        return plan, texts

    def _read(
        self, group: FileGroup, place: int, read: Callable[[ResolvedFile], Reading]
    ) -> SourceFile:
        """Read a file and note what it holds; return it without secrets, for all that may be kept."""
        file = group.files[place]
        reading = read(file)
        source = reading.source
        if source.info and (source.content_hash or self._is_clean(file)):
            state = file_state(source.info, seen_ns=group.seen_ns)
            if group.seen_ns and source.content_hash:
                self._index.remember(state, source.content_hash)
            if group.states:
                group.states[place] = state
        group.identities[place] = self.identity(file.path, reading.clean)
        return reading.clean

    def _make_tables(self, group: FileGroup, members: Sequence[KnownFile]) -> None:
        group.known, terms = KnownGroup.of(members)
        self._index.put_many(_kind("name group"), [(group.key, group.known.data)])
        self._index.put_many(_kind("term group"), [(group.key, terms)])
        if not self._index.is_used:
            group.terms = terms

    def _remember(self, group: FileGroup) -> None:
        """Let the index know a group as a whole from now on, as long as its files are unchanged."""
        states = [state for state in group.states if state]
        if len(states) == len(group.files):
            self._index.remember_group(group.name, states, b"".join(group.identities))
        group.states = []

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

    def files(self, identities: Sequence[bytes]) -> list[KnownFile | None]:
        keys = [sha256(identity).digest() for identity in identities]
        rows = self._index.get_many(_kind("analysis"), keys)
        kept = (row or self.held.get(key) for key, row in zip(identities, rows, strict=True))
        return [KnownFile.unpack(row) if row else None for row in kept]

    def _keep(self, identity: bytes, packed: bytes) -> KnownFile:
        """Keep a file's analysis in the index, or in memory where there is none; return it."""
        if self._index.is_used:
            self._index.put_many(_kind("analysis"), [(sha256(identity).digest(), packed)])
        elif self._held_bytes + len(packed) <= _MOST_HELD:
            self.held[identity] = packed
            self._held_bytes += len(packed)
        return KnownFile.unpack(packed)


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
