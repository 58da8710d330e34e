"""Analyses of files and tables over groups of them, as the index keeps them."""

import json
import struct
import sys
from collections.abc import Sequence
from functools import cache, cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Final, NamedTuple

from aggregate.compose.file_reading import invisible_in
from aggregate.compose.generated_files import WrittenBy
from aggregate.index.kinds import Kind, code_version
from aggregate.ranking.analysis import Analysis, FileTraits, analyse
from aggregate.ranking.term_groups import TermGroup, pack_group
from aggregate.sources.file_content import UTF_8, SourceFile
from aggregate.syntax.languages import LANGUAGES, naming_class
from aggregate.text.generated import generated_reason

if TYPE_CHECKING:
    from aggregate.index.store import Index
    from aggregate.redaction.redact import Redaction

ANALYSIS_CODE = (
    "compose.analysis_index",
    "compose.file_reading",
    "compose.generated_files",
    "compose.redact_prompt",
    "disk.reading",
    "errors",
    "ranking.analysis",
    "ranking.columns",
    "ranking.corpus",
    "ranking.file_analysis",
    "ranking.leading_lines",
    "ranking.pieces",
    "ranking.term_groups",
    "ranking.terms",
    "redaction",
    "sources.file_content",
    "syntax",
    "text",
)
"""Whose code takes part in analysing a file's bytes, and in making tables of that."""
ANALYSIS_LIBRARIES = ("charset_normalizer", "re2", "tree_sitter")
"""What others have made of that: encodings are guessed, secrets and definitions found by them."""
_DIGEST_BYTES: Final = 16
"""Of what decides on an analysis besides the content."""
_SIZE: Final = struct.Struct("=I")


class ReadFacts(NamedTuple):
    """What reading a file told besides its text.

    Attributes:
        error: Why there is no text, ``""`` where there is.
        is_binary: Whether that is because it is no text file.
        encoding: What it was read in.
        line: The first line with characters that nobody sees, ``0`` for none.
        invisible: A sentence about them.
        reason: What the text says of who has written it, as in ``WrittenBy``.
        size: Its bytes in UTF-8.
        traits: What its analysis tells in short.
    """

    error: str
    is_binary: bool
    encoding: str
    line: int
    invisible: str
    reason: str
    size: int
    traits: FileTraits

    @property
    def written_by(self) -> WrittenBy:
        """What the text says of who has written it."""
        return WrittenBy(self.reason, self.size)

    @property
    def is_remarkable(self) -> bool:
        """Whether there is anything to note about its text."""
        return self.line > 0 or self.encoding != UTF_8

    @classmethod
    def of_row(cls, row: Sequence[object]) -> "ReadFacts":
        """Return the facts that JSON made a list."""
        *facts, traits = row
        return cls(*facts, FileTraits(*traits))  # type: ignore[arg-type,misc]


class KnownFile(NamedTuple):
    """A file's analysis, and what is told of the file.

    Attributes:
        facts: What reading it told.
        analysis: Of its text; of an empty one where there is none.
    """

    facts: ReadFacts
    analysis: Analysis

    @classmethod
    def of(cls, path: str, source: SourceFile) -> "KnownFile":
        """Analyse what reading the file at ``path`` gave."""
        analysis = analyse(path, source.text)
        line, sentence = invisible_in(source) or (0, "")
        reason, size = WrittenBy.of(path, source.text)
        facts = ReadFacts(
            source.error,
            source.is_binary,
            source.encoding,
            line,
            sentence,
            reason,
            size,
            analysis.traits,
        )
        return cls(facts, analysis)

    def pack(self) -> bytes:
        """Return it as bytes, for this machine."""
        facts = json.dumps(self.facts).encode()
        return _SIZE.pack(len(facts)) + facts + self.analysis.pack()

    @classmethod
    def unpack(cls, data: bytes) -> "KnownFile":
        """Return what ``pack`` made bytes."""
        (size,) = _SIZE.unpack_from(data)
        start = _SIZE.size + size
        facts = ReadFacts.of_row(json.loads(data[_SIZE.size : start]))
        return cls(facts, Analysis.unpack(data[start:]))


class KnownGroup:
    """What is known of a group of files: what is told of each, and tables over all of them."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    @classmethod
    def of(cls, members: Sequence[KnownFile]) -> "KnownGroup":
        """Make the tables over some files."""
        facts = json.dumps([member.facts for member in members]).encode()
        tables = pack_group([None if member.facts.error else member.analysis for member in members])
        return cls(_SIZE.pack(len(facts)) + facts + tables)

    def pack(self) -> bytes:
        """Return it as bytes, for this machine."""
        return self._data

    def facts(self) -> list[ReadFacts]:
        """Return what is told of each file, in order."""
        (size,) = _SIZE.unpack_from(self._data)
        return list(map(ReadFacts.of_row, json.loads(self._data[_SIZE.size :][:size])))

    @cached_property
    def tables(self) -> TermGroup:
        """The tables over the files, which are named by their places in the group."""
        (size,) = _SIZE.unpack_from(self._data)
        return TermGroup(memoryview(self._data)[_SIZE.size + size :])


class AnalysisIndex:
    """Finds analyses by what files hold and are called, and groups by what their files hold.

    A file's identity is its content's hash and a digest of what else decides.

    Args:
        index: Where they are kept.
        redaction: Which secrets are replaced before, ``None`` for none.
    """

    def __init__(self, index: "Index", redaction: "Redaction | None") -> None:
        self._index = index
        self._replaced = None if redaction is None else sorted(redaction.allow)
        self._digests: dict[tuple[str, str], bytes] = {}

    def identity(self, path: str, content_hash: bytes) -> bytes:
        """Return the identity of the file at ``path``."""
        traits = naming_class(path), generated_reason(path, "")
        digest = self._digests.get(traits)
        if digest is None:
            asked = json.dumps([traits, self._replaced])
            digest = sha256(asked.encode()).digest()[:_DIGEST_BYTES]
            self._digests[traits] = digest
        return content_hash + digest

    def files(self, identities: Sequence[bytes]) -> list[KnownFile | None]:
        """Return what is kept of each file."""
        keys = [sha256(identity).digest() for identity in identities]
        rows = self._index.get_many(_file_kind(), keys)
        return [KnownFile.unpack(row) if row else None for row in rows]

    def put_file(self, identity: bytes, known: KnownFile) -> None:
        """Keep what is known of a file."""
        self._index.put_many(_file_kind(), [(sha256(identity).digest(), known.pack())])

    def groups(self, groups: Sequence[Sequence[bytes]]) -> list[KnownGroup | None]:
        """Return what is kept of each group of files, given by their identities in order."""
        rows = self._index.get_many(_group_kind(), [_group_key(group) for group in groups])
        return [KnownGroup(row) if row else None for row in rows]

    def put_group(self, identities: Sequence[bytes], group: KnownGroup) -> None:
        """Keep what is known of a group of files."""
        self._index.put_many(_group_kind(), [(_group_key(identities), group.pack())])


def _group_key(identities: Sequence[bytes]) -> bytes:
    return sha256(b"".join(identities)).digest()


@cache
def analysis_version() -> str:
    """Return a version of all that analyses files, ``""`` where it cannot be told."""
    grammars = {language.module for language in LANGUAGES if language.is_installed}
    return code_version(ANALYSIS_CODE, installed=(*ANALYSIS_LIBRARIES, *sorted(grammars)))


@cache
def _file_kind() -> Kind:
    # Numbers lie as this machine writes them, and a cache folder may be shared with others.
    return Kind(f"analysis:{sys.byteorder}", analysis_version())


@cache
def _group_kind() -> Kind:
    return Kind(f"term group:{sys.byteorder}", analysis_version())
