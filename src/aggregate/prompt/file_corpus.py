"""The corpus that a ranking reads, of files on the disk: what is known unchanged of them is not read."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import repeat
from typing import Final

from aggregate.base.redaction import Redaction
from aggregate.base.values import row_maker
from aggregate.project.files import SourceFile, modified_at, read_file
from aggregate.project.index import Index
from aggregate.prompt.file_reading import FileReader, NoteKind, ReadFacts, Reading, unread
from aggregate.prompt.known_files import (
    GONE,
    USUAL,
    Asked,
    FileGroup,
    KnownFiles,
    Part,
    analysed,
    content_hash,
    tables_of,
)
from aggregate.prompt.selection import ResolvedFile
from aggregate.ranking import term_list
from aggregate.ranking.files import Analysis, FileFacts, TermTable

_ABSENT: Final = -1  # The number of a file of a group that is not in the corpus
_GROUPS_AT_ONCE: Final = 16  # Groups whose terms are in memory at once: some megabytes
# Analyses that wait for the next question: those of some different ones, in some tens of megabytes.
_MOST_LOADED: Final = 2_000
_MOST_TERMS: Final = 200  # Terms that do: of some ten different questions

_FACTS: Final = row_maker(FileFacts)


# The tables of some files, and the numbers that these have in the corpus.
NumberedPart = tuple[Part, Sequence[int]]


@dataclass(eq=False)
class FileCorpus:
    """The readable ones among some files, numbered: a ``Corpus`` that finds their texts too."""

    files: Sequence[FileFacts]
    shown: Sequence[ResolvedFile]
    identities: list[bytes]
    groups: Sequence[NumberedPart]
    others: Sequence[Reading]  # What could not be read, and remarks on what globs met
    known: KnownFiles
    reader: FileReader  # Reads texts once more; nobody looks at its notes
    notes: FileReader  # Is told what is doubtful about a file that is looked at closely
    _analyses: dict[int, Analysis] = field(default_factory=dict)
    _analysed_as: dict[int, bytes] = field(default_factory=dict)  # the identities of what was
    _terms: dict[str, Mapping[int, int]] = field(default_factory=dict)
    _defining: dict[str, Sequence[int]] = field(default_factory=dict)

    def look_up(self, terms: Sequence[str]) -> None:
        """Find the files that hold some terms, in one pass over the groups' tables, for ``files_with``."""
        wanted = [term for term in dict.fromkeys(terms) if term not in self._terms]
        found: dict[str, dict[int, int]] = {term: {} for term in wanted}
        for start in range(0, len(self.groups) if wanted else 0, _GROUPS_AT_ONCE):
            groups = self.groups[start : start + _GROUPS_AT_ONCE]
            for (_, numbered), table in zip(groups, self._tables(groups), strict=True):
                for term, files in found.items():
                    held = table.texts_with(term)
                    files.update((numbered[member], held[member]) for member in held)
        for term, files in found.items():
            files.pop(_ABSENT, None)
            self._terms[term] = files

    def _tables(self, groups: Sequence[NumberedPart]) -> Iterator[TermTable]:
        wanted = [part.key for part, _ in groups if part.terms is None]
        kept = dict(zip(wanted, self.known.terms(wanted), strict=True))
        for part, numbers in groups:
            table = part.terms or kept[part.key]
            yield TermTable(table or self._terms_again(numbers))

    def _terms_again(self, numbers: Sequence[int]) -> bytes:
        """Return the table of a group that is gone from the index: another process has cleared it, or it was full."""
        present = [None if number == _ABSENT else self.shown[number] for number in numbers]
        read = [file and (file.path, read_file(file.file).text) for file in present]
        return tables_of(read)[1]

    def files_with(self, term: str) -> Mapping[int, int]:
        if term not in self._terms:
            self.look_up([term])
        return self._terms[term]

    def files_defining(self, name: str) -> Sequence[int]:
        if name not in self._defining:  # several evidences ask for the same names
            matches: set[int] = set()
            for part, numbers in self.groups:
                matches.update(map(numbers.__getitem__, part.table.files_defining(name)))
            self._defining[name] = sorted(matches - {_ABSENT})
        return self._defining[name]

    def files_naming(self, name: str) -> Sequence[int]:
        """Return the files that hold a name, in its case or another: all that define or use it are among them."""
        terms = term_list(name)
        if terms:  # the first one stands for all of an identifier
            return sorted(self.files_with(terms[0]))
        # Words that are everywhere are no terms.
        return [number for number in range(len(self.files)) if name in self.text(number)]

    def analyses(self, files: Sequence[int], *, with_references: bool = False) -> list[Analysis]:
        """Load the analyses of some files at once; what was loaded before is kept."""
        missing = [each for each in dict.fromkeys(files) if self._lacks(each, with_references)]
        if missing:  # nothing is where a fit asks for one file after another
            identities = [self.identities[number] for number in missing]
            for found in zip(missing, identities, self.known.analyses(identities), strict=True):
                self._add(*found)
            unknown = [each for each in missing if self._lacks(each, with_references)]
            self._look_closely(unknown, with_references)
        return [self._analyses[number] for number in files]

    def _lacks(self, number: int, with_references: bool) -> bool:
        loaded = self._analyses.get(number)
        return not loaded or (with_references and not loaded.has_references)

    def _look_closely(self, numbers: Iterable[int], with_references: bool) -> None:
        """Read files without their secrets, and meanwhile analyse those that are not known so."""
        asked: deque[tuple[int, bytes]] = deque()

        def unknown() -> Iterator[Asked]:
            for number in numbers:
                path, clean = self.shown[number].path, self._read(number).clean
                identity = self.known.identity(path, clean)
                # That of a file with secrets, or of one that has changed, was not asked for yet.
                if identity not in (self.identities[number], self._analysed_as.get(number)):
                    self._add(number, identity, *self.known.analyses([identity]))
                is_known = self._analysed_as.get(number) == identity
                if not is_known or self._lacks(number, with_references):
                    asked.append((number, identity))
                    yield path, clean.text, self._analyses[number].pack() if is_known else b""

        for analysis in analysed(unknown(), with_references=with_references):
            number, identity = asked.popleft()
            self.known.keep_analysis(identity, analysis)
            self._add(number, identity, analysis)

    def _add(self, number: int, identity: bytes, analysis: Analysis | None) -> None:
        if analysis:
            if analysis.problem and number not in self._analyses:
                self.notes.note(self.shown[number].path, NoteKind.VIEW, analysis.problem)
            self._analyses[number], self._analysed_as[number] = analysis, identity

    def text(self, number: int) -> str:
        return self.reading(number).source.text

    def reading(self, number: int) -> Reading:
        """Read a file as it is shown; the text is ``""`` where it is gone.

        Where it has changed since it was analysed it is analysed once more, so that text and analysis go together.
        """
        reading = self._read(number)
        identity = self.known.identity(self.shown[number].path, reading.clean)
        if self._analysed_as.get(number, identity) != identity:
            self._look_closely([number], self._analyses.pop(number).has_references)
            self.identities[number] = identity
        return reading

    def content_hash(self, number: int) -> bytes:
        return content_hash(self.identities[number])

    def trim(self) -> None:
        """Let go of what was loaded for earlier questions, where it has become much."""
        self._defining.clear()
        if len(self._analyses) > _MOST_LOADED and self.known.index.is_used:
            self._analyses.clear()
            self._analysed_as.clear()
        if len(self._terms) > _MOST_TERMS:
            self._terms.clear()

    def _read(self, number: int) -> Reading:
        # What was analysed by the hash of its bytes was searched for secrets before.
        known = self._analysed_as.get(number, b"")
        return self.reader.read(self.shown[number], hashed=True, clean_hash=content_hash(known))


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
    known = KnownFiles(index)
    groups = known.look_at(files)
    missing = [(group, len(group.unknown)) for group in groups]
    if on_start:
        on_start(sum(count for _, count in missing))
    with closing(known.find_out(group for group, count in missing if count)) as made:
        for count in made:
            if on_done:
                on_done(count)
    return _FileRows(files, groups, reader).corpus(known, FileReader(redaction))


class _FileRows:
    """What is known of all files, by their places among these."""

    def __init__(
        self, files: Sequence[ResolvedFile], groups: Sequence[FileGroup], reader: FileReader
    ) -> None:
        self._files = files
        self._groups = groups
        self._reader = reader
        self._facts: list[FileFacts | None] = [None] * len(files)
        self._identities = [b""] * len(files)
        marks = reader.generated.marks
        # What reading told of the files of which more is to be said than of most.
        self._unusual = {
            place: USUAL
            for place, file in enumerate(files if marks else ())
            if file.path in marks and not file.problem
        }
        for group in groups:
            self._add(group)

    def _add(self, group: FileGroup) -> None:
        for place, identity in zip(group.places, group.identities, strict=True):
            self._identities[place] = identity
        for part in group.parts:
            # A loop for a hundred thousand files, of nearly all of which nothing else is to be said.
            files = [None if member == GONE else group.places[member] for member in part.members]
            paths = ["" if at is None else self._files[at].path for at in files]
            rows = map(_FACTS, zip(paths, *part.table.columns(), repeat(False)))
            for at, row in zip(files, rows, strict=True):
                if at is not None:
                    self._facts[at] = row
        self._unusual |= {group.places[member]: facts for member, facts in group.facts.items()}

    def corpus(self, known: KnownFiles, reader: FileReader) -> FileCorpus:
        """Return the corpus of all files; the reader reads texts once more."""
        shown = list(self._files)
        others = {
            place: unread(file)
            for place, file in enumerate(self._files)
            if file.problem and not file.is_remark
        }
        for place in sorted(self._unusual):
            facts, self._facts[place] = self._facts[place], None
            reading = self._reading(self._files[place], self._unusual[place])
            if reading and reading.source.error:
                others[place] = reading
            elif reading and facts:
                shown[place] = reading.file
                is_generated = bool(self._reader.why_generated(reading.file, reading.facts))
                self._facts[place] = facts._replace(is_generated=is_generated)
        places = [place for place, each in enumerate(self._facts) if each]
        numbers = {place: number for number, place in enumerate(places)}
        return FileCorpus(
            files=[each for each in self._facts if each],
            shown=[shown[place] for place in places],
            identities=[self._identities[place] for place in places],
            groups=[
                (
                    part,
                    [
                        _ABSENT if each == GONE else numbers.get(group.places[each], _ABSENT)
                        for each in part.members
                    ],
                )
                for group in self._groups
                for part in group.parts
            ],
            others=[
                *(others[place] for place in sorted(others)),
                *map(unread, self._reader.remarks(self._files)),
            ],
            known=known,
            reader=reader,
            notes=self._reader,
        )

    def _reading(self, file: ResolvedFile, facts: ReadFacts) -> Reading | None:
        """Return what reading a file gives but for its text, ``None`` where it is only remarked on."""
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
