"""Numbers and texts as bytes: columns that are read where they lie, deflated where that pays."""

import zlib
from array import array
from collections.abc import Iterable
from typing import Final, Literal

Code = Literal["H", "I", "i"]
"""Of numbers of 16 bits, of 32, and of 32 with a sign."""

_WORTH_BYTES: Final = 200
"""Shorter ones hardly get smaller."""
_LEVEL: Final = 1
"""Of zlib: sorted hashes do not get smaller by trying longer."""
_PLAIN, _DEFLATED = b"\0", b"\1"


def column(code: Code, values: Iterable[int]) -> bytes:
    """Return numbers as bytes in this machine's order.

    Args:
        code: Of the numbers.
        values: Numbers that fit.
    """
    return array(code, values).tobytes()


def numbers(code: Code, data: bytes | memoryview) -> memoryview:
    """Return the numbers that ``column`` made bytes, without copying them."""
    return memoryview(data).cast(code)


def deflated(data: bytes) -> bytes:
    """Return ``data`` made small."""
    return _PLAIN + data if len(data) < _WORTH_BYTES else _DEFLATED + zlib.compress(data, _LEVEL)


def inflated(data: bytes) -> bytes:
    """Return what ``deflated`` made small."""
    return data[1:] if data[:1] == _PLAIN else zlib.decompress(data[1:])
