"""Candidate files of a prompt with a budget: what each may show at most, and which lines must be shown.

Texts and views are made when a fit first needs them, and reused for the next budget.
"""

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from math import inf
from typing import Final, NamedTuple

from aggregate.base.files import ALL_LINES, Run, ViewMode
from aggregate.base.task_budget import Place
from aggregate.base.text import has_long_line
from aggregate.code.views import focused
from aggregate.project.index import Index
from aggregate.prompt.asking import FOCUS_TIER, Request, find_named, unknown_focus
from aggregate.prompt.corpus import RankedFiles
from aggregate.prompt.files import MORE_TOKENS, File
from aggregate.prompt.fit.entry_order import CHARACTERS_PER_TOKEN, SEEN_FILES
from aggregate.prompt.fit.opened_file import OpenedFile, ShownLines, open_file
from aggregate.prompt.token_counts import SavedCounts
from aggregate.ranking import RankedFile
from aggregate.ranking.files import DefinedName

# Files with a lower score are hidden (rule B-6), unless the task matches nothing, where breadth is worth more (rule
# T-9).
_RELEVANT = 0.0002
# The same relative to the likeliest file and piece: where one is nearly certain, the others are noise. With 0.01 for
# pieces prompts of 4,000 to 27,000 tokens show fewer changed lines (measured on commits).
_OF_BEST, _OF_BEST_PIECE = 0.005, 0.001
_LEADING = (
    5  # likeliest files, which also show short bodies, the functions these call, and comments
)
_LONGEST = 60  # lines of a nested definition that a place pins whole
_CONTEXT: Final = 12  # lines on each side of a place in a longer one


class Candidate(NamedTuple):
    """A ranked file which the prompt may show."""

    number: int  # in the corpus
    file: File
    mode: ViewMode  # its largest view
    ranked: RankedFile


class Pins(NamedTuple):
    """Files and lines shown always, since the user named them."""

    files: dict[str, tuple[Place, ...]]  # places by path, ``()`` for the whole file
    doubts: tuple[str, ...] = ()  # a sentence for each place outside of the prompt's files


def find_pins(request: Request, files: Sequence[File]) -> Pins:
    pinned: dict[str, tuple[Place, ...]] = {
        file.path: ()
        for file in files
        if (file.item.force_full or file.entry.tier == FOCUS_TIER) and file.item.auto_aggregate
    }
    doubts: list[str] = []
    focus = request.task.focus if request.task else ()
    focus_paths = {place.path for place in focus}
    wanted = (*focus, *(Place(path) for path in request.focus_files if path not in focus_paths))
    if not wanted:
        return Pins(pinned)
    pairs = [(file.path, file.item.path) for file in files]
    for place in wanted:
        paths = [files[number].path for number in find_named(pairs, place.path)]
        # A Tier 3 prompt reports its focus files itself.
        if not paths and place.path not in request.focus_files:
            doubts.append(unknown_focus(place.path, [file.path for file in files]))
        for path in paths:
            earlier = pinned.get(path)
            is_whole = not place.first or earlier == ()
            pinned[path] = () if is_whole else (*(earlier or ()), place)
    return Pins(pinned, tuple(doubts))


def pinned_runs(places: Sequence[Place], definitions: Sequence[DefinedName]) -> Iterator[Run]:
    """Yield for each place its lines, those of its innermost definition, and the signatures around it.

    A long definition with inner definitions is shown around the place, any other one whole. All lines are pinned
    without a place.
    """
    if not places:
        yield ALL_LINES
    for place in places:
        yield place.first, place.last
        touching = [
            number
            for number, definition in enumerate(definitions)
            if definition.first <= place.last and definition.last >= place.first
        ]
        outer = {definitions[number].outer for number in touching}
        for number in touching:
            definition = definitions[number]
            yield definition.signature_lines
            if number in outer:
                continue
            first, last = definition.first, definition.last
            inner = [inner for inner in definitions if inner.outer == number]
            if inner and last - first >= _LONGEST:
                above = [name.last + 1 for name in inner if name.last < place.first]
                below = [name.first - 1 for name in inner if name.first > place.last]
                first = max(first, place.first - _CONTEXT, *above)
                last = min(last, place.last + _CONTEXT, *below)
            yield first, last


class Candidates:
    """The ranked files of a request, for several budgets.

    Attributes:
        request: The budget alone may differ between prompts.
        in_rank_order: The likeliest first.
        numbers: Numbers in the corpus by path, the likeliest first.
        ranks: Positions in the ranking by path.
        estimates: Estimated tokens of all files, in the corpus's order.
        opened: Files with lines ready for a fit, ``None`` without a view.
    """

    def __init__(self, request: Request, ranked: RankedFiles, *, index: Index) -> None:
        self.corpus, self.question, self.ranking = ranked
        self.count: Callable[[str], int] = SavedCounts(index)
        self.pins = find_pins(request, self.corpus.selection.files)
        self.request = request
        self._shortens = True  # whether long lines are cut; not in a prompt with all files
        self.opened: dict[int, OpenedFile | None] = {}
        self._rendered: dict[int, tuple[bytes, File]] = {}
        sizes = (facts.characters // CHARACTERS_PER_TOKEN or 1 for facts in self.corpus.files)
        self.estimates: Sequence[int] = array("q", sizes)
        # One notebook can fill an overview.
        limit = request.budget.tokens if request.budget and request.is_structural else inf
        outlines_notebooks = sum(self.estimates) > limit
        self.in_rank_order: list[Candidate] = []
        for entry in self.ranking.files:
            file = self.corpus.shown[entry.file]
            mode = ViewMode.SUMMARY if request.is_summary else file.entry.view_mode
            if not file.item.auto_aggregate or file.entry.view_mode is ViewMode.NONE:
                mode = ViewMode.NONE
            if file.path in self.pins.files:
                mode = ViewMode.FULL
            if mode is ViewMode.FULL and outlines_notebooks and file.path.endswith(".ipynb"):
                mode = ViewMode.OUTLINE
            if mode is not ViewMode.NONE:
                self.in_rank_order.append(Candidate(entry.file, file, mode, entry))
        self.by_number = {candidate.number: candidate for candidate in self.in_rank_order}
        self.numbers = {file.path: number for number, file, _, _ in self.in_rank_order}
        self.ranks = {file.path: rank for rank, (_, file, _, _) in enumerate(self.in_rank_order)}
        self.refused = self.corpus.selection.refused

    @cached_property
    def pinned(self) -> Mapping[int, Sequence[Run]]:
        """The lines that must be shown, by file."""
        pins, pinned = self.pins.files, {}
        for number, candidate in sorted(self.by_number.items()):
            path = candidate.file.path
            if path in pins:
                definitions = self._definitions(number) if pins[path] else ()
                pinned[number] = tuple(pinned_runs(pins[path], definitions))
        return pinned

    @property
    def generated(self) -> set[str]:
        """Paths of generated files."""
        files = self.corpus.files
        return {path for path, number in self.numbers.items() if files[number].is_generated}

    def _definitions(self, number: int) -> Sequence[DefinedName]:
        return self.corpus.analysis(number).definitions

    def changed_definitions(self, room: int) -> dict[int, tuple[Run, ...]]:
        """Return changed definitions, the likeliest first, in about ``room`` tokens (rule T-14)."""
        changes: dict[str, list[Place]] = {}
        for change in self.question.changes:
            changes.setdefault(change.path, []).append(Place(*change))
        runs_by_number: dict[int, tuple[Run, ...]] = {}
        for number, file, mode, _ in self.in_rank_order:
            is_wanted = file.path in changes and mode is ViewMode.FULL
            opened = self.open(number) if is_wanted else None
            if opened is None or self.corpus.files[number].is_generated:
                continue
            hunks = changes[file.path]
            is_new = not all(hunk.first for hunk in hunks)
            for run in pinned_runs(() if is_new else hunks, self._definitions(number)):
                size = sum(map(len, opened.texts[max(run[0] - 1, 0) : run[1]]))
                if size // CHARACTERS_PER_TOKEN <= room:
                    room -= size // CHARACTERS_PER_TOKEN
                    runs_by_number[number] = (*runs_by_number.get(number, ()), run)
        return runs_by_number

    @cached_property
    def has_least(self) -> bool:
        """Whether files are hidden because their scores are too low."""
        return not self.question.is_empty and self.ranking.guess is None

    @property
    def is_relative(self) -> bool:
        """Whether files and pieces far below the likeliest are hidden.

        After a pick they stay visible, because all unpicked files score little.
        """
        is_picked = self.ranking.unpicked != 1.0
        is_limited = self.has_least and self.request.is_finished
        return is_limited and bool(self.in_rank_order) and not is_picked

    def least(self, score: float) -> float:
        # Scores before a second look: after it all other files together score little.
        return score / self.ranking.unpicked if self.has_least else 0.0

    @cached_property
    def relevant(self) -> float:
        """The least score of a file shown in the prompt."""
        if not self.is_relative:
            return self.least(_RELEVANT)
        return max(_RELEVANT, _OF_BEST * self.in_rank_order[0].ranked.score)

    @cached_property
    def least_piece(self) -> float:
        """The least probability of a piece that is shown of a file far below the likeliest."""
        likeliest = (max(file.ranked.pieces, default=0.0) for file in self.in_rank_order)
        return _OF_BEST_PIECE * max(islice(likeliest, SEEN_FILES))

    @cached_property
    def leading(self) -> Sequence[int]:
        """The likeliest files in the order of their scores; empty if the ranking is a guess."""
        leading = self.in_rank_order[:_LEADING] if self.has_least else ()
        leading = self.in_rank_order if self.question.is_overview else leading
        return [candidate.number for candidate in leading]

    @cached_property
    def copies(self) -> Mapping[int, int]:
        """For each built or vendored copy, the number of the likelier file with the same content."""
        firsts: dict[bytes, int] = {}
        numbers = [number for number, _, _, ranked in self.in_rank_order if ranked.pieces]
        pairs = ((n, firsts.setdefault(self.corpus.content_hash(n), n)) for n in numbers)
        return {number: first for number, first in pairs if number != first}

    def open(self, number: int) -> OpenedFile | None:
        """Return a file with its lines, ``None`` if its view fails."""
        if number not in self.opened:
            file = self.corpus.reading(number)
            is_code = self.corpus.files[number].is_code
            self.opened[number] = open_file(
                file,  # with slices resolved in its text
                self.by_number[number].mode,
                statements=self.corpus.analysis(number).statements,
                definitions=self._definitions(number) if is_code else (),
                count=self.count,
                is_numbered=self.request.is_numbered,
                around=MORE_TOKENS if self.request.is_xml else 0,
                has_leads=number in self.leading,
                shortens=self._shortens and self.pins.files.get(file.path) != (),
            )
        return self.opened[number]

    def set_shortening(self, *, is_on: bool) -> None:
        """Turn the shortening of long lines on or off; affected files are opened again."""
        if self._shortens == is_on:
            return
        self._shortens = is_on
        for number, file in [*self.opened.items()]:
            if file and has_long_line(file.file.source.text):
                del self.opened[number]
                self._rendered.pop(number, None)

    def rendered(self, number: int, state: ShownLines) -> File:
        """Return a file with the shown lines, cached: a prompt is laid out several times."""
        marks = bytes(state.marks)
        cached = self._rendered.get(number)
        if cached is None or cached[0] != marks:
            opened, file = state.opened, state.opened.file
            if not state.is_complete:
                view = focused(file.view, opened.texts, state.runs(), ends=opened.ends)
                file = file._replace(view=view)
            cached = self._rendered[number] = marks, file
        return cached[1]
