"""The corpus that a ranking reads, of files on the disk."""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from itertools import repeat
from typing import Any, Final, NamedTuple

from aggregate.project.files import SourceFile, modified_at, read_file
from aggregate.prompt.analysis_pool import pack_one
from aggregate.prompt.file_groups import FileGroup, Member
from aggregate.prompt.file_reading import FileNotes, FileReader, NoteKind, PreparedFile, Reading
from aggregate.prompt.known_files import (
    HASH_BYTES,
    USUAL,
    AnalysisIndex,
    KnownFile,
    KnownGroup,
    ReadFacts,
)
from aggregate.prompt.request_files import WrittenBy
from aggregate.prompt.selection import ResolvedFile
from aggregate.ranking import Analysis, FileFacts, TermGroup, TermInFile, pack_terms, term_hash

ABSENT: Final = -1
"""The number of a file of a group that is not in the corpus."""


class CorpusColumns(NamedTuple):
    """The files of a corpus, by their numbers.

    Attributes:
        shown: As they are to be shown.
        facts: What is known of each.
        identities: As ``AnalysisIndex`` knows them.
        hashes: The SHA-256 of the bytes of those whose identities do not begin with it.
    """

    shown: list[ResolvedFile]
    facts: list[FileFacts]
    identities: list[bytes]
    hashes: dict[int, bytes]


class CorpusFiles:
    """Collects the files, and notes what is doubtful about those that were not read in this run.

    Args:
        reader: Knows how files are to be shown, and notes what is doubtful.

    Attributes:
        errors: What stands for files that could not be read, by their places in the prompt.
    """

    def __init__(self, reader: FileReader) -> None:
        self.errors: dict[int, PreparedFile] = {}
        self._reader = reader
        self._marks = reader.marks
        self._columns = CorpusColumns([], [], [], {})
        self._places: list[int] = []

    def add(self, group: FileGroup) -> Sequence[int]:
        """Add the files of a group that is known; return for each its place among those added so far, or ``ABSENT``."""
        if group.known is None:
            raise ValueError("a group is known before its files are added")
        columns, unusual = group.known.facts()
        paths = [file.path for file in group.files]
        if unusual or group.members or not self._marks.keys().isdisjoint(paths):
            return self._add_singly(group, columns, unusual)
        start = len(self._places)  # most groups: the loop for a hundred thousand files
        self._columns.shown.extend(group.files)
        self._columns.identities.extend(group.identities)
        self._columns.facts.extend(
            map(FileFacts._make, zip(paths, *columns, repeat(False), strict=False))
        )
        self._places.extend(group.places)
        return range(start, len(self._places))

    def in_order(self) -> tuple[CorpusColumns, Sequence[int]]:
        """Return the files in the order of the prompt, and for each place that ``add`` returned the file's number."""
        columns, places = self._columns, self._places
        order = sorted(range(len(places)), key=places.__getitem__)
        if order == list(range(len(order))):  # as with one glob
            return columns, range(len(order))
        numbers = [0] * len(order)
        for number, added in enumerate(order):
            numbers[added] = number
        in_order = CorpusColumns(
            [columns.shown[added] for added in order],
            [columns.facts[added] for added in order],
            [columns.identities[added] for added in order],
            {numbers[added]: content_hash for added, content_hash in columns.hashes.items()},
        )
        return in_order, numbers

    def _add_singly(
        self, group: FileGroup, columns: Sequence[Sequence[Any]], unusual: Mapping[int, ReadFacts]
    ) -> Sequence[int]:
        added: list[int] = []
        members: Sequence[Member | None] = group.members or [None] * len(group.files)
        rows = zip(group.files, group.places, group.identities, members, *columns, strict=True)
        for number, (file, place, identity, member, *traits) in enumerate(rows):
            read_facts = unusual.get(number, USUAL)
            if (
                member is None and read_facts is USUAL and file.path not in self._marks
            ):  # as most are
                added.append(len(self._places))
                self._append(file, place, identity, FileFacts._make((file.path, *traits, False)))
                continue
            written_by = WrittenBy(read_facts.reason, read_facts.size)
            shown = self._shown(file, place, member, read_facts)
            if shown is None:
                added.append(ABSENT)
                continue
            added.append(len(self._places))
            if member and member.content_hash != identity[:HASH_BYTES]:
                self._columns.hashes[len(self._places)] = member.content_hash
            is_generated = self._reader.is_generated(file, written_by)
            facts = FileFacts._make((file.path, *traits, is_generated))
            self._append(shown, place, identity, facts)
        return added

    def _append(self, shown: ResolvedFile, place: int, identity: bytes, facts: FileFacts) -> None:
        self._columns.shown.append(shown)
        self._columns.identities.append(identity)
        self._columns.facts.append(facts)
        self._places.append(place)

    def _shown(
        self, file: ResolvedFile, place: int, member: Member | None, read_facts: ReadFacts
    ) -> ResolvedFile | None:
        """Return a file as it is to be shown, ``None`` where it is not, and note what is doubtful about it."""
        if read_facts.problem:
            self._reader.notes.add(file.path, NoteKind.VIEW, [(file.path, read_facts.problem)])
        if member and member.is_read:  # all about it was noted then
            if member.error:
                self.errors[place] = member.error
            return member.shown
        if read_facts.is_binary and self._reader.note_binary(file):
            return None
        written_by = WrittenBy(read_facts.reason, read_facts.size)
        if read_facts.error:
            # Known unchanged, so it is not read: guessing an encoding once more would take longer than all else.
            source = SourceFile(
                "", modified_at(file.file), read_facts.error, is_binary=read_facts.is_binary
            )
            if self._reader.shown(file, lambda: written_by):
                self.errors[place] = PreparedFile(file, source)
            return None
        shown: ResolvedFile | None = file
        if self._reader.is_generated(file, written_by):
            shown = self._reader.shown(
                file, lambda: written_by if written_by.reason else _as_written(file)
            )
        if shown and read_facts is not USUAL:
            invisible = (read_facts.line, read_facts.invisible) if read_facts.line else None
            self._reader.note(file, read_facts.encoding, invisible)
        return shown


def _as_written(file: ResolvedFile) -> WrittenBy:
    """Return what the text of a file says that only ``.gitattributes`` call generated: its size is not kept."""
    return WrittenBy.of(file.path, read_file(file.file).text)


class _Counts(dict[int, TermInFile]):
    """What ``TermGroup.files_with`` says of files; nearly all files have one of some dozen small counts."""

    def __missing__(self, counts: int) -> TermInFile:
        self[counts] = TermInFile(*divmod(counts, 256))
        return self[counts]


_GROUPS_AT_ONCE: Final = 32
"""Groups whose terms are in memory at once: some megabytes."""
_COUNTS: Final = _Counts()
"""At most 65,536."""
_MOST_LOADED: Final = 2_000
"""Analyses that wait for the next question: those of some different ones, in some tens of megabytes."""
_MOST_TERMS: Final = 200
"""Terms that do: of some ten different questions."""


@dataclass(frozen=True, slots=True)
class NumberedGroup:
    """A group of files, and the numbers that these have in the corpus.

    Attributes:
        known: What is known of it.
        key: What the index calls the table of its terms.
        terms: That table, where no index keeps it.
        numbers: By a file's place in the group; ``ABSENT`` for one that is not in the corpus.
    """

    known: KnownGroup
    key: bytes
    terms: bytes | None
    numbers: Sequence[int]

    @classmethod
    def of(cls, group: FileGroup, added: Sequence[int], numbers: Sequence[int]) -> "NumberedGroup":
        """Return a group that is known.

        Args:
            group: The group.
            added: From ``CorpusFiles.add``.
            numbers: From ``CorpusFiles.in_order``.
        """
        if group.known is None:
            raise ValueError("a group is known before its files have numbers")
        if not isinstance(numbers, range):
            added = [place if place == ABSENT else numbers[place] for place in added]
        return cls(group.known, group.key, group.terms, added)


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
        columns: CorpusColumns,
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
            columns: The files.
            groups: Tables over all of them.
            others: What could not be read, and remarks.
            index: Finds analyses.
            reader: Reads the files' texts once more; nobody looks at its notes.
            held: Analyses by identity, packed, where the index keeps none.
            analysed: How many files had to be analysed.
            grouped: How many groups had to be made.
        """
        self.files: Sequence[FileFacts] = columns.facts
        self.others = others
        self.analysed = analysed
        self.grouped = grouped
        self._columns = columns
        self._groups = groups
        self._index = index
        self._reader = reader
        self._held = held
        self._analyses: dict[int, Analysis] = {}
        self._terms: dict[str, Mapping[int, TermInFile]] = {}

    def look_up(self, terms: Sequence[str]) -> None:
        """Find the files that hold some terms, in one pass over the groups' tables, for ``files_with``."""
        hashes = {term: term_hash(term) for term in terms if term not in self._terms}
        matches: dict[str, dict[int, TermInFile]] = {term: {} for term in hashes}
        for start in range(0, len(self._groups) if hashes else 0, _GROUPS_AT_ONCE):
            groups = self._groups[start : start + _GROUPS_AT_ONCE]
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
        """Yield the tables of groups' terms; what the index has lost is made again."""
        wanted = [group.key for group in groups if group.terms is None]
        kept = dict(zip(wanted, self._index.group_terms(wanted), strict=True))
        for group in groups:
            table = group.terms or kept[group.key]
            yield TermGroup(table or pack_terms(self._members(group)))

    def _members(self, group: NumberedGroup) -> list[Analysis | None]:
        """Return the analyses of a group's files, nothing for those that are not in the corpus."""
        present = [number for number in group.numbers if number != ABSENT]
        analyses = dict(zip(present, self.analyses(present), strict=True))
        return [analyses.get(number) for number in group.numbers]

    def files_with(self, term: str) -> Mapping[int, TermInFile]:
        """Return the files whose text holds ``term``, in order of their paths."""
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
                numbered = self._groups[group]
                pairs = numbered.known.names.files_defining(hashed)
                matches += [(numbered.numbers[member], place) for member, place in pairs]
        return sorted(match for match in matches if match[0] != ABSENT)

    @cached_property
    def _defined(self) -> "Sequence[memoryview[int]]":
        """The hashes of the names that each group defines."""
        return [numbered.known.names.defined for numbered in self._groups]

    def files_referring(self, name: str) -> Sequence[int]:
        """Return the files that use ``name``, as written."""
        hashed = term_hash(name)
        numbers = [
            numbered.numbers[member]
            for numbered in self._groups
            for member in numbered.known.names.files_referring(hashed)
        ]
        return sorted(number for number in numbers if number != ABSENT)

    def analyses(self, files: Sequence[int]) -> Sequence[Analysis]:
        """Load the analyses of some files at once; what was loaded before is kept."""
        missing = [number for number in dict.fromkeys(files) if number not in self._analyses]
        if not missing:  # as where a fit asks for one file after another
            return [self._analyses[number] for number in files]
        kept = self._index.files([self._columns.identities[number] for number in missing])
        for number, known in zip(missing, kept, strict=True):
            held = self._held.get(self._columns.identities[number])
            if known:
                self._analyses[number] = known.analysis
            elif held:
                self._analyses[number] = KnownFile.unpack(held).analysis
            else:
                self._analyse(number, self._read(number).clean)
        return [self._analyses[number] for number in files]

    def text(self, number: int) -> str:
        """Read a file's text as ``source`` does."""
        return self.source(number).text

    def source(self, number: int) -> SourceFile:
        """Read a file as it is shown; the text is ``""`` where it is gone.

        Where it has changed since it was analysed it is analysed once more, so that text and analysis go together.
        """
        reading = self._read(number)
        path = self._columns.shown[number].path
        identity = self._index.identity(path, source_hash(reading.clean))
        if identity != self._columns.identities[number]:
            self._analyse(number, reading.clean)
        return reading.source

    def content_hash(self, number: int) -> bytes:
        """Return the SHA-256 of a file's bytes, ``b""`` where they hold a secret."""
        replaced = self._columns.hashes.get(number)
        return self._columns.identities[number][:HASH_BYTES] if replaced is None else replaced

    def trim(self) -> None:
        """Let go of what was loaded for earlier questions, where it has become much."""
        if len(self._analyses) > _MOST_LOADED and not self._held:
            self._analyses.clear()
        if len(self._terms) > _MOST_TERMS:
            self._terms.clear()
        self._reader.notes = FileNotes()

    def shown_otherwise(self, files: Mapping[str, ResolvedFile]) -> "FileCorpus":
        """Return the same corpus with some of its files to be shown in another way; what was looked up is shared.

        Args:
            files: These, by their paths.
        """
        other = copy(self)
        shown = [files.get(file.path, file) for file in self._columns.shown]
        other._columns = self._columns._replace(shown=shown)
        return other

    @property
    def shown(self) -> Sequence[ResolvedFile]:
        """The files as they are to be shown."""
        return self._columns.shown

    def _read(self, number: int) -> Reading:
        # What is known by the hash of its bytes was searched for secrets before.
        known = self._columns.identities[number][:HASH_BYTES]
        return self._reader.read(self._columns.shown[number], hashed=True, clean_hash=known)

    def _analyse(self, number: int, source: SourceFile) -> None:
        path = self._columns.shown[number].path
        self._analyses[number] = KnownFile.unpack(pack_one(path, source)).analysis
        self._columns.identities[number] = self._index.identity(path, source_hash(source))
        self._columns.hashes[number] = source.content_hash


def source_hash(source: SourceFile) -> bytes:
    """Return a hash of what was read: of the bytes, or where they hold secrets of the text without these."""
    if source.content_hash:
        return source.content_hash
    return sha256(f"{source.error}\0{source.text}".encode(errors="surrogatepass")).digest()
