"""The corpus that a ranking reads, of files on the disk."""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import Final, NamedTuple

from aggregate.project.files import SourceFile
from aggregate.prompt.file_reading import FileReader, Reading
from aggregate.prompt.known_files import HASH_BYTES, AnalysisIndex, KnownFile, KnownGroup, pack_one
from aggregate.prompt.selection import ResolvedFile
from aggregate.ranking import Analysis, FileFacts, TermGroup, TermInFile, pack_terms, term_hash

ABSENT: Final = -1  # The number of a file of a group that is not in the corpus


class _Counts(dict[int, TermInFile]):
    """What ``TermGroup.files_with`` says of files; nearly all files have one of some dozen small counts."""

    def __missing__(self, counts: int) -> TermInFile:
        self[counts] = TermInFile(*divmod(counts, 256))
        return self[counts]


_GROUPS_AT_ONCE: Final = 32  # Groups whose terms are in memory at once: some megabytes
_COUNTS: Final = _Counts()  # At most 65,536
# Analyses that wait for the next question: those of some different ones, in some tens of megabytes.
_MOST_LOADED: Final = 2_000
_MOST_TERMS: Final = 200  # Terms that do: of some ten different questions


class NumberedGroup(NamedTuple):
    """A group of files, and the numbers that these have in the corpus."""

    known: KnownGroup
    key: bytes
    terms: bytes | None
    numbers: Sequence[int]


@dataclass(eq=False)
class FileCorpus:
    """The readable ones among some files, numbered: a ``Corpus`` that finds their texts too."""

    files: Sequence[FileFacts]
    shown: Sequence[ResolvedFile]
    identities: list[bytes]
    hashes: dict[int, bytes]
    held: Mapping[bytes, bytes]
    groups: Sequence[NumberedGroup]
    others: Sequence[Reading]  # What could not be read, and remarks on what globs met
    index: AnalysisIndex
    reader: FileReader  # Reads texts once more; nobody looks at its notes
    analysed: int  # Files that the index did not know
    grouped: int  # Groups whose tables had to be made
    _analyses: dict[int, Analysis] = field(default_factory=dict)
    _terms: dict[str, Mapping[int, TermInFile]] = field(default_factory=dict)

    def look_up(self, terms: Sequence[str]) -> None:
        """Find the files that hold some terms, in one pass over the groups' tables, for ``files_with``."""
        hashes = {term: term_hash(term) for term in terms if term not in self._terms}
        matches: dict[str, dict[int, TermInFile]] = {term: {} for term in hashes}
        for start in range(0, len(self.groups) if hashes else 0, _GROUPS_AT_ONCE):
            groups = self.groups[start : start + _GROUPS_AT_ONCE]
            for numbered, table in zip(groups, self._tables(groups), strict=True):
                for term, hashed in hashes.items():
                    members, counts = table.files_with(hashed)
                    if members:
                        numbers = map(numbered.numbers.__getitem__, members)
                        counted = map(_COUNTS.__getitem__, counts)
                        matches[term].update(zip(numbers, counted, strict=True))
        for term, files in matches.items():
            files.pop(ABSENT, None)
            self._terms[term] = files

    def _tables(self, groups: Sequence[NumberedGroup]) -> Iterator[TermGroup]:
        wanted = [group.key for group in groups if group.terms is None]
        kept = dict(zip(wanted, self.index.group_terms(wanted), strict=True))
        for group in groups:
            table = group.terms or kept[group.key]
            yield TermGroup(table or pack_terms(self._members(group)))

    def _members(self, group: NumberedGroup) -> list[Analysis | None]:
        """Return the analyses of a group's files, nothing for those that are not in the corpus."""
        present = [number for number in group.numbers if number != ABSENT]
        analyses = dict(zip(present, self.analyses(present), strict=True))
        return [analyses.get(number) for number in group.numbers]

    def files_with(self, term: str) -> Mapping[int, TermInFile]:
        if term not in self._terms:
            self.look_up([term])
        return self._terms[term]

    def files_defining(self, name: str) -> Sequence[tuple[int, int]]:
        """Return ``(file, place of the definition)`` for each definition of a program whose own name is ``name``."""
        hashed = term_hash(name)
        matches: list[tuple[int, int]] = []
        # A loop for some hundred names in some thousand groups, most of which do not have them.
        for group, defined in enumerate(self._defined):
            start = bisect_left(defined, hashed)
            if start < len(defined) and defined[start] == hashed:
                numbered = self.groups[group]
                pairs = numbered.known.names.files_defining(hashed)
                matches += [(numbered.numbers[member], place) for member, place in pairs]
        return sorted(match for match in matches if match[0] != ABSENT)

    @cached_property
    def _defined(self) -> "Sequence[memoryview[int]]":
        return [numbered.known.names.defined for numbered in self.groups]

    def files_referring(self, name: str) -> Sequence[int]:
        """Return the files that use ``name``, as written."""
        hashed = term_hash(name)
        numbers = [
            numbered.numbers[member]
            for numbered in self.groups
            for member in numbered.known.names.files_referring(hashed)
        ]
        return sorted(number for number in numbers if number != ABSENT)

    def analyses(self, files: Sequence[int]) -> Sequence[Analysis]:
        """Load the analyses of some files at once; what was loaded before is kept."""
        missing = [number for number in dict.fromkeys(files) if number not in self._analyses]
        if not missing:  # as where a fit asks for one file after another
            return [self._analyses[number] for number in files]
        kept = self.index.files([self.identities[number] for number in missing])
        for number, known in zip(missing, kept, strict=True):
            held = self.held.get(self.identities[number])
            if known:
                self._analyses[number] = known.analysis
            elif held:
                self._analyses[number] = KnownFile.unpack(held).analysis
            else:
                self._analyse(number, self._read(number).clean)
        return [self._analyses[number] for number in files]

    def text(self, number: int) -> str:
        return self.source(number).text

    def source(self, number: int) -> SourceFile:
        """Read a file as it is shown; the text is ``""`` where it is gone.

        Where it has changed since it was analysed it is analysed once more, so that text and analysis go together.
        """
        reading = self._read(number)
        path = self.shown[number].path
        identity = self.index.identity(path, source_hash(reading.clean))
        if identity != self.identities[number]:
            self._analyse(number, reading.clean)
        return reading.source

    def content_hash(self, number: int) -> bytes:
        replaced = self.hashes.get(number)
        return self.identities[number][:HASH_BYTES] if replaced is None else replaced

    def trim(self) -> None:
        """Let go of what was loaded for earlier questions, where it has become much."""
        if len(self._analyses) > _MOST_LOADED and not self.held:
            self._analyses.clear()
        if len(self._terms) > _MOST_TERMS:
            self._terms.clear()

    def shown_otherwise(self, files: Mapping[str, ResolvedFile]) -> "FileCorpus":
        """Return the same corpus with some files, by their paths, shown otherwise; it shares what was looked up."""
        other = copy(self)
        other.shown = [files.get(file.path, file) for file in self.shown]
        return other

    def _read(self, number: int) -> Reading:
        # What is known by the hash of its bytes was searched for secrets before.
        known, file = self.identities[number][:HASH_BYTES], self.shown[number]
        self.reader.forget(file.path)
        return self.reader.read(file, hashed=True, clean_hash=known)

    def _analyse(self, number: int, source: SourceFile) -> None:
        path = self.shown[number].path
        self._analyses[number] = KnownFile.unpack(pack_one(path, source)).analysis
        self.identities[number] = self.index.identity(path, source_hash(source))
        self.hashes[number] = source.content_hash


def source_hash(source: SourceFile) -> bytes:
    """Return a hash of what was read: of the bytes, or where they hold secrets of the text without these."""
    if source.content_hash:
        return source.content_hash
    return sha256(f"{source.error}\0{source.text}".encode(errors="surrogatepass")).digest()
