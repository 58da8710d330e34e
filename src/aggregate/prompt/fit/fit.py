"""Show lines of files up to a token limit.

Lines are shown step by step in a given order. The price of a step is an upper bound of its added tokens, and does not
depend on the limit. Of the first step beyond the limit only the first lines are shown. So a larger limit shows all
lines of a smaller limit.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import chain, compress, islice
from operator import not_, or_
from typing import Final, NamedTuple

from aggregate.base.files import Run, Span, as_runs, marked_runs
from aggregate.prompt.files import File
from aggregate.prompt.fit.entry_order import Step, StepOrder

# Characters of a gap that is filled: up to eight tokens, such as ``return text`` and a bracket, say more than a mark.
_SMALL_GAP = 40
_SMALL_LINE = 100  # the same for a single line
# White space (with line breaks) that a filled gap may have at most.
_FEW_BLANKS = 200
_MARGIN = 1  # Tokens for each run of lines: two lines may have more tokens apart than together
# A statement cannot be cut. It enters only after this multiple of its tokens is spent, so that the last one that does
# not fit leaves at most a fortieth of the budget unused, half of the allowed rest (rule B-6).
_PATIENCE = 40
# Tokens of a statement that need not wait: a fortieth of 8,000, where the rule begins to hold. The number of characters
# is certainly below it.
_SHORT, _FEW_CHARACTERS = 200, 400
# A statement that would end before so many tokens waits only for this multiple of its tokens beyond ``_SHORT``: it has
# entered before the rule begins to hold.
_SOON, _SOON_PATIENCE = 6_500, 4
# Tokens and fraction of the limit: if no other step is left, a statement is cut rather than leave more unused (rule
# B-6).
_MAX_UNUSED, _MAX_UNUSED_PART = 100, 0.02
# Lines with a word below which a file in part says no more than its name in the tree of an overview.
_FEWEST_LINES: Final = 3
_WORD: Final = re.compile(r"\w")


@dataclass(frozen=True, slots=True)
class OpenedFile:
    """A view's lines, with data on statements and tokens.

    Attributes:
        file: The file with its text and view.
        texts: Lines with line breaks.
        frame: Tokens of heading, fence and separators.
        gap: Maximum tokens of a gap mark, which represents hidden lines.
        is_whole: All lines are shown or none, such as slices that the user picked.
        number: Maximum tokens of a line number.
        statements: The first line of each line's statement; ``()`` if every line is its own statement.
        ends: The last line of each line's definition, ``0`` at its end or outside; ``()`` without definitions.
        leads: Lines that explain a definition, by the first line of its signature.
        spans: The view's lines by lines of the file, sorted; ``None`` if they are the same lines.
        is_shortened: Parts of long lines are left out.
        blank: ``1`` for each blank line, as bytes, which are fast to search.
        parts: The runs of each statement with several lines, by its first line.
        unmapped: Lines of the view without a line of the file, shown with any other.
    """

    file: File
    texts: Sequence[str]
    frame: int
    gap: int
    is_whole: bool = False
    number: int = 0
    statements: Sequence[int] = ()
    ends: Sequence[int] = ()
    leads: Mapping[int, Run] = field(default_factory=dict)
    spans: Sequence[Span] | None = None
    is_shortened: bool = False
    blank: bytes = field(init=False, repr=False)
    parts: Mapping[int, Sequence[Run]] = field(init=False, repr=False)
    unmapped: Sequence[Run] = field(init=False, repr=False)
    _longest: dict[Run, str] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "blank", bytes(map(not_, map(str.strip, self.texts))))
        parts: dict[int, list[Run]] = {}
        pairs = enumerate(self.statements, start=1)
        for line, first in [(line, first) for line, first in pairs if line != first]:
            runs = parts.setdefault(first, [(first, first)])
            if runs[-1][1] == line - 1:
                runs[-1] = runs[-1][0], line
            else:
                runs.append((line, line))
        object.__setattr__(self, "parts", parts)
        unmapped: list[Run] = []
        if self.spans is not None:
            covered = bytearray(len(self.texts))
            for start, end, _, _ in self.spans:
                mark(covered, start, end)
            unmapped = marked_runs(covered, 0)
        object.__setattr__(self, "unmapped", unmapped)

    def find(self, run: Run) -> Iterator[Run]:
        """Yield the view's lines for a run of the file's lines."""
        if self.spans is None:
            yield run
            return
        yield from self.unmapped
        for start, end, first, last in self.spans:
            if last < run[0] or first > run[1]:
                continue
            if end - start == last - first:
                yield start + max(run[0], first) - first, start + min(run[1], last) - first
            else:
                yield start, end

    def whole(self, runs: Iterable[Run]) -> bytearray:
        """Return marks for all lines of the statements that have a line in ``runs``."""
        marks = bytearray(len(self.texts))
        for first, last in runs:
            begin, end = max(first, 1), min(last, len(marks))
            for part in ((begin, end), *self.statements_of(begin, end)):
                mark(marks, *part)
        return marks

    def statements_of(self, first: int, last: int) -> Iterator[Run]:
        """Yield the lines of each multi-line statement that has a line from ``first`` to ``last``."""
        if self.parts:
            for head in set(self.statements[first - 1 : last]):
                yield from self.parts.get(head, ())

    def by_statement(self, numbers: Iterable[int]) -> list[list[int]]:
        """Group the numbers of lines by statement; consecutive blank lines form a group."""
        groups: dict[int, list[int]] = {}
        first = 0  # line of the group, negated for blank lines
        for number in numbers:
            head = self.statements[number - 1] if self.statements else number
            is_blank = self.blank[number - 1] and head not in self.parts
            if not (is_blank and first < 0):
                first = -number if is_blank else head
            groups.setdefault(first, []).append(number)
        return list(groups.values())

    def longest_statement(self, first: int, last: int) -> str:
        """Return the text of the longest statement from ``first`` to ``last``; results are cached."""
        if (first, last) not in self._longest:
            texts = []
            for group in self.by_statement(range(first, last + 1)):
                texts.append("".join(self.texts[number - 1] for number in group))
            self._longest[first, last] = max(texts, key=len)
        return self._longest[first, last]

    def shown_or_blank(self, marks: bytes | bytearray) -> bytes:
        return bytes(map(or_, marks, self.blank))

    def has_text(self, first: int, last: int) -> bool:
        return self.blank.find(0, first - 1, last) >= 0

    def are_few_blanks(self, first: int, last: int) -> bool:
        """Return whether the lines from ``first`` to ``last`` are blank and have few characters."""
        if last - first >= _FEW_BLANKS or self.has_text(first, last):
            return False
        return sum(map(len, self.texts[first - 1 : last])) <= _FEW_BLANKS


@dataclass(slots=True)
class ShownLines:
    """The visible lines of a file: its ``marks`` have the byte ``1`` for each."""

    opened: OpenedFile
    marks: bytearray = field(init=False)

    def __post_init__(self) -> None:
        self.marks = bytearray(len(self.opened.texts))

    @property
    def is_empty(self) -> bool:
        return 1 not in self.marks

    @property
    def is_complete(self) -> bool:
        if 0 in self.opened.shown_or_blank(self.marks):
            return False
        return 0 not in self.marks or self.runs() == [(1, len(self.marks))]

    def new_runs(self, requested: Iterable[Run]) -> list[Run]:
        if self.opened.is_whole:
            return [(1, len(self.marks))] if self.marks and not any(self.marks) else []
        leads = [self.opened.leads[first] for first, _ in requested if first in self.opened.leads]
        runs = chain.from_iterable(map(self.opened.find, (*requested, *leads)))
        new: list[Run] = []
        for first, last in marked_runs(self.opened.whole(runs)):
            new += marked_runs(self.marks, 0, first, last)
        return new

    def with_small_gaps(self, runs: Sequence[Run]) -> list[Run]:
        """Return ``runs``, extended over small gaps to visible lines."""
        marks = bytearray(self.marks)
        for first, last in runs:
            mark(marks, first, last)
        filled = bytearray(len(marks))
        for first, last in runs:
            above = marks.rfind(1, 0, first - 1) + 1
            begin = above + 1 if self._is_small(above + 1, first - 1, marks) else first
            below = marks.find(1, last)
            below = len(marks) if below < 0 else below
            end = below if self._is_small(last + 1, below, marks) else last
            mark(filled, begin, end)
        return marked_runs(filled)

    def _is_small(self, first: int, last: int, marks: bytearray) -> bool:
        """Return whether lines are better shown than a mark: few short ones with whole statements."""
        if last < first:
            return False
        if not self.opened.has_text(first, last):
            return self.opened.are_few_blanks(first, last)
        if last - first >= _SMALL_GAP:
            return False
        for begin, end in self.opened.statements_of(first, last):
            above, below = min(end, first - 1), max(begin - 1, last)
            if marks.find(0, begin - 1, above) >= 0 or marks.find(0, below, end) >= 0:
                return False
        texts = self.opened.texts[first - 1 : last]
        characters = sum(len(text.strip()) for text in texts)
        most = _SMALL_LINE if first == last else _SMALL_GAP
        return characters <= most and sum(map(len, texts)) - characters <= _FEW_BLANKS

    def show(self, runs: Iterable[Run]) -> None:
        for first, last in runs:
            mark(self.marks, first, last)

    def runs(self) -> list[Run]:
        """Return the visible lines as runs; a gap of few blank lines does not separate runs."""
        joined: list[Run] = []
        following, lines = 1, len(self.marks)  # the line after the last run
        visible = marked_runs(self.marks)
        for first, last in [run for run in visible if self.opened.has_text(*run)] or visible:
            is_gap = not self._is_filled(following, first - 1)
            if is_gap or not joined:
                joined.append((first if is_gap else following, last))
            else:
                joined[-1] = joined[-1][0], last
            following = last + 1
        if joined and self._is_filled(following, lines):
            joined[-1] = joined[-1][0], lines
        return [self._without_blank_ends(*run) for run in joined]

    def _is_filled(self, first: int, last: int) -> bool:
        return self.marks.find(0, first - 1, last) < 0 or self.opened.are_few_blanks(first, last)

    def _without_blank_ends(self, first: int, last: int) -> Run:
        blank = self.opened.blank
        if self.opened.has_text(first, last):
            first = first if first == 1 else blank.find(0, first - 1) + 1
            last = last if last == len(blank) else blank.rfind(0, 0, last) + 1
        return first, last


def mark(marks: bytearray, first: int, last: int) -> None:
    marks[first - 1 : last] = b"\1" * (last - first + 1)


class _Entering(NamedTuple):
    """A step with its hidden lines."""

    step: Step
    state: ShownLines
    runs: list[Run]
    opens: bool  # the file has no visible lines yet, so the price includes its frame
    is_last: bool = False  # all other steps wait


@dataclass(slots=True)
class Fit:
    """Shows lines of files, step by step, until a token limit is reached."""

    order: StepOrder
    open_file: Callable[[int], OpenedFile | None]
    count: Callable[[str], int]
    shown: dict[int, ShownLines] = field(default_factory=dict)
    spent: int = 0
    is_exhausted: bool = False
    _steps: Iterator[Step] = field(init=False)
    _waiting: tuple[_Entering, int] | None = field(init=False, default=None)
    _postponed: list[tuple[int, int, Step]] = field(init=False, default_factory=list)
    _unusable: set[int] = field(init=False, default_factory=set)

    def __post_init__(self) -> None:
        self._steps = iter(self.order)

    def pin(self, file: int, runs: Iterable[Run]) -> None:
        if state := self._state(file):
            step = Step(file, tuple(runs), is_body=True)
            entering = _Entering(step, state, state.new_runs(step.runs), state.is_empty)
            self._take(entering, self._price(entering, entering.runs))

    def keep(self, file: int, runs: Iterable[Run]) -> None:
        """Show lines of an earlier prompt without counting their tokens.

        The caller has subtracted these tokens from the limit.
        """
        if state := self._state(file):
            end = len(state.marks)
            state.show((first, min(last, end)) for first, last in runs if 1 <= first <= end)

    def drop_bare(self) -> None:
        """Hide the files that show hardly more than their names, and free their tokens."""
        for number, state in [*self.shown.items()]:
            shown = compress(state.opened.texts, state.marks)
            if not state.is_complete and sum(map(bool, map(_WORD.search, shown))) < _FEWEST_LINES:
                del self.shown[number]
                self._unusable.add(number)

    def advance(self, limit: int) -> None:
        """Take steps until ``limit`` tokens are spent.

        Of the step exceeding the limit show the first lines.
        """
        if self._waiting:
            (entering, self.spent), self._waiting = self._waiting, None
            if not self._try(entering, limit):
                return
        while next_step := self._next_step():
            step, patience = next_step
            is_last = patience > self.spent
            state = self._state(step.file)
            runs = state.with_small_gaps(state.new_runs(step.runs)) if state else []
            if state is None or not runs:
                continue
            wait = 0 if patience else self._patience(state.opened, runs)
            if wait > self.spent:
                heappush(self._postponed, (wait, len(self._postponed), step))
            elif not self._try(_Entering(step, state, runs, state.is_empty, is_last), limit):
                return
        self.is_exhausted = True

    def _next_step(self) -> tuple[Step, int] | None:
        """Return the next step, and the tokens that had to be spent before it."""
        is_due = bool(self._postponed) and self._postponed[0][0] <= self.spent
        following = None if is_due else next(self._steps, None)
        if following:
            return following, 0
        if self._postponed:
            patience, _, step = heappop(self._postponed)
            return step, patience
        return None

    def _try(self, entering: _Entering, limit: int) -> bool:
        """Show the lines of a step; return whether all fit.

        If not all fit, show as many lines as the limit allows.
        """
        price = self._price(entering, entering.runs)
        if self.spent + price <= limit:
            self._take(entering, price)
            return True
        self._waiting = entering, self.spent
        rest = int(max(_MAX_UNUSED, limit * _MAX_UNUSED_PART)) if entering.is_last else limit
        if part := self._beginning(entering, limit - self.spent, max_unused=rest):
            self.spent += self._price(entering, part)
            entering.state.show(part)
        return False

    def _take(self, entering: _Entering, price: int) -> None:
        entering.state.show(entering.runs)
        self.spent += price
        self.order.spend(entering.step, price)

    def _price(self, entering: _Entering, runs: Sequence[Run]) -> int:
        """Return an upper bound of the tokens added by ``runs``.

        Gap marks and the heading of a new file count.
        """
        file = entering.state.opened
        tokens = sum(self.count("".join(file.texts[first - 1 : last])) for first, last in runs)
        gap = file.gap + _MARGIN + file.number
        tokens += sum(last - first + 1 for first, last in runs) * file.number
        # The rest of a definition gets a gap mark of its own.
        gaps = len(runs) + sum(last < file.ends[last - 1] for _, last in runs if file.ends)
        return tokens + gaps * gap + (file.frame + gap if entering.opens else 0)

    def _patience(self, file: OpenedFile, runs: Sequence[Run]) -> int:
        """Return how many tokens must be spent before the longest statement among ``runs`` may enter."""
        longest = ""
        for first, last in runs:
            texts = file.texts[first - 1 : last]
            if sum(map(len, texts)) > max(_FEW_CHARACTERS, len(longest)):
                longest = max(longest, file.longest_statement(first, last), key=len)
        tokens = self.count(longest) if len(longest) > _FEW_CHARACTERS else 0
        if tokens <= _SHORT:
            return 0
        soon = _SOON_PATIENCE * (tokens - _SHORT)
        return soon if max(soon, self.spent) + tokens <= _SOON else tokens * _PATIENCE

    def _beginning(self, entering: _Entering, limit: int, *, max_unused: int) -> list[Run]:
        """Return the first statements of a step within ``limit`` tokens.

        The next statement is cut if more than ``max_unused`` tokens would be left.
        """
        file = entering.state.opened
        if file.is_whole:
            return []
        numbers = [number for first, last in entering.runs for number in range(first, last + 1)]
        nonblank = (index for index, number in enumerate(numbers) if not file.blank[number - 1])
        # A line that is not blank costs at least a token, so no more lines can fit.
        end = next(islice(nonblank, max(limit, 0) + 1, None), len(numbers))
        marks = file.whole(as_runs(numbers[:end]))
        numbers = [number for number in numbers if marks[number - 1]]
        fitting = self._fitting(entering, file.by_statement(numbers), limit)
        if limit - (self._price(entering, fitting) if fitting else 0) > max_unused:
            fitting = self._fitting(entering, [[number] for number in numbers], limit)
        return fitting

    def _fitting(
        self, entering: _Entering, parts: Sequence[Sequence[int]], limit: int
    ) -> list[Run]:
        """Return the lines of the first ``parts`` within ``limit`` tokens, without blank lines at the end."""
        blank = entering.state.opened.blank
        low, high = 0, len(parts)
        while low < high:
            middle = (low + high + 1) // 2
            runs = as_runs(sorted(chain.from_iterable(parts[:middle])))
            if self._price(entering, runs) <= limit:
                low = middle
            else:
                high = middle - 1
        while low and all(blank[number - 1] for number in parts[low - 1]):
            low -= 1
        return as_runs(sorted(chain.from_iterable(parts[:low])))

    def _state(self, number: int) -> ShownLines | None:
        if number not in self.shown and number not in self._unusable:
            file = self.open_file(number)
            if file is None:
                self._unusable.add(number)
            else:
                self.shown[number] = ShownLines(file)
        return self.shown.get(number)
