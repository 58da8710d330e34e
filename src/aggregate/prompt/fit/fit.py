"""How far down the order of steps a number of tokens goes.

Each step has a price that is never below what it adds to the text, and is the same whatever the budget. Steps are
taken in order until one does not fit, of which the first lines are taken that do: so the lines that a smaller budget
shows are always among those that a larger one does.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import NamedTuple

from aggregate.code.views import GAP
from aggregate.prompt.fit.lines import FileLines, Run, ShownLines, as_runs, marked_runs
from aggregate.prompt.fit.steps import Step, StepOrder

_MARGIN = 1
"""Tokens for each run of lines: apart, two lines may have more tokens than together."""
_PATIENCE = 40
"""A line enters only behind so many times its own tokens, since no part of it can be shown: the last line that does not
fit leaves at most a fortieth of the budget unused, half of what may be (rule B-6)."""
_SHORT_LINE = 400
"""Characters up to which a line is none that this is asked of; they are some hundred tokens."""
_UNFINISHED = ("(", "[", "{", ",", "\\", "=", "+", "|", "&", ".", "->", "=>")
"""What a line ends with whose statement goes on, so that it is no place to cut."""
_LEADING = ("#", "//", "/*", "* ", "@", "--")
"""What comments, decorators and attributes begin with, which belong to what follows them."""
_MOST_LEADING = 3
"""Such lines that a cut leaves out; a longer comment tells something by itself."""
_MUCH, _MUCH_OF_ALL = 100, 0.02
"""Tokens, and a part of the limit: to leave more than these unused is worse than to cut a statement, such as a table of
numbers, which has no other place (rule B-6)."""


class _Entering(NamedTuple):
    """The lines of a step that are not shown yet; where nothing of its file is, the price holds its frame."""

    step: Step
    state: ShownLines
    runs: list[Run]
    opens: bool


@dataclass(slots=True)
class Fit:
    """Takes steps until the tokens are spent.

    Args:
        order: The steps.
        open_file: Returns a file's lines when its first step is taken, ``None`` for one that cannot be shown.
        count: Returns the tokens of a text.

    Attributes:
        shown: What is shown of each file, by its number.
        spent: The sum of the prices.
        is_exhausted: Whether all that there is is shown.
    """

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
        """Show lines whatever they cost."""
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
        """Return the next step, and whether its long lines may enter now."""
        if self._postponed and self._postponed[0][0] <= self.spent:
            return heappop(self._postponed)[2], True
        step = next(self._steps, None)
        if step is not None:
            return step, False
        return (heappop(self._postponed)[2], True) if self._postponed else None

    def _try(self, entering: _Entering, limit: int) -> bool:
        """Take a step, or what fits of it; return whether all of it did.

        Its price is the same whether a part of it was taken before: what follows depends on what was spent.
        """
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
        frame = lines.frame + self._gap + _MARGIN if entering.opens else 0
        return tokens + len(runs) * (self._gap + _MARGIN) + frame

    def _longest_line(self, state: ShownLines, runs: Sequence[Run]) -> int:
        """Return the tokens of the longest line, or of blank lines, which are trimmed where they are not all shown.

        It is ``0`` where all are of usual length.
        """
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
        """Return as many of a step's lines as cost at most ``limit``, the last of them at the end of a statement.

        Where that would leave more than ``much`` tokens unused, they end at any line.
        """
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
