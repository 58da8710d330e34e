"""Candidate files of a prompt with a budget.

They decide on the shown files and their order, and make the audit rows.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property
from itertools import chain, repeat
from math import inf
from operator import gt
from typing import Final

from aggregate.base.files import View, ViewMode
from aggregate.base.task import FileChoice, FileOrder, Level
from aggregate.base.values import row_maker
from aggregate.code.views import EXCLUDED, is_the_text
from aggregate.prompt.asking.request import ALL_FILES
from aggregate.prompt.files.file import File
from aggregate.prompt.files.file_rendering import RenderedFiles, error_sentence
from aggregate.prompt.files.line_runs import marked_runs, signature_run
from aggregate.prompt.files.selection import omission_remark
from aggregate.prompt.fit.fit import Fit
from aggregate.prompt.fit.opened_candidates import OpenedCandidates
from aggregate.prompt.sections.not_shown import Called, Hidden

_MOST_CALLED: Final = 100  # names to look up
LEVELS: Final = {mode: Level(mode.value) for mode in ViewMode}


class Candidates(OpenedCandidates):
    """The candidate files of a request, after a fit.

    They have the order, the notes and the audit rows for the fitted lines.
    """

    @cached_property
    def _refused(self) -> tuple[str, ...]:
        return self.files.selection.refused

    def left_out(self, fit: Fit) -> Iterator[Hidden]:
        """Yield the candidates hidden by a fit, most relevant first."""
        visible = {number for number, state in fit.shown.items() if not state.is_empty}
        estimates, by_number = self._estimates, self.by_number
        originals = {n: by_number[first].file.path for n, first in self._copies.items()}
        return (
            (file.path, estimates[number], originals.get(number, ""))
            for number, file, _, _ in self.in_rank_order
            if number not in visible
        )

    def called(self, fit: Fit) -> list[Called]:
        """Return the definitions that visible code of the likeliest files calls, but that are not shown."""
        marks = {
            number: bytes(fit.shown[number].marks)
            for number in (self._leading if self.has_least else ())
            if number in fit.shown and fit.shown[number].lines.ends  # a view has other lines
        }
        names_by_path: dict[str, list[str]] = {}
        for name in self._called_names(marks):
            files = self._corpus.files_defining(name)
            is_candidate = len(files) == 1 and files[0] in self.by_number
            if is_candidate and not self._shows_definition(files[0], name, fit):
                names_by_path.setdefault(self._corpus.shown[files[0]].path, []).append(name)
        return [*names_by_path.items()]

    def _called_names(self, marks: Mapping[int, bytes]) -> list[str]:
        names: dict[str, None] = {}
        analyses = self._corpus.analyses([*marks], with_references=True)
        for visible, analysis in zip(marks.values(), analyses, strict=True):
            for reference in analysis.references:
                if reference.kind == "call" and any(visible[reference.line - 1 : reference.line]):
                    names.setdefault(reference.name)
        return [*names][:_MOST_CALLED]

    def _shows_definition(self, number: int, name: str, fit: Fit) -> bool:
        analysis = self._analysis(number)
        lines = [analysis.definitions[index].signature for index in analysis.named.get(name, ())]
        marks = fit.shown[number].marks if number in fit.shown else b""
        return any(any(marks[line - 1 : line]) for line in lines)

    def shown_files(
        self, fit: Fit, order: FileOrder, *, doubts: Sequence[str], with_notes: bool
    ) -> RenderedFiles:
        """Return the files shown by a fit, with notes.

        The notes are about unreadable files. ``with_notes`` adds the notes of a prompt without a budget.
        """
        unreadable = (file.unreadable() for file in self._corpus.others if _is_wanted(file))
        files = self._in_order(fit, order, [*unreadable, *(self._notes() if with_notes else ())])
        return RenderedFiles(tuple(files), (*doubts, *self._warnings(files)), self._refused)

    def _notes(self) -> Sequence[File]:
        """Return the notes on excluded files, and the remarks on files that globs left out."""
        corpus = self._corpus
        excluded = (
            _excluded(file._replace(source=corpus.reading(number).source))
            for number, file in enumerate(corpus.shown)
            if number not in self.by_number and file.item.auto_aggregate
        )
        remarks = (remark.file for remark in corpus.remarks if _is_wanted(remark.file))
        return (*excluded, *remarks)

    def _in_order(self, fit: Fit, order: FileOrder, notes: Iterable[File]) -> list[File]:
        visible = {
            self.by_number[number].file.path: self.rendered(number, state)
            for number, state in fit.shown.items()
            if not state.is_empty or number in self._pinned
        }
        visible.update((file.path, file) for file in notes)
        configured = _sorted_by(visible, (file.path for file in self.files.selection.files))
        if order is FileOrder.CONFIGURED:
            return [*configured.values()]
        if order is FileOrder.RELEVANCE:
            return self._by_relevance(configured)
        # The most relevant file last, the next one first, and so on to the middle.
        ranked = [*_sorted_by(configured, self._ranks).values()]
        return [*ranked[1::2], *ranked[::2][::-1]]

    @cached_property
    def _ranks(self) -> Mapping[str, int]:
        return {candidate.file.path: rank for rank, candidate in enumerate(self.in_rank_order)}

    @cached_property
    def _sources(self) -> Mapping[str, str]:
        """The source file of each test or document.

        Keys are the paths of the tests and documents.
        """
        companions = self.ranked.ranking.companions
        return {
            file.path: reason.matched
            for number, file, _, ranked in self.in_rank_order
            if number in companions
            for reason in ranked.reasons
            if reason.kind == companions[number]
        }

    def _by_relevance(self, files: Mapping[str, File]) -> list[File]:
        """Return files in the order of their scores.

        Tests and documents follow their source (rule B-8).
        """
        if self.ranked.question.is_overview:  # from top to bottom, as a newcomer reads
            first = [self._corpus.shown[number].path for number in self.ranked.ranking.companions]
            return [*_sorted_by(files, first).values()]
        last = len(self._ranks)
        keys: dict[str, tuple[int, int]] = {}
        for path in files:
            rank = self._ranks.get(path, last)
            source = self._sources.get(path, "")
            # A source precedes its companions, even likelier ones.
            keys[path] = (self._ranks[source], rank) if source in files else (rank, -1)
        return [files[path] for path in sorted(files, key=keys.__getitem__)]

    def _warnings(self, files: Sequence[File]) -> tuple[str, ...]:
        corpus = self._corpus
        remarks = [*corpus.remarks]
        unreadable = [
            file
            for file in corpus.others
            if not _is_wanted(file)
            and file.path != ALL_FILES  # the glob itself: there is no file at all
        ]
        if unreadable:
            paths = [file.path for file in unreadable]
            remarks.append(omission_remark(unreadable[0].entry, "unreadable", paths))
        sentences = {remark.path: f"{remark.path}: {remark.problem}" for remark in remarks}
        errors = (
            error_sentence(file) for file in files if file.is_error and file.path not in sentences
        )
        doubts = self.files.reader.warnings(errors, [file.path for file in files])
        beyond = (
            f"focus {place}: there is no such line: the file ends with line {len(lines.texts):,}"
            for number in self._pinned
            if (lines := self.lines(number))
            for place in self._pins.files[self.by_number[number].file.path]
            if place.first > len(lines.texts)
        )
        return (*self._pins.doubts, *beyond, *doubts, *sentences.values())

    @cached_property
    def _hidden(self) -> Mapping[str, FileChoice]:
        # By columns: row by row takes twice as long for 100,000 files.
        entries = [entry for _, _, _, entry in self.in_rank_order]
        numbers = [entry.file for entry in entries]
        paths = [file.path for _, file, _, _ in self.in_rank_order]
        sizes = self._estimates
        columns = (
            paths,
            [file.entry.item.path for _, file, _, _ in self.in_rank_order],
            repeat(Level.LEFT_OUT),
            [LEVELS[mode] for _, _, mode, _ in self.in_rank_order],
            repeat(False),  # pinned
            repeat(0),  # tokens
            [entry.score for entry in entries] if self._is_scored else repeat(None),
            range(1, len(entries) + 1) if self._is_scored else repeat(None),
            [entry.reasons for entry in entries],
            repeat(()),  # definitions
            repeat(None),  # next
            repeat(""),  # content_hash
            [sizes[number] for number in numbers],
            repeat(()),  # lines
        )
        rows = map(row_maker(FileChoice), zip(*columns, strict=False))
        return dict(zip(paths, rows, strict=True))

    def choices(
        self,
        shown: Mapping[int, bytes],
        later: Mapping[int, bytes],
        tokens: Mapping[str, int],
        named: Set[str],
    ) -> tuple[FileChoice, ...]:
        """Return the audit rows of all files.

        Args:
            shown: Marks of the visible lines by file number.
            later: Marks with a larger budget.
            tokens: Tokens of the files' blocks by path.
            named: Paths listed by name in the section of hidden files.
        """
        numbers = {self.by_number[number].file.path: number for number in later}
        choices: list[FileChoice] = []
        hidden = self._hidden
        for file in self.files.selection.files:
            path = file.path
            choice = hidden.get(path)
            if choice is None:
                if path == ALL_FILES:  # a glob without matches
                    continue
                choice = _unranked(file, tokens.get(path, 0))
            elif path in numbers:
                number = numbers[path]
                marks = shown.get(number, b"")
                choice = self.choice(number, marks, later[number], tokens=tokens.get(path, 0))
            choices.append(choice._replace(level=Level.NAME) if path in named else choice)
        return tuple(choices)

    def choice(self, number: int, marks: bytes, later: bytes, *, tokens: int) -> FileChoice:
        """Return the audit row of a candidate.

        ``marks`` are its visible lines, ``later`` the lines shown with a larger budget.
        """
        return self._hidden[self.by_number[number].file.path]._replace(
            level=self.level(number, marks),
            pinned=number in self._pinned,
            tokens=tokens,
            definitions=self._definitions_in_full(number, marks),
            next=self.level(number, later) if sum(later) > sum(marks) else None,
            content_hash=self.content_hash(number) if any(marks) else "",
            lines=tuple(marked_runs(marks)),
        )

    def level(self, number: int, marks: bytes) -> Level:
        opened = self._opened.get(number)
        if opened is None or not any(marks):
            return Level.LEFT_OUT
        level = LEVELS[self.by_number[number].mode]
        if 0 not in opened.lines.shown_or_blank(marks):
            return Level.FOCUSED if opened.is_shortened else level
        if level is not Level.FULL:
            return Level.OUTLINE
        definitions = self._analysis(number).definitions
        signatures = chain.from_iterable(
            opened.lines.find(signature_run(definition)) for definition in definitions
        )
        has_body = any(map(gt, marks, opened.lines.whole(signatures)))
        return Level.FOCUSED if has_body else Level.OUTLINE

    def _definitions_in_full(self, number: int, marks: bytes) -> tuple[str, ...]:
        opened, mode = self._opened.get(number), self.by_number[number].mode
        is_text = is_the_text(self.by_number[number].file.path, mode)
        if opened is None or not any(marks) or not is_text:
            return ()
        visible = opened.lines.shown_or_blank(marks)
        names = (
            ".".join(definition.path)
            for definition in self._analysis(number).definitions
            if visible.find(0, definition.signature - 1, definition.last) < 0
        )
        return tuple(dict.fromkeys(names))


def _sorted_by(files: Mapping[str, File], paths: Iterable[str]) -> Mapping[str, File]:
    ranks = {path: rank for rank, path in enumerate(paths) if path in files}
    return dict(sorted(files.items(), key=lambda item: ranks.get(item[0], inf)))


def _unranked(file: File, tokens: int) -> FileChoice:
    """Return the audit row of an excluded, unreadable or binary file."""
    is_excluded = file.entry.view_mode is ViewMode.NONE or not file.item.auto_aggregate
    level = Level.NONE if is_excluded else Level.LEFT_OUT
    return FileChoice(file.path, file.item.path, level, LEVELS[file.entry.view_mode], tokens=tokens)


def _excluded(file: File) -> File:
    return file.unreadable() if file.source.error else file._replace(view=View(EXCLUDED))


def _is_wanted(file: File) -> bool:
    """Return whether the user named the file or its glob."""
    return file.item.path != ALL_FILES
