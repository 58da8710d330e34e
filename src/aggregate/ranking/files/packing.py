"""Encode numbers as bytes, and compress bytes, for the index."""

import zlib
from array import array
from collections.abc import Iterable
from typing import Final, Literal

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
