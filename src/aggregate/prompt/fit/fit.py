"""How far down the order of steps a number of tokens goes.

Each step has a price that is never below what it adds to the text, and is the same whatever the budget. Steps are
taken in order until one does not fit, of which the first lines are taken that do: so the lines that a smaller budget
shows are always among those that a larger one does.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from operator import not_, or_
from typing import NamedTuple

from aggregate.code.views import GAP
from aggregate.prompt.fit.steps import Run, Step, StepOrder

# Characters of lines between shown ones that are shown too: some eight tokens at most, such as ``return text`` and a
# bracket, tell more than the line of dots that would stand for them.
_SMALL_GAP = 40
# White space in such lines, and in blank ones alone, with the line breaks; dots stand for lines with more.
_FEW_BLANKS = 200
_MARGIN = 1  # Tokens for each run of lines: apart, two lines may have more tokens than together
# A line enters only behind so many times its own tokens, since no part of it can be shown: the last line that does not
# fit leaves at most a fortieth of the budget unused, half of what may be (rule B-6).
_PATIENCE = 40
# Characters up to which a line is none that this is asked of; they are some hundred tokens.
_SHORT_LINE = 400
# What a line ends with whose statement goes on, so that it is no place to cut.
_UNFINISHED = ("(", "[", "{", ",", "\\", "=", "+", "|", "&", ".", "->", "=>")
# What comments, decorators and attributes begin with, which belong to what follows them.
_LEADING = ("#", "//", "/*", "* ", "@", "--")
_MOST_LEADING = 3  # Such lines that a cut leaves out; a longer comment tells something by itself
# Tokens, and a part of the limit: to leave more than these unused is worse than to cut a statement, such as a table of
# numbers, which has no other place (rule B-6).
_MUCH, _MUCH_OF_ALL = 100, 0.02


@dataclass(frozen=True, slots=True)
class FileLines:
    """The most that may be shown of a file.

    Attributes:
        texts: Its lines, each with its line break.
        find: Returns where lines of the file stand among these: the same numbers where the file is shown as it is.
        frame: Tokens of all that stands around them: heading, fence, separators.
        is_whole: Whether it is shown as a whole or not at all, such as slices that the user picked.
        number: The most tokens of what stands before each line.
        blank: A byte for each line, ``1`` where it is blank, so that C looks through the lines of a prompt.
    """

    texts: Sequence[str]
    find: Callable[[Run], Iterable[Run]]
    frame: int
    is_whole: bool = False
    number: int = 0
    blank: bytes = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "blank", bytes(map(not_, map(str.strip, self.texts))))

    def shown_or_blank(self, marks: bytes | bytearray) -> bytes:
        return bytes(map(or_, marks, self.blank))

    def has_text(self, first: int, last: int) -> bool:
        return self.blank.find(0, first - 1, last) >= 0

    def are_few_blanks(self, first: int, last: int) -> bool:
        """Tell whether the lines from ``first`` to ``last``, if there are any, are blank and hardly take tokens."""
        if last - first >= _FEW_BLANKS or self.has_text(first, last):
            return False
        return sum(map(len, self.texts[first - 1 : last])) <= _FEW_BLANKS


@dataclass(slots=True)
class ShownLines:
    """Which lines of a file are shown: a byte in ``marks`` for each, ``1`` where it is; that of line 1 is the first."""

    lines: FileLines
    marks: bytearray = field(init=False)

    def __post_init__(self) -> None:
        self.marks = bytearray(len(self.lines.texts))

    @property
    def is_empty(self) -> bool:
        return 1 not in self.marks

    @property
    def is_complete(self) -> bool:
        if 0 in self.lines.shown_or_blank(self.marks):
            return False
        return 0 not in self.marks or self.runs() == [(1, len(self.marks))]

    def new_runs(self, wanted: Iterable[Run]) -> list[Run]:
        if self.lines.is_whole:
            return [] if any(self.marks) else [(1, len(self.marks))] if self.marks else []
        numbers: set[int] = set()
        for run in wanted:
            for first, last in self.lines.find(run):
                numbers.update(range(max(first, 1), min(last, len(self.marks)) + 1))
        return as_runs(sorted(number for number in numbers if not self.marks[number - 1]))

    def with_small_gaps(self, runs: Sequence[Run]) -> list[Run]:
        """Return ``runs``, which are not shown yet, with the lines around them that fill a gap and are hardly any.

        The few blank lines that ``runs`` adds are such too, so that all that is shown has its price.
        """
        marks = bytearray(self.marks)
        for first, last in runs:
            marks[first - 1 : last] = b"\1" * (last - first + 1)
        numbers: set[int] = set()
        for first, last in runs:
            above = marks.rfind(1, 0, first - 1) + 1
            begin = above + 1 if self._is_small(above + 1, first - 1) else first
            below = marks.find(1, last)
            below = len(marks) if below < 0 else below
            end = below if self._is_small(last + 1, below) else last
            numbers.update(range(begin, end + 1))
        return as_runs(sorted(numbers))

    def _is_small(self, first: int, last: int) -> bool:
        """Tell whether lines say so little that a line of dots in their place would be worse."""
        if last < first:
            return False
        if not self.lines.has_text(first, last):
            return self.lines.are_few_blanks(first, last)
        if last - first >= _SMALL_GAP:
            return False
        texts = self.lines.texts[first - 1 : last]
        characters = sum(len(text.strip()) for text in texts)
        return characters <= _SMALL_GAP and sum(map(len, texts)) - characters <= _FEW_BLANKS

    def show(self, runs: Iterable[Run]) -> None:
        for first, last in runs:
            self.marks[first - 1 : last] = b"\1" * (last - first + 1)

    def runs(self) -> list[Run]:
        """Return the runs of lines that are shown: gaps of few blank lines too, blank lines next to other gaps not."""
        joined: list[Run] = []
        behind = 1  # the first line behind the last run
        shown = marked_runs(self.marks)
        for first, last in [run for run in shown if self.lines.has_text(*run)] or shown:
            is_gap = not self._is_filled(behind, first - 1)
            if is_gap or not joined:
                joined.append((first if is_gap else behind, last))
            else:
                joined[-1] = joined[-1][0], last
            behind = last + 1
        lines = len(self.marks)
        if joined and self._is_filled(behind, lines):
            joined[-1] = joined[-1][0], lines
        return [self._without_blank_ends(*run) for run in joined]

    def _is_filled(self, first: int, last: int) -> bool:
        return self.marks.find(0, first - 1, last) < 0 or self.lines.are_few_blanks(first, last)

    def _without_blank_ends(self, first: int, last: int) -> Run:
        """Return a run without blank lines next to a gap, which parts it well enough."""
        blank = self.lines.blank
        if self.lines.has_text(first, last):
            first = first if first == 1 else blank.find(0, first - 1) + 1
            last = last if last == len(blank) else blank.rfind(0, 0, last) + 1
        return first, last


class _Entering(NamedTuple):
    """The lines of a step that are not shown yet; where nothing of its file is, the price holds its frame."""

    step: Step
    state: ShownLines
    runs: list[Run]
    opens: bool


@dataclass(slots=True)
class Fit:
    """Takes steps until the tokens are spent."""

    order: StepOrder
    open_file: Callable[[int], FileLines | None]
    count: Callable[[str], int]
    shown: dict[int, ShownLines] = field(default_factory=dict)
    spent: int = 0
    is_exhausted: bool = False
    _steps: Iterator[Step] = field(init=False)
    _waiting: tuple[_Entering, int] | None = field(init=False, default=None)
    _postponed: list[tuple[int, int, Step]] = field(init=False, default_factory=list)
    _gap: int = field(init=False)
    _unusable: set[int] = field(init=False, default_factory=set)

    def __post_init__(self) -> None:
        self._steps = iter(self.order)
        self._gap = self.count(f"{GAP}\n")

    def pin(self, file: int, runs: Iterable[Run]) -> None:
        if state := self._state(file):
            step = Step(file, tuple(runs), is_body=True)
            self._take(_Entering(step, state, state.new_runs(step.runs), state.is_empty))

    def keep(self, file: int, runs: Iterable[Run]) -> None:
        """Show lines that were shown before, of those that may be, at no price: the caller knows what they take."""
        if state := self._state(file):
            end = len(state.marks)
            state.show((first, min(last, end)) for first, last in runs if 1 <= first <= end)

    def advance(self, limit: int) -> None:
        """Take steps until the next one would make ``spent`` exceed ``limit``, and of that one what fits."""
        if self._waiting:
            (entering, self.spent), self._waiting = self._waiting, None
            if not self._try(entering, limit):
                return
        while due := self._next_step():
            step, is_due = due
            state = self._state(step.file)
            runs = state.with_small_gaps(state.new_runs(step.runs)) if state else []
            if state is None or not runs:
                continue
            patience = self._longest_line(state, runs) * _PATIENCE
            if not is_due and patience > self.spent:
                heappush(self._postponed, (patience, len(self._postponed), step))
            elif not self._try(_Entering(step, state, runs, state.is_empty), limit):
                return
        self.is_exhausted = True

    def _next_step(self) -> tuple[Step, bool] | None:
        if self._postponed and self._postponed[0][0] <= self.spent:
            return heappop(self._postponed)[2], True
        step = next(self._steps, None)
        if step is not None:
            return step, False
        return (heappop(self._postponed)[2], True) if self._postponed else None

    def _try(self, entering: _Entering, limit: int) -> bool:
        """Take a step, or what fits of it; return whether all did. Its price is the same if a part was taken before."""
        if self.spent + self._price(entering, entering.runs) <= limit:
            self._take(entering)
            return True
        self._waiting = entering, self.spent
        much = int(max(_MUCH, limit * _MUCH_OF_ALL))
        if part := self._beginning(entering, limit - self.spent, much=much):
            self.spent += self._price(entering, part)
            entering.state.show(part)
        return False

    def _take(self, entering: _Entering) -> None:
        price = self._price(entering, entering.runs)
        entering.state.show(entering.runs)
        self.spent += price
        self.order.spend(entering.step, price)

    def _price(self, entering: _Entering, runs: Sequence[Run]) -> int:
        """Return what showing ``runs`` adds at most: their tokens, a gap before each, and what stands around a file."""
        lines = entering.state.lines
        tokens = sum(self.count("".join(lines.texts[first - 1 : last])) for first, last in runs)
        gap = self._gap + _MARGIN + lines.number
        tokens += sum(last - first + 1 for first, last in runs) * lines.number
        return tokens + len(runs) * gap + (lines.frame + gap if entering.opens else 0)

    def _longest_line(self, state: ShownLines, runs: Sequence[Run]) -> int:
        """Return the tokens of the longest line or run of blank ones, ``0`` where all are of usual length."""
        lines = state.lines
        longest = ""
        for first, last in runs:
            longest = max(longest, *lines.texts[first - 1 : last], key=len)
            for start, end in marked_runs(lines.blank[first - 1 : last]):
                blank = lines.texts[first + start - 2 : first + end - 1]
                if sum(map(len, blank)) > len(longest):
                    longest = "".join(blank)
        return self.count(longest) if len(longest) > _SHORT_LINE else 0

    def _beginning(self, entering: _Entering, limit: int, *, much: int) -> list[Run]:
        """Return the lines that cost ``limit``, up to a statement's end unless that leaves ``much`` unused."""
        lines = entering.state.lines
        if lines.is_whole:
            return []
        numbers = [number for first, last in entering.runs for number in range(first, last + 1)]
        low, high = 0, len(numbers)
        while low < high:
            middle = (low + high + 1) // 2
            if self._price(entering, as_runs(numbers[:middle])) <= limit:
                low = middle
            else:
                high = middle - 1
        end = _end_of_statement([lines.texts[number - 1] for number in numbers[:low]])
        part = as_runs(numbers[:end])
        if limit - (self._price(entering, part) if part else 0) <= much:
            return part
        while low and lines.blank[numbers[low - 1] - 1]:
            low -= 1
        return as_runs(numbers[:low])

    def _state(self, file: int) -> ShownLines | None:
        if file not in self.shown and file not in self._unusable:
            lines = self.open_file(file)
            if lines is None:
                self._unusable.add(file)
            else:
                self.shown[file] = ShownLines(lines)
        return self.shown.get(file)


def _end_of_statement(lines: Sequence[str]) -> int:
    """Return how many lines there are up to the last end of a statement, without the few that lead to another."""
    end = _without_unfinished(lines, len(lines))
    leading = end
    while leading and lines[leading - 1].lstrip().startswith(_LEADING):
        leading -= 1
    is_few = leading < end <= leading + _MOST_LEADING
    return _without_unfinished(lines, leading) if is_few else end


def _without_unfinished(lines: Sequence[str], end: int) -> int:
    while end and (not (text := lines[end - 1].rstrip()) or text.endswith(_UNFINISHED)):
        end -= 1
    return end


def as_runs(numbers: Iterable[int]) -> list[Run]:
    runs: list[Run] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1] = runs[-1][0], number
        else:
            runs.append((number, number))
    return runs


def marked_runs(marks: bytes | bytearray) -> list[Run]:
    """Return the runs of lines whose bytes are ``1``; those of a long file take as many steps as there are runs."""
    runs: list[Run] = []
    start = marks.find(1)
    while start >= 0:
        end = marks.find(0, start)
        end = len(marks) if end < 0 else end
        runs.append((start + 1, end))
        start = marks.find(1, end)
    return runs
