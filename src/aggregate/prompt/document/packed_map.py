"""A source map as a short text: columns of small differences, compressed (rule L-3).

Each run has five numbers: its lines, its label, the place of its source, the first line of the file, and how many more
or fewer lines that are than its own. All runs' numbers of one kind stand together, since they are alike: the source as
the difference to the run before, of those that have one, the first line as the difference to where the run before of
the same source ended. Numbers are written in groups of seven bits, signs folded in, then compressed by zlib and written
as base 85, of which JSON needs to escape nothing.
"""

import zlib
from array import array
from base64 import b85decode, b85encode
from collections.abc import Iterator, Sequence

from aggregate.prompt.document.source_map import WITHOUT_SOURCE, PackedRuns, SourceMap, label_of

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
