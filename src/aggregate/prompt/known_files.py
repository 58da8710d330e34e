"""What is known of files and of groups of them by their contents, and how that lies in the index as bytes."""

import json
import struct
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from functools import cache, cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from aggregate.base.concurrency import Call, in_child, in_children
from aggregate.base.errors import DeadlineError
from aggregate.base.text import LOCK_FILES, TELLING_SUFFIXES, generated_reason
from aggregate.code.syntax import LANGUAGES, naming_class, telling_names
from aggregate.project.files import SourceFile
from aggregate.project.index import Kind, code_version
from aggregate.prompt.file_reading import ReadFacts
from aggregate.prompt.view_pool import useful_workers
from aggregate.ranking import Analysis, NameGroup, column, numbers, pack_names, pack_terms

if TYPE_CHECKING:
    from aggregate.project.index import Index

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
        from aggregate.ranking import analyse  # the parser, which these alone need

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
    with closing(in_children(calls, workers=useful_workers(workers))) as answered:
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

    def columns(self) -> list[Sequence[Any]]:
        count, languages, _ = self._head
        start = self._start
        names, flags = self.data[start : start + count], self.data[start + count :][:count]
        start += 2 * count
        counts = numbers("I", memoryview(self.data)[start : start + 12 * count])
        return [
            [languages[number] for number in names],
            [flag == 1 for flag in flags],
            *(counts[number * count : (number + 1) * count] for number in range(3)),
        ]

    @property
    def unusual(self) -> dict[int, ReadFacts]:
        return {int(place): ReadFacts(*facts) for place, facts in self._head[2].items()}

    @cached_property
    def _head(self) -> tuple[int, list[str], dict[str, list[Any]]]:
        count, languages, unusual = json.loads(self.data[_SIZE.size : self._start])
        return count, languages, unusual

    @cached_property
    def names(self) -> NameGroup:
        return NameGroup(memoryview(self.data)[self._start + 14 * self._head[0] :])


# Whose code takes part in analysing a file's bytes, and in making tables of that.
ANALYSIS_CODE = (
    "prompt.known_files",
    "prompt.file_reading",
    "base.concurrency.child_server",  # whose limits decide what is analysed without a grammar
    "base.disk.reading",
    "base.errors",
    "base.values.files",
    "base.values.values",
    "ranking.analyse",
    "ranking.analysis",
    "ranking.corpus",
    "ranking.pieces",
    "ranking.term_groups",
    "ranking.terms",
    "base.redaction",
    "project.files.file_content",
    "code.syntax",
    "base.text",
)
# What others have made of that: encodings are guessed, secrets and definitions found by them.
ANALYSIS_LIBRARIES = ("charset_normalizer", "re2", "tree_sitter")
HASH_BYTES: Final = 32  # Of a content's hash, with which an identity begins
_DIGEST_BYTES: Final = 16  # Of what decides on an analysis besides the content
IDENTITY_BYTES: Final = HASH_BYTES + _DIGEST_BYTES  # Of a file's identity


class AnalysisIndex:
    """Finds analyses by what files hold and are called, and groups by what their files hold.

    A file's identity is its content's hash and a digest of what else decides.
    """

    def __init__(self, index: "Index") -> None:
        self._index = index
        self._by_suffix: dict[str, bytes] = {}
        self._telling = telling_names() | {name.lower() for name in LOCK_FILES}

    def identity(self, path: str, content_hash: bytes) -> bytes:
        name = path[path.rfind("/") + 1 :].lower()
        dot = name.rfind(".")
        suffix = name[dot:] if dot > 0 else ""
        if suffix in TELLING_SUFFIXES or name in self._telling or not dot:
            return content_hash + self._digest(path)
        digest = self._by_suffix.get(suffix)
        if digest is None:
            digest = self._by_suffix[suffix] = self._digest(path)
        return content_hash + digest

    def _digest(self, path: str) -> bytes:
        traits = naming_class(path), generated_reason(path, "")
        return sha256(json.dumps(traits).encode()).digest()[:_DIGEST_BYTES]

    def files(self, identities: Sequence[bytes]) -> list[KnownFile | None]:
        keys = [sha256(identity).digest() for identity in identities]
        rows = self._index.get_many(_kind("analysis"), keys)
        return [KnownFile.unpack(row) if row else None for row in rows]

    def put_file(self, identity: bytes, packed: bytes) -> None:
        self._index.put_many(_kind("analysis"), [(sha256(identity).digest(), packed)])

    @cached_property
    def settings(self) -> bytes:
        """A digest of all that decides on what is known of a file, besides its content and its name."""
        asked = json.dumps([sys.byteorder, analysis_version()])
        return sha256(asked.encode()).digest()

    def groups(self, keys: Sequence[bytes]) -> list[KnownGroup | None]:
        rows = self._index.get_many(_kind("name group"), keys)
        return [KnownGroup(row) if row else None for row in rows]

    def group_terms(self, keys: Sequence[bytes]) -> list[bytes | None]:
        return self._index.get_many(_kind("term group"), keys)

    def put_group(self, key: bytes, group: KnownGroup, terms: bytes) -> None:
        self._index.put_many(_kind("name group"), [(key, group.data)])
        self._index.put_many(_kind("term group"), [(key, terms)])


@cache
def analysis_version() -> str:
    grammars = {language.module for language in LANGUAGES if language.is_installed}
    return code_version(ANALYSIS_CODE, installed=(*ANALYSIS_LIBRARIES, *sorted(grammars)))


@cache
def _kind(name: str) -> Kind:
    # Numbers lie as this machine writes them, and a cache folder may be shared with others.
    return Kind(f"{name}:{sys.byteorder}", analysis_version())
