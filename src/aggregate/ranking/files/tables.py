"""A table over some files: what is told of each, and which of them seem to define a name."""

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
_COUNTS: Final = 2  # columns of numbers that are told of a file


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

    def files_defining(self, name: str) -> Sequence[int]:
        """Return the places of the files that seem to define a name."""
        hashed = term_hash(name)
        start = bisect_left(self._named, hashed)
        return self._defining[start : bisect_right(self._named, hashed, start)]


def pack_tables(files: Sequence[RoughFile | None]) -> tuple[bytes, bytes]:
    """Return the table of files, ``None`` for one that cannot be read, and that of their terms."""
    terms = pack_terms([file.words if file else {} for file in files])
    return _packed_traits(files) + _packed_names(files), terms


def _packed_traits(files: Sequence[RoughFile | None]) -> bytes:
    traits = [file.facts if file else _UNREADABLE for file in files]
    languages = sorted({each.language for each in traits})
    head = json.dumps([len(files), languages]).encode()
    columns = (
        bytes([languages.index(each.language) for each in traits]),
        bytes([each.is_code for each in traits]),
        column("I", [each.characters for each in traits]),
        column("I", [each.pieces for each in traits]),
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
