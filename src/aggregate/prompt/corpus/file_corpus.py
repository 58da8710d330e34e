"""The files that a ranking compares; only new and changed files are read and analysed."""

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
from aggregate.prompt.corpus.known_files import (
    GONE,
    USUAL,
    Asked,
    FileGroup,
    KnownFiles,
    Part,
    analysed,
    content_hash,
)
from aggregate.prompt.files.file import File, Remark
from aggregate.prompt.files.file_reading import FileReader, NoteKind, ReadFacts, read_source
from aggregate.ranking import term_list
from aggregate.ranking.files import Analysis, FileFacts, TermTable, look_roughly, pack_tables

_ABSENT: Final = -1  # number of a group's file outside of the corpus
_GROUPS_AT_ONCE: Final = 16  # groups whose terms are in memory: some megabytes
_MOST_LOADED: Final = 2_000  # analyses in memory for the next question: tens of megabytes
_MOST_TERMS: Final = 200  # terms in memory, of about ten questions

_FACTS: Final = row_maker(FileFacts)


NumberedPart = tuple[Part, Sequence[int]]  # a group's part, and the corpus numbers of its files


@dataclass(eq=False)
class FileCorpus:
    """A ``Corpus`` of readable, numbered files with their texts."""

    files: Sequence[FileFacts]
    shown: Sequence[File]
    identities: list[bytes]
    groups: Sequence[NumberedPart]
    others: Sequence[File]  # unreadable files
    remarks: Sequence[Remark]
    known: KnownFiles
    reader: FileReader  # reads texts again; its notes are ignored
    notes: FileReader  # collects doubts about analysed files
    _analyses: dict[int, Analysis] = field(default_factory=dict)
    _analysed_as: dict[int, bytes] = field(default_factory=dict)  # identities at the analysis
    _terms: dict[str, Mapping[int, int]] = field(default_factory=dict)
    _defining: dict[str, Sequence[int]] = field(default_factory=dict)

    def look_up(self, terms: Sequence[str]) -> None:
        """Find in one pass which files contain some terms, for later calls of ``files_with``."""
        wanted = [term for term in dict.fromkeys(terms) if term not in self._terms]
        files_by_term: dict[str, dict[int, int]] = {term: {} for term in wanted}
        for start in range(0, len(self.groups) if wanted else 0, _GROUPS_AT_ONCE):
            groups = self.groups[start : start + _GROUPS_AT_ONCE]
            for (_, numbers), table in zip(groups, self._tables(groups), strict=True):
                for term, files in files_by_term.items():
                    counts = table.texts_with(term)
                    files.update((numbers[member], counts[member]) for member in counts)
        for term, files in files_by_term.items():
            files.pop(_ABSENT, None)
            self._terms[term] = files

    def _tables(self, groups: Sequence[NumberedPart]) -> Iterator[TermTable]:
        wanted = [part.key for part, _ in groups if part.terms is None]
        cached = dict(zip(wanted, self.known.terms(wanted), strict=True))
        for part, numbers in groups:
            table = part.terms or cached[part.key]
            yield TermTable(table or self._terms_again(numbers))

    def _terms_again(self, numbers: Sequence[int]) -> bytes:
        present = [None if number == _ABSENT else self.shown[number] for number in numbers]
        words = [file and look_roughly(file.path, read_file(file.file).text) for file in present]
        return pack_tables(words)[1]

    def files_with(self, term: str) -> Mapping[int, int]:
        if term not in self._terms:
            self.look_up([term])
        return self._terms[term]

    def files_defining(self, name: str) -> Sequence[int]:
        if name not in self._defining:
            matches: set[int] = set()
            for part, numbers in self.groups:
                matches.update(map(numbers.__getitem__, part.table.files_defining(name)))
            self._defining[name] = sorted(matches - {_ABSENT})
        return self._defining[name]

    def files_naming(self, name: str) -> Sequence[int]:
        """Return the files that define or use a name, ignoring case; some may not."""
        terms = term_list(name)
        if terms:  # the first one covers the whole identifier
            return sorted(self.files_with(terms[0]))
        # Very common words are not terms.
        return [number for number in range(len(self.files)) if name in self.text(number)]

    def analyses(self, files: Sequence[int], *, with_references: bool = False) -> list[Analysis]:
        """Load the analyses of files, from memory, the index or the texts."""
        missing = [file for file in dict.fromkeys(files) if self._lacks(file, with_references)]
        if missing:
            identities = [self.identities[number] for number in missing]
            for row in zip(missing, identities, self.known.analyses(identities), strict=True):
                self._add(*row)
            unknown = [file for file in missing if self._lacks(file, with_references)]
            self._look_closely(unknown, with_references)
        return [self._analyses[number] for number in files]

    def _lacks(self, number: int, with_references: bool) -> bool:
        loaded = self._analyses.get(number)
        return not loaded or (with_references and not loaded.has_references)

    def _look_closely(self, numbers: Iterable[int], with_references: bool) -> None:
        """Read and redact files; analyse new ones in child processes."""
        pending: deque[tuple[int, bytes]] = deque()

        def unknown() -> Iterator[Asked]:
            for number in numbers:
                path, clean = self.shown[number].path, _without_secrets(self._read(number))
                identity = self.known.identity(path, clean)
                # A file with secrets, or a changed one, has another identity than the index was asked for.
                if identity not in (self.identities[number], self._analysed_as.get(number)):
                    self._add(number, identity, *self.known.analyses([identity]))
                is_known = self._analysed_as.get(number) == identity
                if not is_known or self._lacks(number, with_references):
                    pending.append((number, identity))
                    yield path, clean.text, self._analyses[number].pack() if is_known else b""

        for analysis in analysed(unknown(), with_references=with_references):
            number, identity = pending.popleft()
            self.known.keep_analysis(identity, analysis)
            self._add(number, identity, analysis)

    def _add(self, number: int, identity: bytes, analysis: Analysis | None) -> None:
        if analysis:
            if analysis.problem and number not in self._analyses:
                self.notes.note(self.shown[number].path, NoteKind.VIEW, analysis.problem)
            self._analyses[number], self._analysed_as[number] = analysis, identity

    def text(self, number: int) -> str:
        return self.reading(number).source.text

    def reading(self, number: int) -> File:
        """Return the redacted text of a file with its facts.

        The text is ``""`` if the file was deleted. A changed file is analysed again, so that text and analysis match.
        """
        file = self._read(number)
        identity = self.known.identity(self.shown[number].path, _without_secrets(file))
        if self._analysed_as.get(number, identity) != identity:
            self._look_closely([number], self._analyses.pop(number).has_references)
            self.identities[number] = identity
        return file

    def content_hash(self, number: int) -> bytes:
        return content_hash(self.identities[number])

    def trim(self) -> None:
        """Free memory used by earlier questions, if it is much."""
        self._defining.clear()
        if len(self._analyses) > _MOST_LOADED and self.known.index.is_used:
            self._analyses.clear()
            self._analysed_as.clear()
        if len(self._terms) > _MOST_TERMS:
            self._terms.clear()

    def _read(self, number: int) -> File:
        # An analysed file without secrets is not searched again.
        identity = self._analysed_as.get(number, b"")
        return self.reader.read(self.shown[number], hashed=True, clean_hash=content_hash(identity))


def read_corpus(
    files: Sequence[File],
    *,
    index: Index,
    redaction: Redaction,
    reader: FileReader,
    on_start: Callable[[int], None] | None = None,
    on_done: Callable[[int], None] | None = None,
) -> FileCorpus:
    """Return the corpus of ``files``, reading new and changed ones."""
    known = KnownFiles(index)
    groups = known.look_at(files)
    missing = [(group, len(group.unknown)) for group in groups]
    if on_start:
        on_start(sum(count for _, count in missing))
    with closing(known.find_out(group for group, count in missing if count)) as counts:
        for count in counts:
            if on_done:
                on_done(count)
    return _FileRows(files, groups, reader).corpus(known, FileReader(redaction))


class _FileRows:
    """Facts and identities of all files, by index."""

    def __init__(
        self, files: Sequence[File], groups: Sequence[FileGroup], reader: FileReader
    ) -> None:
        self._files = files
        self._groups = groups
        self._reader = reader
        self._facts: list[FileFacts | None] = [None] * len(files)
        self._identities = [b""] * len(files)
        marks = reader.selection.marks
        # Read facts of files that may need a note or another view.
        self._unusual = {
            index: USUAL
            for index, file in enumerate(files if marks else ())
            if file.path in marks and not file.problem
        }
        for group in groups:
            self._add(group)

    def _add(self, group: FileGroup) -> None:
        for index, identity in zip(group.places, group.identities, strict=True):
            self._identities[index] = identity
        for part in group.parts:
            # A loop for 100,000 files.
            files = [None if member == GONE else group.places[member] for member in part.members]
            paths = ["" if at is None else self._files[at].path for at in files]
            rows = map(_FACTS, zip(paths, *part.table.columns(), repeat(False)))
            for at, row in zip(files, rows, strict=True):
                if at is not None:
                    self._facts[at] = row
        self._unusual |= {group.places[member]: facts for member, facts in group.facts.items()}

    def corpus(self, known: KnownFiles, reader: FileReader) -> FileCorpus:
        """Return the corpus; ``reader`` reads texts again."""
        shown = list(self._files)
        others = {
            index: file._replace(source=read_source(file))
            for index, file in enumerate(self._files)
            if file.problem
        }
        for index in sorted(self._unusual):
            facts, self._facts[index] = self._facts[index], None
            file = self._judged(self._files[index], self._unusual[index])
            if file and file.source.error:
                others[index] = file
            elif file and facts:
                shown[index] = file
                is_generated = bool(self._reader.why_generated(file, self._unusual[index]))
                self._facts[index] = facts._replace(is_generated=is_generated)
        rows = [(index, facts) for index, facts in enumerate(self._facts) if facts]
        numbers = {index: number for number, (index, _) in enumerate(rows)}

        def numbered(group: FileGroup, part: Part) -> NumberedPart:
            members = (-1 if member == GONE else group.places[member] for member in part.members)
            return part, [numbers.get(index, _ABSENT) for index in members]

        return FileCorpus(
            files=[facts for _, facts in rows],
            shown=[shown[index] for index, _ in rows],
            identities=[self._identities[index] for index, _ in rows],
            groups=[numbered(group, part) for group in self._groups for part in group.parts],
            others=[others[index] for index in sorted(others)],
            remarks=self._reader.remarks(),
            known=known,
            reader=reader,
            notes=self._reader,
        )

    def _judged(self, file: File, facts: ReadFacts) -> File | None:
        """Return a file as the index knows it, ``None`` if the file is not shown itself."""
        if not facts.generated and self._reader.why_generated(file, facts):
            # Marked by .gitattributes alone: its size is not stored.
            facts = ReadFacts.of(file.path, read_file(file.file))
        if self._reader.omits(file, facts):
            return None
        self._reader.note_facts(file.path, facts)
        modified = modified_at(file.file) if facts.error else 0.0
        source = SourceFile("", facts.error, is_binary=facts.is_binary, mtime=modified)
        return self._reader.as_generated(file, facts)._replace(source=source)


def _without_secrets(file: File) -> SourceFile:
    return file.source.without_secrets or file.source
