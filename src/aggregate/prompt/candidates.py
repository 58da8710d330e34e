"""The files that may enter a prompt with a budget: what each may show at most, and what fitting needs to know of it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import gt
from typing import Final, NamedTuple

from aggregate.base.text import split_lines
from aggregate.base.values import (
    SEPARATOR,
    FileChoice,
    Level,
    Place,
    RenderedFile,
    View,
    ViewMode,
    ViewRequest,
    row_maker,
)
from aggregate.code.syntax import fence_tag
from aggregate.code.views import focused, is_the_text
from aggregate.project.files import SourceFile
from aggregate.project.index import Index
from aggregate.prompt.file_rendering import refusals
from aggregate.prompt.fit.fit import FileLines, ShownLines, marked_runs
from aggregate.prompt.fit.steps import (
    ALL_LINES,
    CHARACTERS_PER_TOKEN,
    DENSITY,
    Fittable,
    Run,
    signature_run,
)
from aggregate.prompt.layout import file_block
from aggregate.prompt.ranked_files import RankedFiles
from aggregate.prompt.request import FOCUS_TIER, FocusIndex, Request, unknown_focus
from aggregate.prompt.selection import ResolvedFile
from aggregate.prompt.token_counts import SavedCounts
from aggregate.prompt.view_pool import render_all
from aggregate.ranking import DefinedName, FileAnalysis, Piece, RankedFile

# Lines of a definition with others in it that is pinned as a whole; a place between the methods of a class of a
# thousand lines does not mean them all.
_LONGEST = 60
_CONTEXT = 12  # Lines on each side of a place in a longer one


@dataclass(frozen=True, slots=True)
class Pins:
    """Files that are shown whatever they cost: the places in each by its path, ``()`` for all of it.

    ``doubts`` holds a sentence for each place that is none of the prompt's files.
    """

    files: dict[str, tuple[Place, ...]]
    doubts: tuple[str, ...] = ()

    def runs(self, path: str, definitions: Sequence[DefinedName]) -> tuple[Run, ...]:
        return tuple(_runs_around(self.files[path], definitions)) or (ALL_LINES,)


def find_pins(request: Request, files: Sequence[ResolvedFile]) -> Pins:
    pinned: dict[str, tuple[Place, ...]] = {
        file.path: ()
        for file in files
        if (file.item.force_full or file.entry.tier == FOCUS_TIER) and file.item.auto_aggregate
    }
    doubts: list[str] = []
    focus = request.task.focus if request.task else ()
    named = {place.path for place in focus}
    wanted = (*focus, *(Place(path) for path in request.focus_files if path not in named))
    index = FocusIndex((file.path, file.item.path) for file in files if wanted)
    for place in wanted:
        paths = [files[number].path for number in index.find(place.path)]
        # Of a Tier 3 prompt's focus files the prompt itself tells.
        if not paths and place.path not in request.focus_files:
            doubts.append(unknown_focus(place.path, [file.path for file in files]))
        for path in paths:
            before = pinned.get(path)
            is_whole = not place.first or before == ()
            pinned[path] = () if is_whole else (*(before or ()), place)
    return Pins(pinned, tuple(doubts))


def _runs_around(places: Sequence[Place], definitions: Sequence[DefinedName]) -> Iterator[Run]:
    """Yield the lines of places and the innermost definitions around them, with the signatures they stand in."""
    for place in places:
        yield place.first, place.last
        touching = [
            number
            for number, definition in enumerate(definitions)
            if definition.first <= place.last and definition.last >= place.first
        ]
        outer = {definitions[number].outer for number in touching}
        for number in touching:
            yield signature_run(definitions[number])
            if number not in outer:
                yield _lines_around(place, number, definitions)


def _lines_around(place: Place, number: int, definitions: Sequence[DefinedName]) -> Run:
    """Return the lines of a definition around a place in it, all unless it is long and holds others."""
    definition = definitions[number]
    inner = [other for other in definitions if other.outer == number]
    if not inner or definition.last - definition.first < _LONGEST:
        return definition.first, definition.last
    before = (other.last + 1 for other in inner if other.last < place.first)
    behind = (other.first - 1 for other in inner if other.first > place.last)
    first = max(definition.first, place.first - _CONTEXT, *before)
    return first, min(definition.last, place.last + _CONTEXT, *behind)


# Views that are shown as a whole: their lines were picked by the user, or are a digest.
_ON_DEMAND = frozenset({ViewMode.MASKED, ViewMode.CUSTOM, ViewMode.SUMMARY})
# The level that each view stands for.
LEVELS: Final = {mode: Level(mode.value) for mode in ViewMode}
# Of an empty file: that there is nothing in it is told last.
_NOTHING: Final = Piece(1, 1, -1, terms=0, characters=0)


class Candidate(NamedTuple):
    """A file of the corpus that may be shown: its number there, the most that is shown of it, and its score."""

    number: int
    file: ResolvedFile
    mode: ViewMode
    ranked: RankedFile


class _Opened(NamedTuple):
    source: SourceFile
    view: View
    lines: FileLines


class Candidates:
    """The ranked files of a request, to be fitted to one budget after another.

    Texts are read and views made when fitting first asks for a file, and kept for the next budget.
    """

    def __init__(
        self,
        request: Request,
        ranked: RankedFiles,
        *,
        index: Index,
        before: "Candidates | None" = None,
    ) -> None:
        self.ranked = ranked
        self.files = ranked.files
        self.count: Callable[[str], int] = before.count if before else SavedCounts(index)
        self.pins = find_pins(request, ranked.files.selection.files)
        self._is_scored = request.task is not None
        self._corpus = ranked.files.corpus
        self._opened: dict[int, _Opened | None] = {}
        self._rendered: dict[int, tuple[bytes, RenderedFile]] = {}
        shown, pinned = self._corpus.shown, self.pins.files
        # By the entries of the files, of which a glob has one for all; they live as long as the files.
        modes: dict[int, ViewMode | None] = {}
        self.in_rank_order: list[Candidate] = []
        new_candidate = row_maker(Candidate)
        for entry in ranked.ranking.files:  # a loop for a hundred thousand files
            number = entry[0]
            file = shown[number]
            key = id(file.entry)
            if key not in modes:
                modes[key] = _most(file, is_summary=request.is_summary)
            mode = ViewMode.FULL if file.path in pinned else modes[key]
            if mode is not None:
                self.in_rank_order.append(new_candidate((number, file, mode, entry)))
        self.by_number = {candidate[0]: candidate for candidate in self.in_rank_order}
        if before is None:
            return
        for number, opened in before._opened.items():
            if opened and self.by_number.get(number) == before.by_number[number]:
                self._opened[number] = opened
                if number in before._rendered:
                    self._rendered[number] = before._rendered[number]

    @cached_property
    def pinned(self) -> Mapping[int, tuple[Run, ...]]:
        pins = self.pins.files
        numbers = (
            [each.number for each in self.in_rank_order if each.file.path in pins] if pins else []
        )
        paths = {number: self.by_number[number].file.path for number in sorted(numbers)}
        return {
            number: self.pins.runs(path, self._analysis(number).definitions if pins[path] else ())
            for number, path in paths.items()
        }

    def _analysis(self, number: int) -> FileAnalysis:
        return self._corpus.analyses([number])[0]

    def fittables(self, numbers: Sequence[int]) -> list[Fittable]:
        return list(map(self._fittable, numbers, self._corpus.analyses(numbers)))

    def _fittable(self, number: int, analysis: FileAnalysis) -> Fittable:
        ranked = self.by_number[number].ranked
        pieces = analysis.pieces or (_NOTHING,)
        chances = ranked.pieces
        if len(chances) != len(pieces):  # not looked at, or the file has changed meanwhile
            total = sum(piece.characters for piece in pieces) or 1
            chances = [ranked.score * piece.characters / total for piece in pieces]
        if (
            self.ranked.question.is_empty
        ):  # the pieces of likelier files enter first, however long they are
            best = max(chances, default=0.0) or 1.0
            chances = [
                ranked.score
                * chance
                / best
                * max(1, piece.characters / CHARACTERS_PER_TOKEN) ** DENSITY
                for piece, chance in zip(pieces, chances, strict=True)
            ]
        is_prose = not self._corpus.files[number].is_code
        return Fittable(number, analysis.definitions, pieces, chances, is_prose)

    def lines(self, number: int) -> FileLines | None:
        if number not in self._opened:
            source = self._corpus.source(number)
            self._opened[number] = _open(self.by_number[number], source, self.count)
        opened = self._opened[number]
        return opened.lines if opened else None

    @cached_property
    def refused(self) -> tuple[str, ...]:
        return refusals(self.files.selection)

    @cached_property
    def positions(self) -> Mapping[str, int]:
        return {file.path: number for number, file in enumerate(self.files.selection.files)}

    @cached_property
    def estimates(self) -> Sequence[int]:
        """About how many tokens each file of the corpus has, which is asked of all of them several times."""
        return [facts.characters // CHARACTERS_PER_TOKEN or 1 for facts in self._corpus.files]

    def rendered(self, number: int, state: ShownLines) -> RenderedFile:
        # A prompt is laid out several times, with the same lines of most files.
        marks = bytes(state.marks)
        known = self._rendered.get(number)
        if known is None or known[0] != marks:
            known = self._rendered[number] = marks, self._render(number, state)
        return known[1]

    def _render(self, number: int, state: ShownLines) -> RenderedFile:
        opened, (_, file, mode, _) = self._opened[number], self.by_number[number]
        if opened is None:
            raise KeyError(number)
        source, view, lines = opened
        if not state.is_complete:
            view = focused(view, lines.texts, state.runs())
        return RenderedFile(
            path=file.path,
            entry=file.item.path,
            content=view.text,
            source=source.text,
            view_mode=mode,
            auto_aggregate=True,
            force_full=file.item.force_full,
            tier=file.entry.tier,
            language=view.language,
            spans=view.spans,
            secrets=source.secrets,
            redacted=source.redacted,
        )

    @cached_property
    def hidden(self) -> Mapping[str, FileChoice]:
        """What is told by path of candidates of which nothing is shown, kept for later budgets."""
        scored, content_hash = self._is_scored, self._corpus.content_hash
        return {
            file.path: FileChoice(
                file.path,
                file.entry.item.path,
                Level.LEFT_OUT,
                LEVELS[mode],
                score=ranked.score if scored else None,
                rank=rank if scored else None,
                reasons=ranked.reasons,
                content_hash=content_hash(number).hex(),
                size=self.estimates[number],
            )
            for rank, (number, file, mode, ranked) in enumerate(self.in_rank_order, start=1)
        }

    def choice(self, number: int, marks: bytes, later: bytes, *, tokens: int) -> FileChoice:
        """Return what is told of a candidate that shows some lines, or does with some more of the budget."""
        return self.hidden[self.by_number[number].file.path]._replace(
            level=self.level(number, marks),
            pinned=number in self.pinned,
            tokens=tokens,
            definitions=self._definitions_in_full(number, marks),
            next=self.level(number, later) if sum(later) > sum(marks) else None,
            lines=tuple(marked_runs(marks)),
        )

    def level(self, number: int, marks: bytes) -> Level:
        opened = self._opened.get(number)
        if opened is None or not any(marks):
            return Level.LEFT_OUT
        most = LEVELS[self.by_number[number].mode]
        if 0 not in opened.lines.shown_or_blank(marks):
            return most
        if most is not Level.FULL:
            return Level.OUTLINE
        signatures = bytearray(len(marks) + 1)
        for definition in self._analysis(number).definitions:
            first, last = signature_run(definition)
            signatures[first - 1 : last] = b"\1" * (last - first + 1)
        return Level.FOCUSED if any(map(gt, marks, signatures)) else Level.OUTLINE

    def _definitions_in_full(self, number: int, marks: bytes) -> tuple[str, ...]:
        opened, mode = self._opened.get(number), self.by_number[number].mode
        if opened is None or not any(marks) or mode is not ViewMode.FULL or opened.lines.is_whole:
            return ()
        told = opened.lines.shown_or_blank(marks)
        return tuple(
            dict.fromkeys(
                ".".join(definition.path)
                for definition in self._analysis(number).definitions
                if told.find(0, definition.signature - 1, definition.last) < 0
            )
        )


def _most(file: ResolvedFile, *, is_summary: bool) -> ViewMode | None:
    if not file.item.auto_aggregate or file.entry.view_mode is ViewMode.NONE:
        return None
    return ViewMode.SUMMARY if is_summary else file.entry.view_mode


def _open(candidate: Candidate, source: SourceFile, count: Callable[[str], int]) -> _Opened | None:
    """Return a file's text and lines, ``None`` where its view cannot be made."""
    path, mode, item = candidate.file.path, candidate.mode, candidate.file.item
    is_text = is_the_text(path, mode)
    if is_text:
        view = View(source.text, (), fence_tag(path, source.text))
    else:
        request = ViewRequest(path, source.text, mode, item.ast_mask, tuple(item.custom_slices))
        made = next(iter(render_all([request], workers=1)))
        if not isinstance(made, View):
            return None
        view = made
    texts = split_lines(view.text) or ["\n"]  # so that an empty file can be shown
    if not texts[-1].endswith("\n"):
        texts[-1] += "\n"
    # What stands around its lines, with as long a fence as any part of its text needs.
    block = file_block(path, view.text, language=view.language)
    ticks = "`" * (len(block) - len(block.rstrip("`")))
    frame = file_block(path, "", language=view.language).replace("```", ticks or "```")
    is_cells = mode is ViewMode.FULL and not is_text
    find = (lambda run: (run,)) if is_text else _finder(view, len(texts))
    is_whole = mode in _ON_DEMAND or is_cells
    return _Opened(source, view, FileLines(texts, find, count(frame + SEPARATOR), is_whole))


def _finder(view: View, lines: int) -> Callable[[Run], Iterable[Run]]:
    """Return what finds the lines of a view that stand for those of its file; those from nowhere are always shown."""
    spans = sorted(view.spans)
    covered = bytearray(lines)
    for span in spans:
        covered[span.start - 1 : span.end] = b"\1" * (span.end - span.start + 1)
    always = [(line, line) for line, mark in enumerate(covered, start=1) if not mark]

    def find(run: Run) -> Iterator[Run]:
        yield from always
        for start, end, first, last in spans:
            if last < run[0] or first > run[1]:
                continue
            if end - start == last - first:
                yield start + max(run[0], first) - first, start + min(run[1], last) - first
            else:
                yield start, end

    return find
