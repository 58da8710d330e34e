"""Tables over a group of files: which of them hold a term, and which seem to define a name."""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Final

from aggregate.ranking.files.analysis import column, numbers
from aggregate.ranking.files.rough import RoughFile

MOST_MEMBERS: Final = 128  # files of a group: a file's place in its group is kept in one byte
_MOST_COUNT: Final = 255
_TERM_HEADER: Final = 2


class TermGroup:
    """The terms of a group of files, read where they lie."""

    __slots__ = ("_counts", "_ends", "_holding", "_terms")

    def __init__(self, data: "bytes | memoryview[int]") -> None:
        view = memoryview(data)
        terms, postings = numbers("I", view[: 4 * _TERM_HEADER])
        bounds = accumulate((4 * terms, 4 * terms, postings, postings), initial=4 * _TERM_HEADER)
        parts = [view[start:end] for start, end in pairwise(bounds)]
        self._terms = numbers("I", parts[0])
        self._ends = numbers("I", parts[1])
        self._counts = parts[2]
        self._holding = parts[3]

    def files_with(self, term: int) -> tuple[Sequence[int], Sequence[int]]:
        """Return the places of the files that hold a term, given by its hash, and how often each does, 255 for more."""
        terms = self._terms
        place = bisect_left(terms, term)
        if place == len(terms) or terms[place] != term:
            return (), ()
        start = self._ends[place - 1] if place else 0
        end = self._ends[place]
        return self._holding[start:end], self._counts[start:end]


class NameGroup:
    """The names that a group of files seems to define, read where they lie."""

    __slots__ = ("_defining", "defined")

    def __init__(self, data: "bytes | memoryview[int]") -> None:
        view = memoryview(data)
        names = len(view) // 5
        # The hashes of the names, sorted: one that is not among them need not be asked for.
        self.defined = numbers("I", view[: 4 * names])
        self._defining = view[4 * names :]

    def files_defining(self, name: int) -> Sequence[int]:
        """Return the places of the files that seem to define a name, given by its hash."""
        start = bisect_left(self.defined, name)
        return self._defining[start : bisect_right(self.defined, name, start)]


def pack_terms(files: Sequence[RoughFile | None]) -> bytes:
    postings: list[int] = []
    for member, file in enumerate(files):
        # One number for each term: its hash, the file, how often.
        low = member << 8
        postings += [
            hashed << 16 | low | (count if count < _MOST_COUNT else _MOST_COUNT)
            for hashed, count in (file.words.items() if file else ())
        ]
    postings.sort()
    terms = Counter([key >> 16 for key in postings])  # in order, as the keys are
    return b"".join(
        [
            column("I", [len(terms), len(postings)]),
            column("I", terms),
            column("I", accumulate(terms.values())),
            bytes([key & 0xFF for key in postings]),
            bytes([key >> 8 & 0xFF for key in postings]),
        ]
    )


def pack_names(files: Sequence[RoughFile | None]) -> bytes:
    defined = sorted(
        name << 8 | member for member, file in enumerate(files) if file for name in file.names
    )
    return column("I", [key >> 8 for key in defined]) + bytes([key & 0xFF for key in defined])
