"""What analysing one file found, as it is kept in the index, and decoded as far as it is asked for."""

import json
import zlib
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any, Final, Literal, NamedTuple

from aggregate.base.values import row_maker
from aggregate.ranking.files.corpus import DefinedName, Piece, Reference
from aggregate.ranking.terms import term_hash

Code = Literal["H", "I", "i"]


_WORTH_BYTES: Final = 200  # shorter ones hardly get smaller


_LEVEL: Final = 1  # of zlib: sorted hashes do not get smaller by trying longer


_PLAIN, _DEFLATED = b"\0", b"\1"


def column(code: Code, values: Iterable[int]) -> bytes:
    """Return numbers as bytes in this machine's order."""
    return array(code, values).tobytes()


def numbers(code: Code, data: bytes | memoryview) -> memoryview:
    return memoryview(data).cast(code)


def deflated(data: bytes) -> bytes:
    return _PLAIN + data if len(data) < _WORTH_BYTES else _DEFLATED + zlib.compress(data, _LEVEL)


def inflated(data: bytes) -> bytes:
    return data[1:] if data[:1] == _PLAIN else zlib.decompress(data[1:])


_DEFINED_NAME: Final = row_maker(DefinedName)


_PIECE: Final = row_maker(Piece)


_REFERENCE: Final = row_maker(Reference)


# Last lines, definitions, terms, and characters of three kinds; first lines follow from the last ones.
_PIECE_COLUMNS: Final = 6


class FileTraits(NamedTuple):
    """What is told of a file beside its contents' terms; all of ``FileFacts`` but the path."""

    language: str
    is_code: bool
    characters: int
    terms: int
    pieces: int
    is_generated: bool


class Analysis:
    """What ``analyse`` found in a file, decoded as far as it is asked for; a ``FileAnalysis``."""

    def __init__(self, sections: Sequence[bytes]) -> None:
        self._sections = sections

    @cached_property
    def traits(self) -> FileTraits:
        return FileTraits(*_rows(self._sections[0]))

    @cached_property
    def definitions(self) -> Sequence[DefinedName]:
        paths: list[tuple[str, ...]] = []
        rows = _rows(self._sections[1])
        for row in rows:  # a loop for the ten thousand definitions of a question's candidates
            shared, names, outer = row[1], row[2], row[-1]
            path = (*paths[outer][:shared], *names) if shared else tuple(names)
            paths.append(path)
            row[1:3] = (path,)
        return list(map(_DEFINED_NAME, rows))

    @cached_property
    def pieces(self) -> Sequence[Piece]:
        values = numbers("i", inflated(self._sections[2])).tolist()
        count = len(values) // _PIECE_COLUMNS
        columns = [values[column * count :][:count] for column in range(_PIECE_COLUMNS)]
        firsts = [1, *(last + 1 for last in columns[0][:-1])][:count]
        return list(map(_PIECE, zip(firsts, *columns, strict=True)))

    @cached_property
    def references(self) -> Sequence[Reference]:
        return list(map(_REFERENCE, _rows(self._sections[3])))

    def pieces_with(self, term: str) -> Sequence[tuple[int, int]]:
        """Return ``(place of the piece, how often)`` for each piece that holds ``term``; ``255`` where it is more."""
        hashes, places, counts = self._postings
        wanted = term_hash(term)
        start = bisect_left(hashes, wanted)
        end = bisect_right(hashes, wanted, start)
        return list(zip(places[start:end], counts[start:end], strict=True))

    @property
    def term_totals(self) -> tuple[Counter[int], Counter[int]]:
        """By a term's hash, how often it occurs in the file, and in how many pieces, in the same order."""
        hashes, _, counts = self._postings
        pieces = Counter(hashes)
        occurrences = pieces.copy()
        for hashed, count in zip(hashes, counts, strict=True):
            if count > 1:
                occurrences[hashed] += count - 1
        return occurrences, pieces

    def own_names(self) -> list[str]:
        """Return the own name of each definition, ``""`` where it has none; quicker than asking for all of them."""
        rows = _rows(self._sections[1])
        return [row[2][-1] if row[2] else "" for row in rows]

    def used_names(self) -> set[str]:
        return {row[0] for row in _rows(self._sections[3])}

    @cached_property
    def _postings(self) -> tuple[memoryview, memoryview, bytes]:
        data = inflated(self._sections[4])
        count = len(data) // 9
        return (
            numbers("I", data[: 4 * count]),
            numbers("I", data[4 * count : 8 * count]),
            data[8 * count :],
        )

    def pack(self) -> bytes:
        ends = accumulate(map(len, self._sections))
        return column("I", [len(self._sections), *ends]) + b"".join(self._sections)

    @classmethod
    def unpack(cls, data: bytes) -> "Analysis":
        (count,) = numbers("I", data[:4])
        start = 4 + 4 * count
        bounds = [0, *numbers("I", data[4:start])]
        return cls([data[start + begin : start + end] for begin, end in pairwise(bounds)])


def _rows(section: bytes) -> list[Any]:
    # As a text: of bytes the library guesses the encoding, which takes a sixth of its time.
    rows: list[Any] = json.loads(inflated(section).decode())
    return rows
