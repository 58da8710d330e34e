"""Which of some texts hold a term: files of a group, or pieces of a file. Of terms hashes are kept, and no word."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import accumulate
from typing import Final

from aggregate.ranking.files.packing import column, numbers
from aggregate.ranking.terms import hashes_of_terms, term_hash

MOST_MEMBERS: Final = 255  # texts of a table: the place of each is kept in one byte
_MOST_COUNT: Final = 255
_SIZE: Final = 4  # bytes of a number


class TermTable:
    """The terms of some texts, read where they lie."""

    __slots__ = ("_ends", "_pairs", "_terms")

    def __init__(self, data: bytes) -> None:
        view = memoryview(data)
        (terms,) = numbers("I", view[:_SIZE])
        behind = _SIZE * (1 + terms)
        self._terms = numbers("I", view[_SIZE:behind])
        self._ends = numbers("I", view[behind : behind + _SIZE * terms])
        self._pairs = view[behind + _SIZE * terms :]

    def texts_with(self, term: str) -> dict[int, int]:
        """Return the places of the texts that hold a term, and how often each does: of a word up to 255 times."""
        hashed, terms = term_hash(term), self._terms
        place = bisect_left(terms, hashed)
        if place == len(terms) or terms[place] != hashed:
            return {}
        pairs = self._pairs[self._ends[place - 1] if place else 0 : self._ends[place]]
        texts: dict[int, int] = {}
        for text, count in zip(pairs[::2], pairs[1::2], strict=True):
            texts[text] = texts.get(text, 0) + count
        return texts


def pack_terms(texts: Sequence[Mapping[bytes, int]]) -> bytes:
    """Return the table of at most ``MOST_MEMBERS`` texts by how often each word occurs in them."""
    words: dict[bytes, bytes] = {}  # for each text that holds a word its place, and how often
    for place, counts in enumerate(texts):  # a loop for a million words of a project
        made = _pairs_of(place)
        for word, count in counts.items():
            pair = made[count if count < _MOST_COUNT else _MOST_COUNT]
            words[word] = words.get(word, b"") + pair
    pairs: dict[int, bytes] = {}  # the same of terms; of each of its words a text has a pair
    for word, held in words.items():
        for hashed in hashes_of_terms(word):
            pairs[hashed] = pairs.get(hashed, b"") + held
    terms = sorted(pairs)
    rows = [pairs[term] for term in terms]
    head = column("I", [len(terms), *terms]) + column("I", accumulate(map(len, rows)))
    return head + b"".join(rows)


@cache
def _pairs_of(place: int) -> Sequence[bytes]:
    return [bytes([place, count]) for count in range(_MOST_COUNT + 1)]
