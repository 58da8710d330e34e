"""Where each line of a prompt comes from, in runs of lines (rule L-1), and the map of it as a short text (rule L-3).

That text has columns of small differences in JSON, compressed. Each run has five numbers: its lines, its label, the
place of its source, the first line of the file, and how many more or fewer lines that are than its own. All runs'
numbers of one kind stand together, since they are alike: the source as the difference to the run before, of those that
have one, the first line as the difference to where the run before of the same source ended. They are compressed by zlib
and written as base 85, of which JSON needs to escape nothing.
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


# Unpacked, the map of a prompt of 100 MB has less; what has more is no map of ours, and might never end.
_MOST_BYTES = 1 << 24

_LEVEL = 9  # of zlib: a map is small

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
    data = json.dumps(_columns(source_map.runs.numbers, table), separators=(",", ":")).encode()
    return others, b85encode(zlib.compress(data, _LEVEL)).decode()


def unpack_map(text: str, sources: Sequence[str]) -> SourceMap:
    """Return the map that ``pack_map`` wrote; a ``ValueError`` says that it is damaged or somebody else's.

    Its ``sources`` are the known and the other ones, one behind the other.
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
    before = 0
    for start in range(0, len(numbers), _NUMBERS):
        lines, label, place, first, last = numbers[start : start + _NUMBERS]
        source = before if label in WITHOUT_SOURCE else table[place]
        gap = first - ends.get(source, 0) if first else None
        rows.append((lines, label, source - before, gap, last - first + 1 - lines if first else 0))
        before = source
        if first:
            ends[source] = last
    return [list(column) for column in zip(*rows, strict=True)]


def _rows(columns: Sequence[Sequence[int]], sources: int) -> Iterator[tuple[int, ...]]:
    # The numbers of the runs, run by run, as long as they can be those of a prompt.
    ends: dict[int, int] = {}
    source = 0
    for lines, label, step, gap, difference in zip(*columns, strict=True):
        source += step
        first = last = 0
        if gap is not None:
            first = gap + ends.get(source, 0)
            last = ends[source] = first + lines - 1 + difference
        place = 0 if label_of(label) in WITHOUT_SOURCE else source + 1
        if not (lines > 0 and source >= 0 and place <= sources and 0 <= first <= last):
            raise ValueError(_NO_MAP)
        yield lines, label, place, first, last
