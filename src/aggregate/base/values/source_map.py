"""Where each line of a prompt comes from, in runs of lines (rule L-1)."""

from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from itertools import accumulate
from typing import NamedTuple


class OriginKind(StrEnum):
    """What a line of a prompt was made of."""

    FILE = "file"
    TURN = "turn"
    BEAD = "bead"
    RESULT = "result"
    SCREENSHOT = "screenshot"
    GENERATED = "generated"


class Label(IntEnum):
    """What a run of lines is; recorded maps hold the numbers, so they never change."""

    VERBATIM = 0
    PART = 1
    REDACTED = 2
    NOT_SHOWN = 3
    SUMMARY = 4
    NOTE = 5
    MESSAGE = 6
    HEADING = 7
    FENCE = 8
    BLANK = 9
    SECTION = 10
    REMAINDER = 11
    REMOVED = 12
    TURN = 13
    BEAD = 14
    RESULT = 15
    SCREENSHOT = 16
    RULE = 17
    SECTION_NOTE = 18
    EARLIER = 19


_MEANINGS: dict[Label, tuple[OriginKind, str]] = {
    Label.VERBATIM: (OriginKind.FILE, ""),
    Label.PART: (OriginKind.FILE, ""),
    Label.REDACTED: (OriginKind.FILE, "a line with a secret that was replaced"),
    Label.NOT_SHOWN: (OriginKind.GENERATED, "not shown: {lines} of {source}"),
    Label.SUMMARY: (OriginKind.GENERATED, "summary of {source}"),
    Label.NOTE: (OriginKind.GENERATED, "note on {source}"),
    Label.MESSAGE: (OriginKind.GENERATED, "message about {source}"),
    Label.HEADING: (OriginKind.GENERATED, "heading of {source}"),
    Label.FENCE: (OriginKind.GENERATED, "fence of {source}"),
    Label.BLANK: (OriginKind.GENERATED, "blank line"),
    Label.SECTION: (OriginKind.GENERATED, "heading of the section {source}"),
    Label.REMAINDER: (OriginKind.GENERATED, "remainder"),
    Label.REMOVED: (OriginKind.GENERATED, "line that {source} no longer has"),
    Label.TURN: (OriginKind.TURN, ""),
    Label.BEAD: (OriginKind.BEAD, ""),
    Label.RESULT: (OriginKind.RESULT, ""),
    Label.SCREENSHOT: (OriginKind.SCREENSHOT, ""),
    Label.RULE: (OriginKind.GENERATED, "rule between two turns"),
    Label.EARLIER: (OriginKind.FILE, "a text of the file whose lines are not known"),
    Label.SECTION_NOTE: (OriginKind.GENERATED, "note of the section {source}"),
}


WITHOUT_SOURCE = frozenset({Label.BLANK, Label.REMAINDER, Label.RULE})
"""What belongs to nothing: its source is ``""``."""


class Origin(NamedTuple):
    """Where one line of a prompt comes from.

    Attributes:
        kind: What it was made of.
        source: Path of a file or screenshot, number of a turn, id of a bead, name of who gave a result; of a generated
            line what it belongs to, ``""`` for nothing.
        first: The first line of the file that it shows or stands for, 1-based; ``0`` where that are no lines.
        last: The last of these lines, inclusive.
        is_verbatim: Whether it is that line of the file as it was.
        stands_for: Of a generated line, what it stands for; of a line that is not as in the file, why.
    """

    kind: OriginKind
    source: str = ""
    first: int = 0
    last: int = 0
    is_verbatim: bool = False
    stands_for: str = ""


class Run(NamedTuple):
    """Lines of a prompt that follow each other and have one origin.

    Where they are as many as those of the file, they stand for these line by line; otherwise all for all.

    Attributes:
        lines: How many lines of the prompt.
        label: What they are.
        source: As ``Origin.source``.
        first: As ``Origin.first``, of all of them.
        last: As ``Origin.last``, of all of them.
    """

    lines: int
    label: Label
    source: str = ""
    first: int = 0
    last: int = 0

    def origin(self, offset: int) -> Origin:
        """Return the origin of one of the lines, counted from ``0``."""
        kind, meaning = _MEANINGS[self.label]
        first, last = self.first, self.last
        if first and last - first + 1 == self.lines:
            first = last = first + offset
        if "{" in meaning:
            meaning = meaning.replace("{lines}", _counted(first, last))
            meaning = meaning.replace("{source}", self.source)
        return Origin(kind, self.source, first, last, self.label is Label.VERBATIM, meaning)

    def line_of(self, line: int) -> int | None:
        """Return which of the lines, counted from ``0``, shows ``line`` of the file; ``None`` where none does."""
        if not self.first <= line <= self.last or not self.first:
            return None
        return line - self.first if self.last - self.first + 1 == self.lines else 0


def _counted(first: int, last: int) -> str:
    if not first:
        return "lines"
    return "1 line" if first == last else f"{last - first + 1:,} lines"


_NUMBERS = 5
"""Numbers of a run in ``PackedRuns.numbers``."""


class PackedRuns(Sequence[Run]):
    """Runs as plain numbers: a large prompt has hundreds of thousands, and an object for each takes five times as much.

    Args:
        sources: What sources there are; the first one is ``""``.
        numbers: For each run its lines, label, the place of its source, and its first and last line of the file.
    """

    __slots__ = ("numbers", "sources")

    def __init__(self, sources: Sequence[str], numbers: "array[int]") -> None:
        self.sources = sources
        self.numbers = numbers

    def __len__(self) -> int:
        return len(self.numbers) // _NUMBERS

    def __getitem__(self, index: int) -> Run:  # type: ignore[override] # nobody slices it
        start = range(len(self))[index] * _NUMBERS
        lines, label, source, first, last = self.numbers[start : start + _NUMBERS]
        return Run(lines, Label(label), self.sources[source], first, last)

    def __iter__(self) -> Iterator[Run]:
        return (self[index] for index in range(len(self)))


class RunCollector:
    """Collects runs in order; those that go on are joined."""

    def __init__(self, sources: Sequence[str] = ()) -> None:
        self._places: dict[str, int] = {"": 0}
        for source in sources:
            self._places.setdefault(source, len(self._places))
        self._numbers = array("I")
        # The last run, which may still go on; none has no lines.
        self._lines, self._label, self._place, self._first, self._last = 0, Label.BLANK, 0, 0, 0

    def add(
        self, lines: int, label: Label, source: str = "", first: int = 0, last: int = 0
    ) -> None:
        """Add a run; none of no lines."""
        if lines < 1:
            return
        place = self._places.get(source, -1)
        if place < 0:
            place = self._places[source] = len(self._places)
        if label is self._label and place == self._place and self._goes_on(lines, first, last):
            self._lines += lines
            self._last = last
            return
        if self._lines:
            self._numbers.extend((self._lines, self._label, self._place, self._first, self._last))
        self._lines = lines
        self._label = label
        self._place = place
        self._first = first
        self._last = last

    def _goes_on(self, lines: int, first: int, last: int) -> bool:
        """Tell whether a run of the same kind and source goes on with the last one, line by line or with no lines."""
        if not first or not self._first:
            return first == self._first and self._lines > 0
        is_exact = self._last - self._first + 1 == self._lines and last - first + 1 == lines
        return is_exact and first == self._last + 1

    def runs(self) -> PackedRuns:
        """Return what was collected."""
        numbers = array("I", self._numbers)
        if self._lines:
            numbers.extend((self._lines, self._label, self._place, self._first, self._last))
        return PackedRuns(tuple(self._places), numbers)


@dataclass(frozen=True, slots=True)
class SourceMap:
    """The origin of every line of a prompt; its lines are those that a line feed ends.

    Attributes:
        runs: In the order of the prompt.
    """

    runs: PackedRuns

    @property
    def lines(self) -> int:
        """How many lines the prompt has."""
        return sum(self.runs.numbers[::_NUMBERS])

    def origin(self, line: int) -> Origin | None:
        """Return where the 1-based ``line`` of the prompt comes from, ``None`` where there is no such line."""
        ends = [*accumulate(self.runs.numbers[::_NUMBERS])]
        if not ends or not 1 <= line <= ends[-1]:
            return None
        index = bisect_right(ends, line - 1)
        return self.runs[index].origin(line - 1 - (ends[index - 1] if index else 0))

    def origins(self) -> Iterator[Origin]:
        """Yield the origin of each line, in order."""
        for run in self.runs:
            yield from (run.origin(offset) for offset in range(run.lines))

    def find(self, path: str, line: int) -> int | None:
        """Return the first line of the prompt that shows a file's line verbatim, else the first that stands for it.

        Args:
            path: The file, as the prompt shows its path.
            line: The 1-based line of the file.

        Returns:
            ``None`` where no line of the prompt is made of it.
        """
        stand_in: int | None = None
        for start, run in self.runs_of(path):
            offset = run.line_of(line)
            if offset is None:
                continue
            if run.label is Label.VERBATIM:
                return start + offset
            stand_in = stand_in or start + offset
        return stand_in

    def verbatim_lines(self, path: str) -> frozenset[int]:
        """Return the lines of a file that the prompt shows as they were."""
        runs = (run for _, run in self.runs_of(path) if run.label is Label.VERBATIM)
        return frozenset(line for run in runs for line in range(run.first, run.last + 1))

    def runs_of(self, path: str) -> Iterator[tuple[int, Run]]:
        """Yield the runs that belong to a file, each with its first line in the prompt."""
        if path not in self.runs.sources:
            return
        place = self.runs.sources.index(path)
        numbers, start = self.runs.numbers, 1
        for index in range(0, len(numbers), _NUMBERS):
            if numbers[index + 2] == place:
                yield start, self.runs[index // _NUMBERS]
            start += numbers[index]
