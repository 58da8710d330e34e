"""Lookup tables over a group of files: which of them hold a term, define a name or use one."""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Final

from aggregate.ranking.analysis import Analysis
from aggregate.ranking.columns import column, numbers
from aggregate.ranking.terms import term_hash

MOST_MEMBERS: Final = 128
"""Files of a group: a file's place in its group is kept in one byte."""
_MOST_COUNT: Final = 255
_HEADER: Final = 4
"""Numbers at the beginning: terms, files with terms, defined names, referred names."""


class TermGroup:
    """The tables of a group of files, read where they lie.

    Args:
        data: From ``pack_group``.
    """

    __slots__ = (
        "_counts",
        "_defining",
        "_ends",
        "_holding",
        "_names",
        "_places",
        "_referred",
        "_referring",
        "_terms",
    )

    def __init__(self, data: "bytes | memoryview[int]") -> None:
        view = memoryview(data)
        terms, postings, names, referred = numbers("I", view[: 4 * _HEADER])
        sizes = (
            4 * terms,
            4 * terms,
            2 * postings,
            postings,
            4 * names,
            4 * names,
            names,
            4 * referred,
            referred,
        )
        bounds = list(accumulate(sizes, initial=4 * _HEADER))
        parts = [view[start:end] for start, end in pairwise(bounds)]
        self._terms = numbers("I", parts[0])
        self._ends = numbers("I", parts[1])
        self._counts = numbers("H", parts[2])
        self._holding = parts[3]
        self._names = numbers("I", parts[4])
        self._places = numbers("I", parts[5])
        self._defining = parts[6]
        self._referred = numbers("I", parts[7])
        self._referring = parts[8]

    def files_with(self, term: int) -> tuple[Sequence[int], Sequence[int]]:
        """Return the places of the files that hold a term, given by its hash, with ``256 * occurrences + pieces``.

        Either number is 255 where it is more. Two columns are taken further without a step in Python for each file.
        """
        terms = self._terms
        place = bisect_left(terms, term)
        if place == len(terms) or terms[place] != term:
            return (), ()
        start = self._ends[place - 1] if place else 0
        end = self._ends[place]
        return self._holding[start:end], self._counts[start:end]

    def files_defining(self, name: int) -> Sequence[tuple[int, int]]:
        """Return ``(place of the file, place of the definition)`` for a name, given by its hash."""
        return [(self._defining[place], self._places[place]) for place in _equal(self._names, name)]

    def defined_names(self) -> frozenset[int]:
        """Return the hashes of all names that are defined: where many names are looked up, most groups lack each."""
        return frozenset(self._names)

    def files_referring(self, name: int) -> Sequence[int]:
        """Return the places of the files that use a name, given by its hash."""
        return [self._referring[place] for place in _equal(self._referred, name)]


def pack_group(analyses: Sequence[Analysis | None]) -> bytes:
    """Return the tables of some files as bytes, for this machine.

    Args:
        analyses: At most ``MOST_MEMBERS``; ``None`` for a file without a text.
    """
    postings: list[int] = []
    defined: list[int] = []
    referred: list[int] = []
    for member, analysis in enumerate(analyses):
        if analysis is None:
            continue
        postings += _posting_keys(analysis, member)
        if analysis.traits.is_code:
            defined += [
                term_hash(name) << 40 | member << 32 | place
                for place, name in enumerate(analysis.own_names())
                if name
            ]
        referred += [term_hash(name) << 8 | member for name in analysis.used_names()]
    postings.sort()
    defined.sort()
    # Of two names with one hash, one file stands for both.
    referred = sorted(set(referred))
    terms = Counter([key >> 24 for key in postings])  # in order, as the keys are
    return b"".join(
        [
            column("I", [len(terms), len(postings), len(defined), len(referred)]),
            column("I", terms),
            column("I", accumulate(terms.values())),
            column("H", [key & 0xFFFF for key in postings]),
            bytes([key >> 16 & 0xFF for key in postings]),
            column("I", [key >> 40 for key in defined]),
            column("I", [key & 0xFFFFFFFF for key in defined]),
            bytes([key >> 32 & 0xFF for key in defined]),
            column("I", [key >> 8 for key in referred]),
            bytes([key & 0xFF for key in referred]),
        ]
    )


def _posting_keys(analysis: Analysis, member: int) -> list[int]:
    """Return one number for each term of a file: its hash, the file, how often, in how many pieces."""
    occurrences, pieces = analysis.term_totals
    middle = member << 16
    most = _MOST_COUNT << 8
    return [
        hashed << 24
        | middle
        | (count << 8 if count < _MOST_COUNT else most)
        | (places if places < _MOST_COUNT else _MOST_COUNT)
        for (hashed, count), places in zip(occurrences.items(), pieces.values(), strict=True)
    ]


def _equal(values: memoryview, wanted: int) -> range:
    """Return the places in sorted ``values`` that hold ``wanted``."""
    start = bisect_left(values, wanted)
    return range(start, bisect_right(values, wanted, start))
