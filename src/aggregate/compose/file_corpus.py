"""The corpus that a ranking reads, of files on the disk."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Final

from aggregate.compose.analysis_index import AnalysisIndex, KnownFile, KnownGroup
from aggregate.compose.file_reading import FileReader
from aggregate.compose.prepared_files import PreparedFile
from aggregate.compose.selection import ResolvedFile
from aggregate.ranking.analysis import Analysis
from aggregate.ranking.corpus import FileFacts, TermInFile
from aggregate.ranking.terms import term_hash
from aggregate.sources.file_content import SourceFile


class _Counts(dict[int, TermInFile]):
    """What ``TermGroup.files_with`` says of files; nearly all files have one of some dozen small counts."""

    def __missing__(self, counts: int) -> TermInFile:
        self[counts] = TermInFile(*divmod(counts, 256))
        return self[counts]


_FEW_NAMES: Final = 100
"""Names that are searched for in each group; for more it pays to know first which groups define a name."""
_COUNTS: Final = _Counts()
"""At most 65,536."""


@dataclass(slots=True)
class CorpusFile:
    """A file of the corpus.

    Attributes:
        shown: As it is to be shown.
        identity: As ``AnalysisIndex`` knows it.
        content_hash: SHA-256 of its bytes, ``b""`` where secrets in it are replaced.
    """

    shown: ResolvedFile
    identity: bytes
    content_hash: bytes


@dataclass(frozen=True, slots=True)
class NumberedGroup:
    """Tables over a group of files, and the numbers that these have in the corpus.

    Attributes:
        group: The tables.
        numbers: By a file's place in the group; ``-1`` for one that is not in the corpus.
    """

    group: KnownGroup
    numbers: Sequence[int]


class FileCorpus:
    """The readable ones among some files: a ``Corpus`` that finds their texts too.

    Attributes:
        files: What is known of each; a file's number is its place here.
        others: What stands in the prompt beside them: what could not be read, with the reason, and remarks on what
            globs met.
        analysed: How many files had to be analysed: the index did not know what they hold.
        grouped: How many groups' tables had to be made.
    """

    def __init__(
        self,
        files: Sequence[CorpusFile],
        facts: Sequence[FileFacts],
        *,
        groups: Sequence[NumberedGroup],
        others: Sequence[PreparedFile],
        index: AnalysisIndex,
        reader: FileReader,
        held: Mapping[bytes, bytes],
        analysed: int,
        grouped: int,
    ) -> None:
        """Take what ``read_corpus`` has found.

        Args:
            files: The files.
            facts: What is known of each.
            groups: Tables over all of them.
            others: What could not be read, and remarks.
            index: Finds analyses.
            reader: Reads the files' texts once more; nobody looks at its notes.
            held: Analyses by identity, packed, where the index keeps none.
            analysed: How many files had to be analysed.
            grouped: How many groups had to be made.
        """
        self.files = facts
        self.others = others
        self.analysed = analysed
        self.grouped = grouped
        self._files = files
        self._groups = groups
        self._index = index
        self._reader = reader
        self._held = held
        self._analyses: dict[int, Analysis] = {}
        self._names_asked = 0

    def files_with(self, term: str) -> Mapping[int, TermInFile]:
        """Return the files whose text holds ``term``, in order of their paths."""
        hashed = term_hash(term)
        matches: dict[int, TermInFile] = {}
        for numbered in self._groups:
            members, counts = numbered.group.tables.files_with(hashed)
            if members:
                numbers = map(numbered.numbers.__getitem__, members)
                matches.update(zip(numbers, map(_COUNTS.__getitem__, counts), strict=True))
        matches.pop(-1, None)  # what is in no corpus
        return matches

    def files_defining(self, name: str) -> Sequence[tuple[int, int]]:
        """Return ``(file, place of the definition)`` for each definition of a program whose own name is ``name``."""
        hashed = term_hash(name)
        self._names_asked += 1
        groups: Iterable[NumberedGroup] = self._groups
        if self._names_asked > _FEW_NAMES:
            groups = (group for group, names in self._groups_with_names if hashed in names)
        matches = [
            (numbered.numbers[member], place)
            for numbered in groups
            for member, place in numbered.group.tables.files_defining(hashed)
        ]
        return sorted(match for match in matches if match[0] >= 0)

    @cached_property
    def _groups_with_names(self) -> Sequence[tuple[NumberedGroup, frozenset[int]]]:
        """The groups, each with the hashes of the names that its files define."""
        return [(numbered, numbered.group.tables.defined_names()) for numbered in self._groups]

    def files_referring(self, name: str) -> Sequence[int]:
        """Return the files that use ``name``, as written."""
        hashed = term_hash(name)
        numbers = [
            numbered.numbers[member]
            for numbered in self._groups
            for member in numbered.group.tables.files_referring(hashed)
        ]
        return sorted(number for number in numbers if number >= 0)

    def analyses(self, files: Sequence[int]) -> Sequence[Analysis]:
        """Load the analyses of some files at once; what was loaded before is kept."""
        missing = [number for number in dict.fromkeys(files) if number not in self._analyses]
        kept = self._index.files([self._files[number].identity for number in missing])
        for number, known in zip(missing, kept, strict=True):
            held = self._held.get(self._files[number].identity)
            if known:
                self._analyses[number] = known.analysis
            elif held:
                self._analyses[number] = KnownFile.unpack(held).analysis
            else:
                self._analyse(number, self._read(number))
        return [self._analyses[number] for number in files]

    def text(self, number: int) -> str:
        """Read a file's text as ``source`` does."""
        return self.source(number).text

    def source(self, number: int) -> SourceFile:
        """Read a file, secrets in its text replaced; the text is ``""`` where it is gone.

        Where it has changed since it was analysed it is analysed once more, so that text and analysis go together.
        """
        source = self._read(number)
        file = self._files[number]
        if self._index.identity(file.shown.path, source_hash(source)) != file.identity:
            self._analyse(number, source)
        return source

    def content_hash(self, number: int) -> bytes:
        """Return the SHA-256 of a file's bytes, ``b""`` where secrets in it are replaced."""
        return self._files[number].content_hash

    def resolved(self, number: int) -> ResolvedFile:
        """Return a file as it is to be shown."""
        return self._files[number].shown

    def _read(self, number: int) -> SourceFile:
        return self._reader.read(self._files[number].shown, hashed=True).source

    def _analyse(self, number: int, source: SourceFile) -> None:
        file = self._files[number]
        self._analyses[number] = KnownFile.of(file.shown.path, source).analysis
        file.identity = self._index.identity(file.shown.path, source_hash(source))
        file.content_hash = source.content_hash


def source_hash(source: SourceFile) -> bytes:
    """Return a hash of what was read: of the bytes, or where secrets in them are replaced of the text without these."""
    if source.content_hash:
        return source.content_hash
    return sha256(f"{source.error}\0{source.text}".encode(errors="surrogatepass")).digest()
