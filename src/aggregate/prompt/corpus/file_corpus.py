"""The files that a ranking compares, and the definitions and uses of a name in them."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from itertools import repeat
from typing import Final, TypeVar

from aggregate.base.concurrency import Call, in_children
from aggregate.project.files import SourceFile, modified_at, read_file
from aggregate.project.index import Index
from aggregate.prompt.asking import Request
from aggregate.prompt.corpus.file_groups import (
    GONE,
    HASH_BYTES,
    OF_BYTES,
    USUAL,
    FileGroup,
    Part,
    identity_of,
    kind_of,
    read_groups,
)
from aggregate.prompt.files import (
    File,
    FileReader,
    NoteKind,
    ReadFacts,
    Remark,
    Selection,
    read_source,
    select_files,
)
from aggregate.ranking import term_list
from aggregate.ranking.files import Analysis, FileFacts, TermTable, look_roughly, pack_tables

_ABSENT: Final = -1  # number of a group's file outside of the corpus
_GROUPS_AT_ONCE: Final = 16  # groups whose terms are in memory: some megabytes
_FACTS: Final = partial(tuple.__new__, FileFacts)  # a third of the time of a call
_NumberedPart = tuple[Part, Sequence[int]]  # a group's part, and the corpus numbers of its files
_BETWEEN_NAMES: Final = r"\.|::|#|->|/"
# A name, qualified as in any language.
_NAME: Final = re.compile(rf"[^\W\d][\w$]*(?:(?:{_BETWEEN_NAMES})[^\W\d][\w$]*)*[?!]?")
_About = TypeVar("_About")
_LINE: Final = 160  # characters of a line that an answer repeats


def analysis_call(
    about: _About, path: str, text: str, packed: bytes = b"", *, with_references: bool
) -> Call[_About, bytes]:
    """Return a call for ``analysed``; ``packed`` is the analysis without references, if any."""
    return Call(about, _packed, (path, text, packed, with_references), len(text))


def analysed(calls: Iterable[Call[_About, bytes]]) -> Iterator[tuple[_About, Analysis]]:
    """Analyse files in child processes; a file lost there is analysed here without a grammar."""
    with closing(in_children(calls)) as answered:
        for call in answered:
            answer = call.answer
            if not isinstance(answer, bytes):
                path, text, _, with_references = call.arguments
                answer = _packed(path, text, b"", with_references, str(answer))
            yield call.about, Analysis.unpack(answer)


def _packed(path: str, text: str, packed: bytes, with_references: bool, problem: str = "") -> bytes:
    from aggregate.ranking.files import analyse  # imports the parser

    analysis = analyse(path, text, problem=problem, packed=packed, with_references=with_references)
    return analysis.pack()


@dataclass(slots=True, eq=False)
class FileCorpus:
    """A ``Corpus`` of a selection's readable, numbered files with their texts.

    Requests for the same files can share it.
    """

    selection: Selection
    files: Sequence[FileFacts]
    shown: Sequence[File]
    identities: list[bytes]
    groups: Sequence[_NumberedPart]
    others: Sequence[File]  # unreadable files
    remarks: Sequence[Remark]
    index: Index
    notes: FileReader  # has the notes on files; collects doubts about analysed files
    new_tables: int = 0  # made for this corpus
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

    def _tables(self, groups: Sequence[_NumberedPart]) -> Iterator[TermTable]:
        wanted = [part.key for part, _ in groups if part.terms is None]
        cached = dict(zip(wanted, self.index.get_many(kind_of("term group"), wanted), strict=True))
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
            for row in zip(missing, identities, self._stored(identities), strict=True):
                self._add(*row)
            unknown = [file for file in missing if self._lacks(file, with_references)]
            self._look_closely(unknown, with_references)
        return [self._analyses[number] for number in files]

    def analysis(self, number: int) -> Analysis:
        return self.analyses([number])[0]

    def _lacks(self, number: int, with_references: bool) -> bool:
        loaded = self._analyses.get(number)
        return not loaded or (with_references and not loaded.has_references)

    def _look_closely(self, numbers: Iterable[int], with_references: bool) -> None:
        """Read and redact files; analyse new ones in child processes."""
        for (number, identity), analysis in analysed(self._calls(numbers, with_references)):
            row = sha256(identity).digest(), analysis.pack()
            self.index.put_many(kind_of("analysis"), [row])
            self._add(number, identity, analysis)

    def _calls(
        self, numbers: Iterable[int], with_references: bool
    ) -> Iterator[Call[tuple[int, bytes], bytes]]:
        for number in numbers:
            path, clean = self.shown[number].path, _without_secrets(self._read(number))
            identity = identity_of(path, clean)
            # A file with secrets, or a changed one, has another identity than the index was asked for.
            if identity not in (self.identities[number], self._analysed_as.get(number)):
                self._add(number, identity, *self._stored([identity]))
            is_known = self._analysed_as.get(number) == identity
            if not is_known or self._lacks(number, with_references):
                packed = self._analyses[number].pack() if is_known else b""
                about = number, identity
                yield analysis_call(
                    about, path, clean.text, packed, with_references=with_references
                )

    def _stored(self, identities: Sequence[bytes]) -> list[Analysis | None]:
        keys = [sha256(identity).digest() for identity in identities]
        rows = self.index.get_many(kind_of("analysis"), keys)
        return [Analysis.unpack(row) if row else None for row in rows]

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
        identity = identity_of(file.path, _without_secrets(file))
        if self._analysed_as.get(number, identity) != identity:
            self._look_closely([number], self._analyses.pop(number).has_references)
            self.identities[number] = identity
        return file

    def content_hash(self, number: int) -> bytes:
        return _content_hash(self.identities[number])

    def _read(self, number: int) -> File:
        # An analysed file without secrets is not searched again.
        identity = self._analysed_as.get(number, b"")
        reader = FileReader(self.notes.redaction)  # notes are taken once
        return reader.read(self.shown[number], hashed=True, clean_hash=_content_hash(identity))


def read_files(
    request: Request,
    *,
    index: Index,
    on_start: Callable[[int], None] | None = None,
    on_done: Callable[[int], None] | None = None,
) -> FileCorpus:
    """Return the corpus of a request's files for the ranking, reading new and changed ones.

    ``on_start`` and ``on_done`` count these.
    """
    selection = select_files(request)
    files = selection.files
    groups, new_tables = read_groups(files, index, on_start, on_done)
    notes = FileReader(request.redaction, selection)
    rows = _facts_by_index(files, groups)
    shown = list(files)
    others = {
        place: file._replace(source=read_source(file))
        for place, file in enumerate(files)
        if file.problem
    }
    unusual = _unusual_facts(files, groups, notes)
    for place in sorted(unusual):
        row, rows[place] = rows[place], None
        file = _as_known(files[place], unusual[place], notes)
        if file and file.source.error:
            others[place] = file
        elif file and row:
            shown[place] = file
            is_generated = bool(notes.why_generated(file, unusual[place]))
            rows[place] = row._replace(is_generated=is_generated)
    identities: dict[int, bytes] = {}
    for group in groups:
        identities.update(zip(group.places, group.identities, strict=True))
    places = [place for place, row in enumerate(rows) if row]
    numbers = {place: number for number, place in enumerate(places)}
    return FileCorpus(
        selection=selection,
        files=[row for row in rows if row],
        shown=[shown[place] for place in places],
        identities=[identities[place] for place in places],
        groups=_numbered_parts(groups, numbers),
        others=[others[place] for place in sorted(others)],
        remarks=notes.remarks(),
        index=index,
        notes=notes,
        new_tables=new_tables,
    )


def _facts_by_index(files: Sequence[File], groups: Sequence[FileGroup]) -> list[FileFacts | None]:
    facts: list[FileFacts | None] = [None] * len(files)
    for group in groups:
        for part in group.parts:  # a loop for 100,000 files
            places = [None if member == GONE else group.places[member] for member in part.members]
            paths = ["" if place is None else files[place].path for place in places]
            rows = map(_FACTS, zip(paths, *part.table.columns(), repeat(False)))
            for place, row in zip(places, rows, strict=True):
                if place is not None:
                    facts[place] = row
    return facts


def _unusual_facts(
    files: Sequence[File], groups: Sequence[FileGroup], notes: FileReader
) -> dict[int, ReadFacts]:
    """Return the facts of files that may need a note or another view, by index."""
    marks = notes.selection.marks
    unusual = {
        index: USUAL
        for index, file in enumerate(files if marks else ())
        if file.path in marks and not file.problem
    }
    for group in groups:
        unusual |= {group.places[member]: facts for member, facts in group.facts.items()}
    return unusual


def _as_known(file: File, facts: ReadFacts, notes: FileReader) -> File | None:
    """Return a file as the index knows it, ``None`` if the file is not shown itself."""
    if not facts.generated and notes.why_generated(file, facts):
        # Marked by .gitattributes alone: its size is not stored.
        facts = ReadFacts.of(file.path, read_file(file.file))
    file = notes.judge(file, facts)
    if notes.is_omitted(file.path):
        return None
    modified = modified_at(file.file) if facts.error else 0.0
    source = SourceFile("", facts.error, is_binary=facts.is_binary, mtime=modified)
    return file._replace(source=source)


def _numbered_parts(groups: Sequence[FileGroup], numbers: Mapping[int, int]) -> list[_NumberedPart]:
    parts: list[_NumberedPart] = []
    for group in groups:
        for part in group.parts:
            places = (-1 if member == GONE else group.places[member] for member in part.members)
            parts.append((part, [numbers.get(place, _ABSENT) for place in places]))
    return parts


def _content_hash(identity: bytes) -> bytes:
    """Return the hash of a file's bytes, ``b""`` if the redacted text was hashed."""
    return identity[:HASH_BYTES] if identity[-1:] == OF_BYTES else b""


def _without_secrets(file: File) -> SourceFile:
    return file.source.without_secrets or file.source


def look_up_name(corpus: FileCorpus, query: str, paths: Mapping[int, str]) -> list[str]:
    """Return lines about the definitions and uses of a name.

    Definitions come first, then uses, each group below its number. ``paths`` are the files to search, by number. An
    unknown name gives no lines.
    """
    if not _NAME.fullmatch(query):
        return []
    names = re.split(_BETWEEN_NAMES, query)
    definitions = list(_definitions(corpus, names, paths))
    uses = list(_uses(corpus, names[-1], paths))
    if not definitions and not uses:
        return []
    lines = [f"{number_of(len(definitions), 'definition')} of {query}", *definitions]
    return [*lines, f"{number_of(len(uses), 'use')} of {names[-1]}", *uses]


def _definitions(
    corpus: FileCorpus, names: Sequence[str], paths: Mapping[int, str]
) -> Iterator[str]:
    holding = corpus.files_naming(names[-1])
    numbers = [number for number in holding if number in paths and corpus.files[number].is_code]
    for number, analysis in zip(numbers, corpus.analyses(numbers), strict=True):
        for index in analysis.named.get(names[-1], ()):
            definition = analysis.definitions[index]
            if definition.path[-len(names) :] == tuple(names):
                where = f"{paths[number]}:{definition.first}-{definition.last}"
                line = _line(corpus, number, definition.signature)
                yield f"{where} {definition.kind} {'.'.join(definition.path)}: {line}"


def _uses(corpus: FileCorpus, name: str, paths: Mapping[int, str]) -> Iterator[str]:
    numbers = [number for number in corpus.files_naming(name) if number in paths]
    analyses = corpus.analyses(numbers, with_references=True)
    for number, analysis in zip(numbers, analyses, strict=True):
        for reference in analysis.references:
            if reference.name == name:
                outer = reference.definition
                path = analysis.definitions[outer].path if outer >= 0 else ()
                within = f" in {'.'.join(path)}" if path else ""
                line = _line(corpus, number, reference.line)
                yield f"{paths[number]}:{reference.line}{within}: {line}"


def _line(corpus: FileCorpus, number: int, line: int) -> str:
    lines = corpus.text(number).splitlines()
    return shown_line(lines[line - 1]) if 1 <= line <= len(lines) else ""


def shown_line(line: str) -> str:
    text = line.strip()
    return text if len(text) <= _LINE else f"{text[:_LINE]}…"


def number_of(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
