"""Where each line of a prompt comes from, in runs of lines (rule L-1), and the map of it as a short text (rule L-3).

That text has columns of small differences, compressed. Each run has five numbers: its lines, its label, the place of
its source, the first line of the file, and how many more or fewer lines that are than its own. All runs' numbers of one
kind stand together, since they are alike: the source as the difference to the run before, of those that have one, the
first line as the difference to where the run before of the same source ended. Numbers are written in groups of seven
bits, signs folded in, then compressed by zlib and written as base 85, of which JSON needs to escape nothing.
"""

import zlib
from array import array
from base64 import b85decode, b85encode
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
    GIVEN = 20, OriginKind.GENERATED, "words of {source}"


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


_COLUMNS = 5

# Unpacked, the map of a prompt of 100 MB has less; what has more is no map of ours, and might never end.
_MOST_BYTES = 1 << 23

_MOST_BITS = 35  # of a number: a line's, its sign and what fills its last group

_MOST = 2**32 - 1  # no prompt has as many lines

_NO_MAP = "is not a map of sources"


def pack_map(source_map: SourceMap, known: Sequence[str] = ()) -> tuple[list[str], str]:
    """Return the sources that are not ``known`` to the map's reader, which follow on those, and the runs as a text."""
    places: dict[str, int] = {}
    for place, source in enumerate(known):
        places.setdefault(source, place)
    others: list[str] = []
    table: list[int] = []
    for source in source_map.runs.sources:
        if source and source not in places:
            places[source] = len(known) + len(others)
            others.append(source)
        table.append(places[source] if source else 0)
    data = b"".join(map(_varints, _columns(source_map.runs.numbers, table)))
    return others, b85encode(zlib.compress(data)).decode()


def unpack_map(text: str, sources: Sequence[str]) -> SourceMap:
    """Return the map that ``pack_map`` wrote; a ``ValueError`` says that it is damaged or somebody else's.

    Its ``sources`` are the known and the other ones, one behind the other.
    """
    inflater = zlib.decompressobj()
    try:
        data = inflater.decompress(b85decode(text), _MOST_BYTES)
    except zlib.error as error:
        raise ValueError(str(error)) from None
    numbers = array("Q", _numbers(data))
    count = len(numbers) // _COLUMNS
    if not inflater.eof or len(numbers) != count * _COLUMNS:
        raise ValueError(_NO_MAP)
    columns = [numbers[column * count : (column + 1) * count] for column in range(_COLUMNS)]
    return SourceMap(PackedRuns(("", *sources), _rows(columns, len(sources))))


def _columns(numbers: "array[int]", table: Sequence[int]) -> list[list[int]]:
    by_kind = [numbers[column::_COLUMNS].tolist() for column in range(_COLUMNS)]
    steps, starts, differences = list[int](), list[int](), list[int]()
    ends: dict[int, int] = {}
    before = 0
    for lines, label, place, first, last in zip(*by_kind, strict=True):
        source = before if label in WITHOUT_SOURCE else table[place]
        steps.append(_folded(source - before))
        before = source
        starts.append(_folded(first - ends.get(source, 0) - 1) + 1 if first else 0)
        differences.append(_folded(last - first + 1 - lines) if first else 0)
        if first:
            ends[source] = last
    return [*by_kind[:2], steps, starts, differences]


def _rows(columns: Sequence[Sequence[int]], sources: int) -> "array[int]":
    # The numbers of the runs, run by run, as long as they can be those of a prompt.
    numbers = array("I")
    ends: dict[int, int] = {}
    source = 0
    for lines, label, step, start, difference in zip(*columns, strict=True):
        source += _unfolded(step)
        first = last = 0
        if start:
            first = _unfolded(start - 1) + ends.get(source, 0) + 1
            last = ends[source] = first + lines - 1 + _unfolded(difference)
        place = 0 if label_of(label) in WITHOUT_SOURCE else source + 1
        is_possible = 0 < lines <= _MOST and source >= 0 and place <= sources
        if not is_possible or not 0 <= first <= last <= _MOST:
            raise ValueError(_NO_MAP)
        numbers.extend((lines, label, place, first, last))
    return numbers


def _folded(number: int) -> int:
    # Small ones of either sign stay small.
    return number * 2 if number >= 0 else -number * 2 - 1


def _unfolded(number: int) -> int:
    return -(number + 1) // 2 if number & 1 else number // 2


def _varints(numbers: Sequence[int]) -> bytes:
    if max(numbers, default=0) < 128:
        return bytes(numbers)
    data = bytearray()
    for number in numbers:
        rest = number
        while rest > 127:
            data.append(rest & 127 | 128)
            rest >>= 7
        data.append(rest)
    return bytes(data)


def _numbers(data: bytes) -> Iterator[int]:
    number = shift = 0
    for byte in data:
        number |= (byte & 127) << shift
        shift += 7
        if shift > _MOST_BITS:
            raise ValueError(_NO_MAP)
        if byte < 128:
            yield number
            number = shift = 0
