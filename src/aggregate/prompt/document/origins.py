"""The origin of each line of a prompt.

Origins are stored as runs (rule L-1), and written in a packed format (rule L-3). The packed text has one column of
numbers per property of the runs: lines, label, source, first line of the file, and excess of the file's lines over the
run's. Sources are differences to the previous run with a source; first lines are differences to the end of the previous
run of the same source. The columns are JSON, compressed by zlib, in base 85, which needs no escapes in JSON.
"""

import json
import zlib
from array import array
from base64 import b85decode, b85encode
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from itertools import accumulate, chain
from typing import NamedTuple


class OriginKind(StrEnum):
    FILE = "file"
    TURN = "turn"
    BEAD = "bead"
    RESULT = "result"
    SCREENSHOT = "screenshot"
    GENERATED = "generated"


class Label(IntEnum):
    """The content of a run, such as code or a heading.

    The numbers are stored in recorded maps and never change.
    """

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
    REMOVED = 12, OriginKind.GENERATED, "a line that {source} no longer has"
    TURN = 13, OriginKind.TURN
    BEAD = 14, OriginKind.BEAD
    RESULT = 15, OriginKind.RESULT
    SCREENSHOT = 16, OriginKind.SCREENSHOT
    RULE = 17, OriginKind.GENERATED, "rule between two turns"
    SECTION_NOTE = 18, OriginKind.GENERATED, "note of the section {source}"
    EARLIER = 19, OriginKind.FILE, "a text of the file at an unknown line"
    GIVEN = 20, OriginKind.GENERATED, "words of {source}"


def label_of(number: int) -> Label:
    return Label(number)  # type: ignore[call-arg] # looked up, not made


WITHOUT_SOURCE = frozenset({Label.BLANK, Label.REMAINDER, Label.RULE})


class Origin(NamedTuple):
    kind: OriginKind
    # Path of a file or screenshot, number of a turn, id of a bead, producer of a result, or owner of a generated line.
    source: str = ""
    first: int = 0  # the first line of the file, 1-based; ``0`` without lines
    last: int = 0  # the last one, inclusive
    is_verbatim: bool = False  # whether it equals the file's line
    stands_for: str = ""  # the meaning of a generated line, or why it differs from the file


class Run(NamedTuple):
    """Consecutive lines of a prompt from the same place.

    If the prompt has as many lines as the file, they correspond line by line, otherwise only as a whole.
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
            lines = "1 line" if first == last else f"{last - first + 1:,} lines"
            meaning = meaning.replace("{lines}", lines if first else "lines")
            meaning = meaning.replace("{source}", self.source)
        is_verbatim = self.label is Label.VERBATIM
        return Origin(self.label.kind, self.source, first, last, is_verbatim, meaning)


_NUMBERS = 5  # numbers of a run in ``PackedRuns.numbers``


class PackedRuns(Sequence[Run]):
    """Runs as plain numbers, to save memory.

    They take a fifth of the memory of objects.

    Args:
        sources: All sources; the first one is ``""``.
        numbers: For each run its lines, label, index of the source, and first and last line of the file.
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
    """The origin of every line of a prompt; a line feed ends a line."""

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
        """Return the prompt's first line showing a file's line.

        If the line is omitted, return the line with the mark for omitted lines.
        """
        stand_in: int | None = None
        for start, run in self.runs_of(path):
            if not run.first or not run.first <= line <= run.last:
                continue
            is_exact = run.last - run.first + 1 == run.lines
            prompt_line = start + (line - run.first if is_exact else 0)
            if run.label is Label.VERBATIM:
                return prompt_line
            stand_in = stand_in or prompt_line
        return stand_in

    def verbatim_lines(self, path: str) -> frozenset[int]:
        runs = (run for _, run in self.runs_of(path) if run.label is Label.VERBATIM)
        return frozenset(line for run in runs for line in range(run.first, run.last + 1))

    def runs_of(self, path: str) -> Iterator[tuple[int, Run]]:
        if path not in self.runs.sources:
            return
        number = self.runs.sources.index(path)
        numbers, start = self.runs.numbers, 1
        for index in range(0, len(numbers), _NUMBERS):
            if numbers[index + 2] == number:
                yield start, self.runs[index // _NUMBERS]
            start += numbers[index]


_MOST_BYTES = 1 << 24  # unpacked: more than the map of a prompt of 100 MB, less than a bomb
_LEVEL = 9  # of zlib: a map is small
_NO_MAP = "is not a map of sources"


def pack_map(source_map: SourceMap, row_paths: Sequence[str] = ()) -> tuple[list[str], str]:
    """Return the packed runs, and their additional sources.

    Additional sources are not among ``row_paths``. Runs refer to sources by number: first those of ``row_paths``, then
    the returned ones.
    """
    numbers: dict[str, int] = {}
    for number, path in enumerate(row_paths):
        numbers.setdefault(path, number)
    sources: list[str] = []
    table: list[int] = []
    for source in source_map.runs.sources:
        if source and source not in numbers:
            numbers[source] = len(row_paths) + len(sources)
            sources.append(source)
        table.append(numbers[source] if source else 0)
    data = json.dumps(_columns(source_map.runs.numbers, table), separators=(",", ":")).encode()
    return sources, b85encode(zlib.compress(data, _LEVEL)).decode()


def unpack_map(text: str, sources: Sequence[str]) -> SourceMap:
    """Return the map packed by ``pack_map``.

    ``sources`` are all sources in the order of their numbers.

    Raises:
        ValueError: The text is damaged or not a packed map.
    """
    inflater = zlib.decompressobj()
    try:
        columns = json.loads(inflater.decompress(b85decode(text), _MOST_BYTES))
        numbers = array("I", chain.from_iterable(_rows(columns, len(sources))))
    except (zlib.error, TypeError, OverflowError, RecursionError):
        raise ValueError(_NO_MAP) from None
    if not inflater.eof:
        raise ValueError(_NO_MAP)
    return SourceMap(PackedRuns(("", *sources), numbers))


def _columns(numbers: "array[int]", table: Sequence[int]) -> list[list[int | None]]:
    rows: list[tuple[int | None, ...]] = []
    ends: dict[int, int] = {}
    previous = 0
    for start in range(0, len(numbers), _NUMBERS):
        lines, label, index, first, last = numbers[start : start + _NUMBERS]
        source = previous if label in WITHOUT_SOURCE else table[index]
        gap = first - ends.get(source, 0) if first else None
        extra = last - first + 1 - lines if first else 0
        rows.append((lines, label, source - previous, gap, extra))
        previous = source
        if first:
            ends[source] = last
    return [list(column) for column in zip(*rows, strict=True)]


def _rows(columns: Sequence[Sequence[int]], sources: int) -> Iterator[tuple[int, ...]]:
    """Yield the numbers of each run.

    They are its lines in the prompt, label, source, and lines in the file. Raises ``ValueError`` if a number is out of
    range.
    """
    ends: dict[int, int] = {}
    source = 0
    for lines, label, step, gap, difference in zip(*columns, strict=True):
        source += step
        first = last = 0
        if gap is not None:
            first = gap + ends.get(source, 0)
            last = ends[source] = first + lines - 1 + difference
        index = 0 if label_of(label) in WITHOUT_SOURCE else source + 1
        if not (lines > 0 and source >= 0 and index <= sources and 0 <= first <= last):
            raise ValueError(_NO_MAP)
        yield lines, label, index, first, last
