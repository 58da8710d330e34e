"""A packed table about a group of files: facts, and names that they probably define."""

import json
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Any, Final

from aggregate.ranking.files.analysis import FileFacts
from aggregate.ranking.files.packing import column, numbers
from aggregate.ranking.files.rough import RoughFile
from aggregate.ranking.files.term_tables import pack_terms
from aggregate.ranking.terms import term_hash

_UNREADABLE: Final = FileFacts("", "", is_code=False, characters=0, pieces=0)
_SIZE: Final = 4  # bytes of a number
_COUNTS: Final = 2  # columns of numbers


class GroupTable:
    """A packed table about a group of files: facts, and names that they probably define."""

    __slots__ = ("_count", "_defining", "_hashes", "_languages", "_traits")

    def __init__(self, data: bytes) -> None:
        view = memoryview(data)
        size = int(numbers("I", view[:_SIZE])[0])
        self._count, self._languages = json.loads(data[_SIZE : _SIZE + size])
        start = _SIZE + size
        self._traits = view[start:]
        names = view[start + (2 + _COUNTS * _SIZE) * self._count :]
        count = len(names) // (_SIZE + 1)
        self._hashes = numbers("I", names[: _SIZE * count])  # of names, sorted
        self._defining = names[_SIZE * count :]  # file of each hash

    def columns(self) -> list[Sequence[Any]]:
        """Return the columns of the table: the fields of ``FileFacts`` except the first and the last."""
        count = self._count
        names, flags = self._traits[:count], self._traits[count : 2 * count]
        counts = numbers("I", self._traits[2 * count :][: _COUNTS * _SIZE * count])
        return [
            [self._languages[number] for number in names],
            [flag == 1 for flag in flags],
            *(counts[number * count : (number + 1) * count] for number in range(_COUNTS)),
        ]

    def files_defining(self, name: str) -> Sequence[int]:
        """Return the numbers of the files probably defining a name."""
        hashed = term_hash(name)
        start = bisect_left(self._hashes, hashed)
        return self._defining[start : bisect_right(self._hashes, hashed, start)]


def pack_tables(files: Sequence[RoughFile | None]) -> tuple[bytes, bytes]:
    """Pack facts and terms of files into two tables; ``None`` in ``files`` is an unreadable file."""
    terms = pack_terms([file.words if file else {} for file in files])
    return _packed_traits(files) + _packed_names(files), terms


def _packed_traits(files: Sequence[RoughFile | None]) -> bytes:
    traits = [file.facts if file else _UNREADABLE for file in files]
    languages = sorted({facts.language for facts in traits})
    head = json.dumps([len(files), languages]).encode()
    columns = (
        bytes([languages.index(facts.language) for facts in traits]),
        bytes([facts.is_code for facts in traits]),
        column("I", [facts.characters for facts in traits]),
        column("I", [facts.pieces for facts in traits]),
    )
    return b"".join([column("I", [len(head)]), head, *columns])


def _packed_names(files: Sequence[RoughFile | None]) -> bytes:
    defined = sorted(
        term_hash(name) << 8 | member
        for member, file in enumerate(files)
        if file
        for name in file.names
    )
    return column("I", [key >> 8 for key in defined]) + bytes([key & 0xFF for key in defined])
