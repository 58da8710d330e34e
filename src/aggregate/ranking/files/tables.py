"""Tables over some files: what is told of each, which of them hold a term, and which seem to define a name."""

import json
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import cache
from itertools import accumulate
from typing import Any, Final

from aggregate.ranking.files.analysis import FileFacts, column, numbers
from aggregate.ranking.files.rough import RoughFile

MOST_MEMBERS: Final = 255  # files of a table: the place of each is kept in one byte
_MOST_COUNT: Final = 255
_UNREADABLE: Final = FileFacts("", "", is_code=False, characters=0, terms=0, pieces=0)
_SIZE: Final = 4  # bytes of a number
_COUNTS: Final = 3  # columns of numbers that are told of a file


class FileTable:
    """What is told of files and which names they seem to define, read where it lies.

    Their terms are many times as much, and lie in a ``TermTable``.
    """

    __slots__ = ("_count", "_defining", "_languages", "_named", "_traits")

    def __init__(self, data: bytes) -> None:
        view = memoryview(data)
        size = int(numbers("I", view[:_SIZE])[0])
        self._count, self._languages = json.loads(data[_SIZE : _SIZE + size])
        start = _SIZE + size
        self._traits = view[start:]
        named = view[start + (2 + _COUNTS * _SIZE) * self._count :]
        names = len(named) // (_SIZE + 1)
        # The hashes of the names, sorted: one that is not among them need not be asked for.
        self._named = numbers("I", named[: _SIZE * names])
        self._defining = named[_SIZE * names :]

    def columns(self) -> list[Sequence[Any]]:
        """Return what ``FileFacts`` tells of each file behind its path, but for the last."""
        count = self._count
        names, flags = self._traits[:count], self._traits[count : 2 * count]
        counts = numbers("I", self._traits[2 * count :][: _COUNTS * _SIZE * count])
        return [
            [self._languages[number] for number in names],
            [flag == 1 for flag in flags],
            *(counts[number * count : (number + 1) * count] for number in range(_COUNTS)),
        ]

    def files_defining(self, name: int) -> Sequence[int]:
        """Return the places of the files that seem to define a name, given by its hash."""
        start = bisect_left(self._named, name)
        return self._defining[start : bisect_right(self._named, name, start)]


class TermTable:
    """The terms of some files, read where they lie."""

    __slots__ = ("_ends", "_pairs", "_terms")

    def __init__(self, data: bytes) -> None:
        view = memoryview(data)
        (terms,) = numbers("I", view[:_SIZE])
        behind = _SIZE * (1 + terms)
        self._terms = numbers("I", view[_SIZE:behind])
        self._ends = numbers("I", view[behind : behind + _SIZE * terms])
        self._pairs = view[behind + _SIZE * terms :]

    def files_with(self, term: int) -> tuple[Sequence[int], Sequence[int]]:
        """Return the places of the files that hold a term, given by its hash, and how often each does, 255 for more."""
        terms = self._terms
        place = bisect_left(terms, term)
        if place == len(terms) or terms[place] != term:
            return (), ()
        start = self._ends[place - 1] if place else 0
        pairs = self._pairs[start : self._ends[place]]
        return pairs[::2], pairs[1::2]


def pack_tables(files: Sequence[RoughFile | None]) -> tuple[bytes, bytes]:
    """Return the table of files, ``None`` for one that cannot be read, and that of their terms."""
    return _packed_traits(files) + _packed_names(files), _packed_terms(files)


def _packed_traits(files: Sequence[RoughFile | None]) -> bytes:
    traits = [file.facts if file else _UNREADABLE for file in files]
    languages = sorted({each.language for each in traits})
    head = json.dumps([len(files), languages]).encode()
    columns = (
        bytes([languages.index(each.language) for each in traits]),
        bytes([each.is_code for each in traits]),
        column("I", [each.characters for each in traits]),
        column("I", [each.terms for each in traits]),
        column("I", [each.pieces for each in traits]),
    )
    return b"".join([column("I", [len(head)]), head, *columns])


def _packed_names(files: Sequence[RoughFile | None]) -> bytes:
    defined = sorted(
        name << 8 | member for member, file in enumerate(files) if file for name in file.names
    )
    return column("I", [key >> 8 for key in defined]) + bytes([key & 0xFF for key in defined])


def _packed_terms(files: Sequence[RoughFile | None]) -> bytes:
    pairs: dict[int, bytes] = {}  # for each file that holds a term its place, and how often
    for member, file in enumerate(files):
        made = _pairs_of(member)
        for hashed, count in file.words.items() if file else ():
            pair = made[count if count < _MOST_COUNT else _MOST_COUNT]
            pairs[hashed] = pairs.get(hashed, b"") + pair
    terms = sorted(pairs)
    held = [pairs[term] for term in terms]
    head = column("I", [len(terms), *terms]) + column("I", accumulate(map(len, held)))
    return head + b"".join(held)


@cache
def _pairs_of(member: int) -> Sequence[bytes]:
    return [bytes([member, count]) for count in range(_MOST_COUNT + 1)]
