"""Encode numbers and counts of terms as bytes, and compress bytes, for the index."""

import zlib
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import accumulate
from typing import Final, Literal

from aggregate.ranking.terms import hashes_of_terms, term_hash

Code = Literal["I", "i"]
_WORTH_BYTES: Final = 200  # shorter data hardly shrink
_LEVEL: Final = 1  # of zlib: higher levels do not shrink sorted hashes
_PLAIN, _DEFLATED = b"\0", b"\1"


def column(code: Code, values: Iterable[int]) -> bytes:
    """Return numbers as bytes of an array type (``code``), in this machine's byte order."""
    return array(code, values).tobytes()


def numbers(code: Code, data: bytes | memoryview) -> memoryview:
    return memoryview(data).cast(code)


def deflated(data: bytes) -> bytes:
    return _PLAIN + data if len(data) < _WORTH_BYTES else _DEFLATED + zlib.compress(data, _LEVEL)


def inflated(data: bytes) -> bytes:
    return data[1:] if data[:1] == _PLAIN else zlib.decompress(data[1:])


MOST_MEMBERS: Final = 255  # texts of a table: an index takes one byte
_MOST_COUNT: Final = 255
_SIZE: Final = 4  # bytes of a number


class TermTable:
    """A packed table of how often terms occur in texts; terms are stored as hashes."""

    __slots__ = ("_ends", "_pairs", "_terms")

    def __init__(self, data: bytes) -> None:
        view = memoryview(data)
        (terms,) = numbers("I", view[:_SIZE])
        start = _SIZE * (1 + terms)
        self._terms = numbers("I", view[_SIZE:start])
        self._ends = numbers("I", view[start : start + _SIZE * terms])
        self._pairs = view[start + _SIZE * terms :]

    def texts_with(self, term: str) -> dict[int, int]:
        """Count the occurrences of a term in each text.

        Texts without the term are left out. A word counts at most 255 times.
        """
        hashed, terms = term_hash(term), self._terms
        row = bisect_left(terms, hashed)
        if row == len(terms) or terms[row] != hashed:
            return {}
        pairs = self._pairs[self._ends[row - 1] if row else 0 : self._ends[row]]
        texts: dict[int, int] = {}
        for text, count in zip(pairs[::2], pairs[1::2], strict=True):
            texts[text] = texts.get(text, 0) + count
        return texts


def pack_terms(texts: Sequence[Mapping[bytes, int]]) -> bytes:
    """Pack the word counts of texts (at most ``MOST_MEMBERS``) into a table."""
    words: dict[bytes, bytes] = {}  # (text, count) pairs by word
    for index, counts in enumerate(texts):  # hot loop: a project has a million words
        pairs_by_count = _pairs_of(index)
        for word, count in counts.items():
            pair = pairs_by_count[count if count < _MOST_COUNT else _MOST_COUNT]
            words[word] = words.get(word, b"") + pair
    pairs: dict[int, bytes] = {}  # by hash of term; a pair for each of its words in a text
    for word, word_pairs in words.items():
        for hashed in hashes_of_terms(word):
            pairs[hashed] = pairs.get(hashed, b"") + word_pairs
    terms = sorted(pairs)
    rows = [pairs[term] for term in terms]
    head = column("I", [len(terms), *terms]) + column("I", accumulate(map(len, rows)))
    return head + b"".join(rows)


@cache
def _pairs_of(index: int) -> Sequence[bytes]:
    return [bytes([index, count]) for count in range(_MOST_COUNT + 1)]
