"""The opened candidate files of a prompt with a budget.

Opened files have lines ready for a fit.
"""

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from math import inf
from typing import Final, NamedTuple

from aggregate.base.files import ViewMode
from aggregate.base.task import Place
from aggregate.base.text import has_long_line
from aggregate.base.values import row_maker
from aggregate.code.views import focused, is_the_text
from aggregate.project.index import Index
from aggregate.prompt.asking.request import Request
from aggregate.prompt.corpus.ranked_files import Pins, RankedFiles, find_pins
from aggregate.prompt.document import SEPARATOR
from aggregate.prompt.document.token_counts import SavedCounts
from aggregate.prompt.files.file import File
from aggregate.prompt.files.layout import MORE_TOKENS, rendered_segment
from aggregate.prompt.files.line_runs import ALL_LINES, Run
from aggregate.prompt.fit.entry_order import (
    CHARACTERS_PER_TOKEN,
    DENSITY,
    SEEN_FILES,
    WITH_TASK,
    Fittable,
    Share,
    StepOrder,
)
from aggregate.prompt.fit.fit import FileLines, Fit, ShownLines
from aggregate.prompt.fit.opened_file import OpenedFile, open_file
from aggregate.prompt.fit.overview import PART_BESIDE, overview_groups, overview_tree
from aggregate.prompt.sections.tree import Tree
from aggregate.ranking import RankedFile
from aggregate.ranking.files import Analysis, Piece

# Files below the first score follow all likelier ones; those below the second are hidden (rule B-6), unless the task
# matches nothing, where breadth is worth more (rule T-9).
_LIKELY, _RELEVANT = 0.002, 0.0002
# The same relative to the likeliest file and piece: where one is nearly certain, the others are noise. With 0.01 for
# pieces prompts of 4,000 to 27,000 tokens show fewer changed lines (measured on commits). All pieces of files with the
# last part of the best score are relevant.
_OF_BEST, _OF_BEST_PIECE, _NEAR_BEST = 0.005, 0.001, 0.1
# Likeliest files of a task that show a signature in any case; with 20, as without a task, 4,000 tokens show a hundredth
# fewer of the changed definitions.
_SEEN_FOR_TASK = 8
_LEADING = (
    5  # likeliest files, which also show short bodies, the functions these call, and comments
)
# Parts of the budget for tests and documents of the chosen sources (rule T-11). With 0.08 for tests a prompt of 27,000
# tokens shows 1 % fewer of the changed lines.
_PARTS: Final = {"tests": 0.1, "documents": 0.02}
_INTRODUCTION_DECAY = 0.9  # score of an introduction relative to the one before it
_OTHERS: Final = ("unlikely", "unread", "copy")  # kinds of files behind all likely ones
_FIRST_OTHERS = 100  # other files in the first group; each further group is twice as large
_WITHOUT_TASK = 0.65  # part of signatures without a task: breadth explains a project better
_BROAD = 0.5  # the same if the task matches nothing (rule T-9) and changes no settings
_LONGEST_TOKEN = 128  # characters of the longest o200k token, which is blanks
_NOTHING: Final = Piece(1, 1, -1, characters=0)  # the only piece of an empty file


class Candidate(NamedTuple):
    """A ranked file which the prompt may show."""

    number: int  # in the corpus
    file: File
    mode: ViewMode  # its largest view
    ranked: RankedFile


class OpenedCandidates:
    """The ranked files of a request, for several budgets.

    Texts and views are made when a fit first needs them, and reused for the next budget.
    """

    def __init__(self, request: Request, ranked: RankedFiles, *, index: Index) -> None:
        self.ranked = ranked
        self.files = ranked.files
        self.count: Callable[[str], int] = SavedCounts(index)
        self._pins = find_pins(request, ranked.files.selection.files)
        self._is_scored = request.task is not None
        self._is_finished = request.is_finished
        self._is_numbered = request.is_numbered
        self._around = MORE_TOKENS if request.is_xml else 0
        self._corpus = ranked.files.corpus
        self._opened: dict[int, OpenedFile | None] = {}
        self._rendered: dict[int, tuple[bytes, File]] = {}
        self._shortens = True  # whether long lines are cut; not in a prompt with all files
        files, pinned = self._corpus.shown, self._pins.files
        # By id of the entry, which all files of a glob share.
        modes: dict[int, ViewMode | None] = {}
        # One notebook can fill an overview.
        limit = request.budget.tokens if request.budget and request.is_structural else inf
        outlines_notebooks = sum(self._estimates) > limit
        self.in_rank_order: list[Candidate] = []
        new_candidate = row_maker(Candidate)
        for entry in ranked.ranking.files:  # a loop for a hundred thousand files
            number = entry[0]
            file = files[number]
            key = id(file.entry)
            if key not in modes:
                modes[key] = _largest_view(file, is_summary=request.is_summary)
            mode = ViewMode.FULL if file.path in pinned else modes[key]
            if mode is ViewMode.FULL and outlines_notebooks and file.path.endswith(".ipynb"):
                mode = ViewMode.OUTLINE
            if mode is not None:
                self.in_rank_order.append(new_candidate((number, file, mode, entry)))
        self.by_number = {candidate[0]: candidate for candidate in self.in_rank_order}

    @property
    def has_pins(self) -> bool:
        """Whether the user named lines or files that must be shown."""
        return bool(self._pinned)

    @cached_property
    def _pinned(self) -> Mapping[int, tuple[Run, ...]]:
        pins = self._pins.files
        pinned = [number for number, file, _, _ in self.in_rank_order if file.path in pins]
        paths = {number: self.by_number[number].file.path for number in sorted(pinned)}
        return {
            number: self._pins.runs(path, self._analysis(number).definitions if pins[path] else ())
            for number, path in paths.items()
        }

    def new_fit(self, runs_by_number: Mapping[int, tuple[Run, ...]] | None = None) -> Fit:
        """Return a new fit with some lines already visible.

        They are the pinned lines, and the lines kept from the last prompt.
        """
        share = _BROAD if self.ranked.ranking.is_broad else WITH_TASK
        share = _WITHOUT_TASK if self.ranked.question.is_empty else share
        fit = Fit(StepOrder(self._shares(), share), self.lines, self.count)
        for number, runs in self._pinned.items():
            fit.pin(number, runs)
        fit.spent = 0
        for number, runs in (runs_by_number or {}).items():
            fit.keep(number, runs)
        return fit

    def changed_definitions(self, room: int) -> dict[int, tuple[Run, ...]]:
        """Return changed definitions, the likeliest first, in about ``room`` tokens (rule T-14)."""
        changes: dict[str, list[Place]] = {}
        for change in self.ranked.question.changes:
            changes.setdefault(change.path, []).append(Place(*change))
        runs_by_number: dict[int, tuple[Run, ...]] = {}
        for number, file, mode, _ in self.in_rank_order:
            is_wanted = file.path in changes and mode is ViewMode.FULL
            lines = self.lines(number) if is_wanted else None
            if lines is None or self._corpus.files[number].is_generated:
                continue
            hunks = changes[file.path]
            is_new = not all(hunk.first for hunk in hunks)
            pins = Pins({file.path: () if is_new else tuple(hunks)})
            for run in pins.runs(file.path, self._analysis(number).definitions):
                size = sum(map(len, lines.texts[max(run[0] - 1, 0) : run[1]]))
                if size // CHARACTERS_PER_TOKEN <= room:
                    room -= size // CHARACTERS_PER_TOKEN
                    runs_by_number[number] = (*runs_by_number.get(number, ()), run)
        return runs_by_number

    def _shares(self) -> list[Share]:
        """Return the shares of the budget by group of files.

        The groups are likely files, their tests and documents, and all remaining files.
        """
        if self.ranked.question.is_overview:
            return self._shares_of_overview()
        companions = self.ranked.ranking.companions
        by_kind: dict[str, list[int]] = {}
        for number, _, _, ranked in self.in_rank_order:
            kind = companions.get(number) or ("read" if ranked.pieces else "unread")
            kind = "copy" if number in self._copies else kind
            kind = "unlikely" if kind == "read" and ranked.score < self._least(_LIKELY) else kind
            is_hidden_copy = kind == "copy" and self.has_least  # the original shows its text
            if kind in _PARTS or (ranked.score >= self.relevant and not is_hidden_copy):
                by_kind.setdefault(kind, []).append(number)
        others = [number for kind in _OTHERS for number in by_kind.get(kind, [])]
        groups = self._groups(by_kind.get("read", []), others)
        is_limited = self.has_least and self._is_finished
        companions_shares = (
            Share([self._fittables(by_kind.get(kind, []))], part, 0, is_limited)
            for kind, part in _PARTS.items()
        )
        first = _SEEN_FOR_TASK if self.has_least else SEEN_FILES
        return [Share(groups, 0.0, first, is_limited), *companions_shares]

    def _shares_of_overview(self) -> list[Share]:
        """Return the files of an overview in groups: introductions, files of large folders, and all others."""
        groups = overview_groups(self.in_rank_order, self._corpus, self.ranked.ranking.companions)
        first = 1 + SEEN_FILES // max(1, len(groups.folders))
        return [
            Share([self._fittables(groups.introductions)]),
            *(Share([self._fittables(files)], part, first=first) for files, part in groups.folders),
            Share([self._fittables(groups.beside)], PART_BESIDE),
            Share(self._groups([], groups.others)),
        ]

    @cached_property
    def relevant(self) -> float:
        """The least score of a file shown in the prompt."""
        if not self._is_relative:
            return self._least(_RELEVANT)
        return max(_RELEVANT, _OF_BEST * self.in_rank_order[0].ranked.score)

    @cached_property
    def _least_piece(self) -> float:
        """The least probability of a piece that is shown of a file far below the likeliest."""
        likeliest = (max(file.ranked.pieces, default=0.0) for file in self.in_rank_order)
        return _OF_BEST_PIECE * max(islice(likeliest, SEEN_FILES))

    @property
    def _is_relative(self) -> bool:
        """Whether files and pieces far below the likeliest are hidden.

        After a pick they stay visible, because all unpicked files score little.
        """
        is_picked = self.ranked.ranking.unpicked != 1.0
        is_limited = self.has_least and self._is_finished
        return is_limited and bool(self.in_rank_order) and not is_picked

    def _least(self, score: float) -> float:
        # Scores before a second look: after it all other files together score little.
        return score / self.ranked.ranking.unpicked if self.has_least else 0.0

    @cached_property
    def has_least(self) -> bool:
        """Whether files are hidden because their scores are too low."""
        return not self.ranked.question.is_empty and self.ranked.ranking.guess is None

    @cached_property
    def _copies(self) -> Mapping[int, int]:
        """For each built or vendored copy, the number of the likelier file with the same content."""
        firsts: dict[bytes, int] = {}
        numbers = [number for number, _, _, ranked in self.in_rank_order if ranked.pieces]
        pairs = ((n, firsts.setdefault(self._corpus.content_hash(n), n)) for n in numbers)
        return {number: first for number, first in pairs if number != first}

    def _groups(
        self, ranked: Sequence[int], remaining: Sequence[int]
    ) -> Iterator[Sequence[Fittable]]:
        if ranked:
            yield self._fittables(ranked)
        size = _FIRST_OTHERS
        while remaining:
            yield self._fittables(remaining[:size])
            remaining, size = remaining[size:], size * 2

    def _analysis(self, number: int) -> Analysis:
        return self._corpus.analyses([number])[0]

    def _fittables(self, numbers: Sequence[int]) -> list[Fittable]:
        return list(map(self._fittable, numbers, self._corpus.analyses(numbers)))

    def _fittable(self, number: int, analysis: Analysis) -> Fittable:
        ranked = self.by_number[number].ranked
        pieces = analysis.pieces or (_NOTHING,)
        chances = ranked.pieces
        if len(chances) != len(pieces):  # not analysed by the ranking, or changed since
            total = sum(piece.characters for piece in pieces) or 1
            chances = [ranked.score * piece.characters / total for piece in pieces]
        if self.ranked.question.is_empty:
            # Pieces of likelier files enter first, even long ones.
            best = max(chances, default=0.0) or 1.0
            sizes = [max(1, piece.characters / CHARACTERS_PER_TOKEN) ** DENSITY for piece in pieces]
            score = self._introductions.get(number, ranked.score)
            chances = [
                score * chance / best * size for chance, size in zip(chances, sizes, strict=True)
            ]
        is_prose = not self._corpus.files[number].is_code
        is_likely = self.has_least and number in self._leading
        calls = self._calls(number) if is_likely else {}
        is_notebook = self.by_number[number].file.path.endswith(".ipynb")
        least = 0.0
        if self._is_relative and number not in self.ranked.ranking.companions:
            is_near = ranked.score >= _NEAR_BEST * self.in_rank_order[0].ranked.score
            least = 0.0 if is_near else self._least_piece
        return Fittable(
            number,
            analysis.definitions,
            pieces,
            chances,
            is_prose,
            is_notebook,
            is_likely,
            calls,
            least,
        )

    @cached_property
    def _introductions(self) -> Mapping[int, float]:
        """Scores of the first files for a newcomer to read."""
        if not self.ranked.question.is_overview:
            return {}
        files = self.ranked.ranking.companions
        return {number: _INTRODUCTION_DECAY**rank for rank, number in enumerate(files)}

    @cached_property
    def _leading(self) -> Sequence[int]:
        """The likeliest files in the order of their scores; empty if the ranking is a guess."""
        leading = self.in_rank_order[:_LEADING] if self.has_least else ()
        leading = self.in_rank_order if self.ranked.question.is_overview else leading
        return [candidate.number for candidate in leading]

    def _calls(self, number: int) -> Mapping[int, Sequence[int]]:
        """Return which definitions of a file each of its definitions calls; ambiguous names are ignored."""
        analysis = self._corpus.analyses([number], with_references=True)[0]
        calls: dict[int, list[int]] = {}
        for reference in analysis.references:
            definitions = analysis.named.get(reference.name, ())
            if reference.definition >= 0 and len(definitions) == 1:
                calls.setdefault(reference.definition, []).append(definitions[0])
        return calls

    def lines(self, number: int) -> FileLines | None:
        if number not in self._opened:
            file = self._corpus.reading(number)
            analysis = self._analysis(number)
            is_code = self._corpus.files[number].is_code
            self._opened[number] = open_file(
                file,  # with slices resolved in its text
                self.by_number[number].mode,
                file.source,
                statements=analysis.statements,
                definitions=analysis.definitions if is_code else (),
                count=self.count,
                is_numbered=self._is_numbered,
                around=self._around,
                has_leads=number in self._leading,
                shortens=self._shortens and self._pins.files.get(file.path) != (),
            )
        opened = self._opened[number]
        return opened.lines if opened else None

    def tree(self) -> Tree:
        return overview_tree(self.in_rank_order, self._corpus)

    def content_hash(self, number: int) -> str:
        return self._corpus.content_hash(number).hex()

    @cached_property
    def _estimates(self) -> Sequence[int]:
        """Estimated tokens of all files, in the corpus's order."""
        sizes = (facts.characters // CHARACTERS_PER_TOKEN or 1 for facts in self._corpus.files)
        return array("q", sizes)

    def whole_fit(self, most: int) -> Fit | None:
        """Return a fit with all lines of all files.

        Return ``None`` if the lines have more than ``most`` tokens.
        """
        self._set_shortening(is_on=False)
        fit = self._whole_fit(most)
        self._set_shortening(is_on=fit is None)
        return fit

    def _set_shortening(self, *, is_on: bool) -> None:
        """Turn the shortening of long lines on or off; affected files are opened again."""
        if self._shortens == is_on:
            return
        self._shortens = is_on
        opened = [(number, file) for number, file in self._opened.items() if file]
        for number in [number for number, file in opened if has_long_line(file.source.text)]:
            del self._opened[number]
            self._rendered.pop(number, None)

    def _whole_fit(self, most: int) -> Fit | None:
        room = most * _LONGEST_TOKEN // CHARACTERS_PER_TOKEN
        for number, file, mode, _ in self.in_rank_order:  # returns early for a large project
            if is_the_text(file.path, mode):
                room -= self._estimates[number]
            if room < 0:
                return None
        fit = self.new_fit()
        for candidate in self.in_rank_order:
            fit.keep(candidate.number, (ALL_LINES,))
            if state := fit.shown.get(candidate.number):
                block = rendered_segment(self.rendered(candidate.number, state)).text
                most -= self.count(block + SEPARATOR)
            if most < 0:
                return None
        fit.is_exhausted = True
        return fit

    def rendered(self, number: int, state: ShownLines) -> File:
        # A prompt is laid out several times, with the same lines of most files.
        marks = bytes(state.marks)
        cached = self._rendered.get(number)
        if cached is None or cached[0] != marks:
            cached = self._rendered[number] = marks, self._render(number, state)
        return cached[1]

    def _render(self, number: int, state: ShownLines) -> File:
        opened, (_, file, mode, _) = self._opened[number], self.by_number[number]
        if opened is None:
            raise KeyError(number)
        source, view, lines = opened[:3]
        if not state.is_complete:
            view = focused(view, lines.texts, state.runs(), ends=lines.ends)
        return file._replace(source=source, view=view, entry=file.entry.in_mode(mode))


def _largest_view(file: File, *, is_summary: bool) -> ViewMode | None:
    if not file.item.auto_aggregate or file.entry.view_mode is ViewMode.NONE:
        return None
    return ViewMode.SUMMARY if is_summary else file.entry.view_mode
