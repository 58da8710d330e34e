"""Where each line of a prompt comes from, in runs of lines (rule L-1)."""

from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from itertools import accumulate
from typing import NamedTuple


class OriginKind(StrEnum):
    FILE = "file"
    TURN = "turn"
    BEAD = "bead"
    RESULT = "result"
    SCREENSHOT = "screenshot"
    GENERATED = "generated"


class Label(IntEnum):
    """What a run of lines is, and what such a line stands for; recorded maps hold the numbers, so they never change."""

    kind: OriginKind
    meaning: str

    def __new__(cls, number: int, kind: OriginKind, meaning: str = "") -> "Label":
        label = int.__new__(cls, number)
        label._value_ = number
        label.kind, label.meaning = kind, meaning
        return label

    VERBATIM = 0, OriginKind.FILE
    PART = 1, OriginKind.FILE
    REDACTED = 2, OriginKind.FILE, "a line with a secret that was replaced"
    NOT_SHOWN = 3, OriginKind.GENERATED, "not shown: {lines} of {source}"
    SUMMARY = 4, OriginKind.GENERATED, "summary of {source}"
    NOTE = 5, OriginKind.GENERATED, "note on {source}"
    MESSAGE = 6, OriginKind.GENERATED, "message about {source}"
    HEADING = 7, OriginKind.GENERATED, "heading of {source}"
    FENCE = 8, OriginKind.GENERATED, "fence of {source}"
    BLANK = 9, OriginKind.GENERATED, "blank line"
    SECTION = 10, OriginKind.GENERATED, "heading of the section {source}"
    REMAINDER = 11, OriginKind.GENERATED, "remainder"
    REMOVED = 12, OriginKind.GENERATED, "line that {source} no longer has"
    TURN = 13, OriginKind.TURN
    BEAD = 14, OriginKind.BEAD
    RESULT = 15, OriginKind.RESULT
    SCREENSHOT = 16, OriginKind.SCREENSHOT
    RULE = 17, OriginKind.GENERATED, "rule between two turns"
    SECTION_NOTE = 18, OriginKind.GENERATED, "note of the section {source}"
    EARLIER = 19, OriginKind.FILE, "a text of the file whose lines are not known"


def label_of(number: int) -> Label:
    return Label(number)  # type: ignore[call-arg] # looked up, not made


# What belongs to nothing: its source is "".
WITHOUT_SOURCE = frozenset({Label.BLANK, Label.REMAINDER, Label.RULE})


class Origin(NamedTuple):
    kind: OriginKind  # what it was made of
    # Path of a file or screenshot, number of a turn, id of a bead, name of who gave a result; of a generated line what
    # it belongs to, ``""`` for nothing.
    source: str = ""
    # The first line of the file that it shows or stands for, 1-based; ``0`` where that are no lines.
    first: int = 0
    last: int = 0  # the last of these lines, inclusive
    is_verbatim: bool = False  # whether it is that line of the file as it was
    # Of a generated line, what it stands for; of a line that is not as in the file, why.
    stands_for: str = ""


class Run(NamedTuple):
    """Lines of a prompt that follow each other and have one origin.

    Where they are as many as those of the file, they stand for these line by line; otherwise all for all.
    """

    lines: int
    label: Label
    source: str = ""
    first: int = 0
    last: int = 0

    def origin(self, offset: int) -> Origin:
        first, last, meaning = self.first, self.last, self.label.meaning
        if first and last - first + 1 == self.lines:
            first = last = first + offset
        if "{" in meaning:
            shown = "1 line" if first == last else f"{last - first + 1:,} lines"
            meaning = meaning.replace("{lines}", shown if first else "lines")
            meaning = meaning.replace("{source}", self.source)
        is_verbatim = self.label is Label.VERBATIM
        return Origin(self.label.kind, self.source, first, last, is_verbatim, meaning)


_NUMBERS = 5  # Numbers of a run in ``PackedRuns.numbers``


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
        return Run(lines, label_of(label), self.sources[source], first, last)

    def __iter__(self) -> Iterator[Run]:
        return (self[index] for index in range(len(self)))


@dataclass(frozen=True, slots=True)
class SourceMap:
    """The origin of every line of a prompt, in its order; its lines are those that a line feed ends."""

    runs: PackedRuns

    @property
    def lines(self) -> int:
        return sum(self.runs.numbers[::_NUMBERS])

    def origin(self, line: int) -> Origin | None:
        ends = [*accumulate(self.runs.numbers[::_NUMBERS])]
        if not ends or not 1 <= line <= ends[-1]:
            return None
        index = bisect_right(ends, line - 1)
        return self.runs[index].origin(line - 1 - (ends[index - 1] if index else 0))

    def origins(self) -> Iterator[Origin]:
        for run in self.runs:
            yield from (run.origin(offset) for offset in range(run.lines))

    def find(self, path: str, line: int) -> int | None:
        """Return the first line of the prompt that shows a file's 1-based line verbatim, else that stands for it."""
        stand_in: int | None = None
        for start, run in self.runs_of(path):
            if not run.first or not run.first <= line <= run.last:
                continue
            is_exact = run.last - run.first + 1 == run.lines
            found = start + (line - run.first if is_exact else 0)
            if run.label is Label.VERBATIM:
                return found
            stand_in = stand_in or found
        return stand_in

    def verbatim_lines(self, path: str) -> frozenset[int]:
        runs = (run for _, run in self.runs_of(path) if run.label is Label.VERBATIM)
        return frozenset(line for run in runs for line in range(run.first, run.last + 1))

    def runs_of(self, path: str) -> Iterator[tuple[int, Run]]:
        if path not in self.runs.sources:
            return
        place = self.runs.sources.index(path)
        numbers, start = self.runs.numbers, 1
        for index in range(0, len(numbers), _NUMBERS):
            if numbers[index + 2] == place:
                yield start, self.runs[index // _NUMBERS]
            start += numbers[index]
