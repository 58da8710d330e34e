"""The corpus that a ranking reads, of files on the disk: what is known unchanged of them is not read."""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import repeat
from typing import Final, NamedTuple

from aggregate.base.redaction import Redaction
from aggregate.base.values import row_maker
from aggregate.project.files import SourceFile, modified_at, read_file
from aggregate.project.index import Index
from aggregate.prompt.file_reading import FileReader, NoteKind, ReadFacts, Reading, unread
from aggregate.prompt.known_files import (
    USUAL,
    FileGroup,
    KnownFile,
    KnownFiles,
    KnownGroup,
    content_hash,
    pack_one,
)
from aggregate.prompt.selection import ResolvedFile
from aggregate.ranking import term_hash
from aggregate.ranking.files import Analysis, FileFacts, TermGroup, TermInFile, pack_terms

_ABSENT: Final = -1  # The number of a file of a group that is not in the corpus


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

_FACTS: Final = row_maker(FileFacts)


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
    groups: Sequence[NumberedGroup]
    others: Sequence[Reading]  # What could not be read, and remarks on what globs met
    known: KnownFiles
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
            files.pop(_ABSENT, None)
            self._terms[term] = files

    def _tables(self, groups: Sequence[NumberedGroup]) -> Iterator[TermGroup]:
        wanted = [group.key for group in groups if group.terms is None]
        kept = dict(zip(wanted, self.known.terms(wanted), strict=True))
        for group in groups:
            table = group.terms or kept[group.key]
            yield TermGroup(table or pack_terms(self._members(group)))

    def _members(self, group: NumberedGroup) -> list[Analysis | None]:
        """Return the analyses of a group's files, nothing for those that are not in the corpus."""
        present = [number for number in group.numbers if number != _ABSENT]
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
        return sorted(match for match in matches if match[0] != _ABSENT)

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
        return sorted(number for number in numbers if number != _ABSENT)

    def analyses(self, files: Sequence[int]) -> Sequence[Analysis]:
        """Load the analyses of some files at once; what was loaded before is kept."""
        missing = [number for number in dict.fromkeys(files) if number not in self._analyses]
        if not missing:  # as where a fit asks for one file after another
            return [self._analyses[number] for number in files]
        kept = self.known.files([self.identities[number] for number in missing])
        for number, known in zip(missing, kept, strict=True):
            if known:
                self._analyses[number] = known.analysis
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
        identity = self.known.identity(path, reading.clean)
        if identity != self.identities[number]:
            self._analyse(number, reading.clean)
        return reading.source

    def content_hash(self, number: int) -> bytes:
        return content_hash(self.identities[number])

    def trim(self) -> None:
        """Let go of what was loaded for earlier questions, where it has become much."""
        if len(self._analyses) > _MOST_LOADED and not self.known.held:
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
        known, file = self.content_hash(number), self.shown[number]
        return self.reader.read(file, hashed=True, clean_hash=known)

    def _analyse(self, number: int, source: SourceFile) -> None:
        path = self.shown[number].path
        self._analyses[number] = KnownFile.unpack(pack_one(path, source)).analysis
        self.identities[number] = self.known.identity(path, source)


def read_corpus(
    files: Sequence[ResolvedFile],
    *,
    index: Index,
    redaction: Redaction,
    reader: FileReader,
    on_start: Callable[[int], None] | None = None,
    on_done: Callable[[int], None] | None = None,
) -> FileCorpus:
    """Return the corpus of ``files``, of which only those are read that the index does not know; these are counted."""
    known = KnownFiles(index, redaction)
    reading = _CorpusReading(files, known, reader)
    groups = known.look_at(files)
    missing = [group for group in groups if group.known is None]
    if on_start:
        on_start(sum(len(group.files) for group in missing))
    with closing(known.find_out(missing, reading.read)) as made:
        for group in made:
            if on_done:
                on_done(len(group.files))
    return reading.corpus(groups, FileReader(redaction))


class _CorpusReading:
    def __init__(
        self, files: Sequence[ResolvedFile], known: KnownFiles, reader: FileReader
    ) -> None:
        self._files = files
        self._known = known
        self._reader = reader
        # Files that were read in this run and are not as most: without their texts, by their paths.
        self._unusual: dict[str, Reading] = {}

    def read(self, file: ResolvedFile) -> Reading:
        reading = self._reader.read(file, hashed=True)
        is_as_asked = reading.file is file and not reading.is_listed
        is_usual = is_as_asked and reading.facts._replace(size=0) == USUAL
        if not reading.clean.content_hash or not is_usual:  # without a hash it holds secrets
            bare = replace(reading.source, text="")
            self._unusual[file.path] = reading._replace(source=bare, clean=bare)
        return reading

    def corpus(self, groups: Sequence[FileGroup], reader: FileReader) -> FileCorpus:
        """Return the corpus of groups that are known; the reader reads texts once more."""
        facts: list[FileFacts | None] = [None] * len(self._files)  # by places, as the next two
        shown, identities = list(self._files), [b""] * len(self._files)
        others = {
            place: unread(file)
            for place, file in enumerate(self._files)
            if file.problem and not file.is_remark
        }
        for group in groups:
            known = self._facts(group, shown, others)
            for place, each, identity in zip(group.places, known, group.identities, strict=True):
                facts[place], identities[place] = each, identity
        places = [place for place, each in enumerate(facts) if each]
        numbers = {place: number for number, place in enumerate(places)}
        return FileCorpus(
            files=[each for each in facts if each],
            shown=[shown[place] for place in places],
            identities=[identities[place] for place in places],
            groups=[
                NumberedGroup(
                    group.known,
                    group.key,
                    group.terms,
                    [numbers.get(place, _ABSENT) for place in group.places],
                )
                for group in groups
                if group.known
            ],
            others=[
                *(others[place] for place in sorted(others)),
                *map(unread, self._reader.remarks(self._files)),
            ],
            known=self._known,
            reader=reader,
            analysed=self._known.analysed,
            grouped=self._known.grouped,
        )

    def _facts(
        self, group: FileGroup, shown: list[ResolvedFile], others: dict[int, Reading]
    ) -> "list[FileFacts | None]":
        """Return what is known of the files of a group, ``None`` of those that are not shown or cannot be read.

        How the others are shown goes to ``shown``, what is wrong with those that cannot be read to ``others``.
        """
        if group.known is None:
            raise ValueError("a group is known before its files are added")
        columns, unusual = group.known.told()
        paths = [file.path for file in group.files]
        # A loop for a hundred thousand files, of nearly all of which nothing else is to be said.
        facts: list[FileFacts | None] = list(map(_FACTS, zip(paths, *columns, repeat(False))))
        told = (self._reader.generated.marks, self._unusual)
        members = set(unusual)
        if not all(each.keys().isdisjoint(paths) for each in told):
            members |= {
                number for number, path in enumerate(paths) if any(path in each for each in told)
            }
        for number in sorted(members):
            place, known = group.places[number], facts[number]
            file, facts[number] = group.files[number], None
            read = unusual.get(number, USUAL)
            if read.problem:
                self._reader.note(file.path, NoteKind.VIEW, read.problem)
            reading = self._unusual.get(file.path) or self._known_reading(file, read)
            if reading is None or reading.is_listed:
                continue
            if reading.source.error:
                others[place] = reading
            elif known:
                shown[place] = reading.file
                is_generated = bool(self._reader.why_generated(file, read))
                facts[number] = known._replace(is_generated=is_generated)
        return facts

    def _known_reading(self, file: ResolvedFile, facts: ReadFacts) -> Reading | None:
        """Return what reading a file would give that is known, ``None`` where it is only remarked on.

        Guessing an encoding once more would take long.
        """
        if not facts.generated and self._reader.why_generated(file, facts):
            # Only .gitattributes call it generated, and its size is not kept.
            facts = ReadFacts.of(file.path, read_file(file.file))
        shown = self._reader.shown(file, facts)
        if shown is None:
            return None
        self._reader.note_facts(file.path, facts)
        modified = modified_at(file.file) if facts.error else 0.0
        source = SourceFile("", facts.error, is_binary=facts.is_binary, mtime=modified)
        return Reading(shown, source, source, facts)
