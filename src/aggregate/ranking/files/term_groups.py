"""Lookup tables over a group of files: which of them hold a term, define a name or use one."""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Final

from aggregate.ranking.files.analysis import Analysis, column, numbers
from aggregate.ranking.terms import term_hash

MOST_MEMBERS: Final = 128  # files of a group: a file's place in its group is kept in one byte


_MOST_COUNT: Final = 255


_TERM_HEADER: Final = 2


_NAME_HEADER: Final = 2


class TermGroup:
    """The terms of a group of files, read where they lie."""

    __slots__ = ("_counts", "_ends", "_holding", "_terms")

    def __init__(self, data: "bytes | memoryview[int]") -> None:
        view = memoryview(data)
        terms, postings = numbers("I", view[: 4 * _TERM_HEADER])
        parts = _parts(view, _TERM_HEADER, (4 * terms, 4 * terms, 2 * postings, postings))
        self._terms = numbers("I", parts[0])
        self._ends = numbers("I", parts[1])
        self._counts = numbers("H", parts[2])
        self._holding = parts[3]

    def files_with(self, term: int) -> tuple[Sequence[int], Sequence[int]]:
        """Return the places of the files that hold a term, given by its hash, with ``256 * occurrences + pieces``."""
        terms = self._terms
        place = bisect_left(terms, term)
        if place == len(terms) or terms[place] != term:
            return (), ()
        start = self._ends[place - 1] if place else 0
        end = self._ends[place]
        return self._holding[start:end], self._counts[start:end]


class NameGroup:
    """The names that a group of files defines and uses, read where they lie."""

    __slots__ = ("_defining", "_places", "_referred", "_referring", "defined")

    def __init__(self, data: "bytes | memoryview[int]") -> None:
        view = memoryview(data)
        names, referred = numbers("I", view[: 4 * _NAME_HEADER])
        sizes = (4 * names, 4 * names, names, 4 * referred, referred)
        parts = _parts(view, _NAME_HEADER, sizes)
        # The hashes of the names that are defined, sorted: one that is not among them need not be asked for.
        self.defined = numbers("I", parts[0])
        self._places = numbers("I", parts[1])
        self._defining = parts[2]
        self._referred = numbers("I", parts[3])
        self._referring = parts[4]

    def files_defining(self, name: int) -> Sequence[tuple[int, int]]:
        """Return ``(place of the file, place of the definition)`` for a name, given by its hash."""
        names = self.defined
        start = bisect_left(names, name)
        end = bisect_right(names, name, start)
        return list(zip(self._defining[start:end], self._places[start:end], strict=True))

    def files_referring(self, name: int) -> Sequence[int]:
        names = self._referred
        start = bisect_left(names, name)
        if start == len(names) or names[start] != name:
            return ()
        return self._referring[start : bisect_right(names, name, start)]


def _parts(view: "memoryview[int]", header: int, sizes: Sequence[int]) -> "list[memoryview[int]]":
    bounds = list(accumulate(sizes, initial=4 * header))
    return [view[start:end] for start, end in pairwise(bounds)]


def pack_terms(analyses: Sequence[Analysis | None]) -> bytes:
    postings: list[int] = []
    for member, analysis in enumerate(analyses):
        if analysis is None:
            continue
        # One number for each term: its hash, the file, how often, in how many pieces.
        occurrences, pieces = analysis.term_totals
        middle, most = member << 16, _MOST_COUNT << 8
        postings += [
            hashed << 24
            | middle
            | (count << 8 if count < _MOST_COUNT else most)
            | (places if places < _MOST_COUNT else _MOST_COUNT)
            for (hashed, count), places in zip(occurrences.items(), pieces.values(), strict=True)
        ]
    postings.sort()
    terms = Counter([key >> 24 for key in postings])  # in order, as the keys are
    return b"".join(
        [
            column("I", [len(terms), len(postings)]),
            column("I", terms),
            column("I", accumulate(terms.values())),
            column("H", [key & 0xFFFF for key in postings]),
            bytes([key >> 16 & 0xFF for key in postings]),
        ]
    )


def pack_names(analyses: Sequence[Analysis | None]) -> bytes:
    defined: list[int] = []
    referred: list[int] = []
    for member, analysis in enumerate(analyses):
        if analysis is None:
            continue
        if analysis.traits.is_code:
            defined += [
                term_hash(name) << 40 | member << 32 | place
                for place, name in enumerate(analysis.own_names())
                if name
            ]
        referred += [term_hash(name) << 8 | member for name in analysis.used_names()]
    defined.sort()
    # Of two names with one hash, one file stands for both.
    referred = sorted(set(referred))
    return b"".join(
        [
            column("I", [len(defined), len(referred)]),
            column("I", [key >> 40 for key in defined]),
            column("I", [key & 0xFFFFFFFF for key in defined]),
            bytes([key >> 32 & 0xFF for key in defined]),
            column("I", [key >> 8 for key in referred]),
            bytes([key & 0xFF for key in referred]),
        ]
    )
