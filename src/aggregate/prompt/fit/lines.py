"""A file by its lines, as fitting sees it: what may be shown of it, and which of it is shown."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from operator import not_, or_

Run = tuple[int, int]
"""First and last line, 1-based and inclusive."""
ALL_LINES: Run = (1, 1 << 31)
"""From the first line to beyond the last one of any file."""
_SMALL_GAP = 40
"""Characters of lines between shown ones that are shown too: some eight tokens at most, such as ``return text`` and a
bracket, tell more than the line of dots that would stand for them."""
_FEW_BLANKS = 200
"""White space in such lines, and in blank ones alone, with the line breaks; dots stand for lines with more."""


@dataclass(frozen=True, slots=True)
class FileLines:
    """The most that may be shown of a file.

    Attributes:
        texts: Its lines, each with its line break.
        find: Returns where lines of the file stand among these: the same numbers where the file is shown as it is.
        frame: Tokens of all that stands around them: heading, fence, separators.
        is_whole: Whether it is shown as a whole or not at all, such as slices that the user picked.
        blank: A byte for each line, ``1`` where it is blank, so that C looks through the lines of a prompt.
    """

    texts: Sequence[str]
    find: Callable[[Run], Iterable[Run]]
    frame: int
    is_whole: bool = False
    blank: bytes = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "blank", bytes(map(not_, map(str.strip, self.texts))))

    def shown_or_blank(self, marks: bytes | bytearray) -> bytes:
        """Return a byte for each line, ``0`` where it has text and is not marked."""
        return bytes(map(or_, marks, self.blank))

    def has_text(self, first: int, last: int) -> bool:
        """Tell whether a line from ``first`` to ``last`` is not blank."""
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
        """Whether nothing is shown."""
        return 1 not in self.marks

    @property
    def is_complete(self) -> bool:
        """Whether nothing is left out, and no line of dots stands for blank lines either."""
        if 0 in self.lines.shown_or_blank(self.marks):
            return False
        return 0 not in self.marks or self.runs() == [(1, len(self.marks))]

    def new_runs(self, wanted: Iterable[Run]) -> list[Run]:
        """Return the runs of ``wanted`` lines of the file that are not shown yet, in order."""
        if self.lines.is_whole:
            return [] if any(self.marks) else [(1, len(self.marks))] if self.marks else []
        numbers: set[int] = set()
        for run in wanted:
            for first, last in self.lines.find(run):
                numbers.update(range(max(first, 1), min(last, len(self.marks)) + 1))
        return as_runs(sorted(number for number in numbers if not self.marks[number - 1]))

    def with_small_gaps(self, runs: Sequence[Run]) -> list[Run]:
        """Return ``runs``, which are not shown yet, with the lines beside them that fill a gap and are hardly any.

        The lines between what is shown and the file's ends are such too, and so are the few blank lines that ``runs``
        adds, so that all that is shown has its price.
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
        """Show these lines too."""
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
        """Tell whether the lines from ``first`` to ``last`` are shown, or few enough blank ones to be shown too."""
        return self.marks.find(0, first - 1, last) < 0 or self.lines.are_few_blanks(first, last)

    def _without_blank_ends(self, first: int, last: int) -> Run:
        """Return a run without blank lines next to a gap, which parts it well enough."""
        blank = self.lines.blank
        if self.lines.has_text(first, last):
            first = first if first == 1 else blank.find(0, first - 1) + 1
            last = last if last == len(blank) else blank.rfind(0, 0, last) + 1
        return first, last


def as_runs(numbers: Iterable[int]) -> list[Run]:
    """Return ascending numbers as runs of consecutive ones."""
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
