"""Exact token counts of a prompt's segments, which come one after another; what was counted once is looked up."""

from functools import cache
from hashlib import sha256
from struct import Struct

from aggregate.base.monitor import get_monitor
from aggregate.base.tokens import TokenCounter
from aggregate.project.index import Index, Kind, code_version

_LOOKED_UP = 500
"""Segments that the index is asked for at once."""
_WAITING_CHARACTERS = 1_000_000
"""The most text for which the index is asked at once."""
COUNT = Struct("<Q")
"""How a count is kept."""
TOKEN_CODE = ("base.errors", "base.tokens")
"""Whose code takes part in counting."""
TOKEN_LIBRARIES = ("tiktoken",)
"""What others have made of that: the tokenizer. The vocabulary's hash stands in our code."""


class SegmentCounter:
    """Counts segments as they come, each with what separates it from the next, in threads if there are many.

    Args:
        index: Keeps counts from run to run, by the hash of what was counted.
    """

    def __init__(self, index: Index) -> None:
        self._index = index
        self._waiting: list[tuple[bytes, str]] = []
        self._size = 0
        self._counts: list[int | None] = []
        self._counted: list[tuple[int, bytes]] = []
        """The positions and keys of segments that are counted because the index does not know them."""
        self._counter = TokenCounter()

    def add(self, text: str, data: bytes, separator: str) -> None:
        """Count a segment: its ``text``, the same in UTF-8, and what stands behind it."""
        digest = sha256(data)
        digest.update(separator.encode())
        self._waiting.append((digest.digest(), text + separator))
        self._size += len(text)
        if self._size >= _WAITING_CHARACTERS or len(self._waiting) >= _LOOKED_UP:
            self._look_up()

    @get_monitor().scope("count_tokens")
    def counts(self) -> list[int]:
        """Return the tokens of all segments, in order; once, behind the last one."""
        self._look_up()
        with self._counter:
            results = self._counter.results()
        for (position, _), tokens in zip(self._counted, results, strict=True):
            self._counts[position] = tokens
        keys = (key for _, key in self._counted)
        rows = zip(keys, map(COUNT.pack, results), strict=True)
        self._index.put_many(token_kind(), rows)
        return [tokens for tokens in self._counts if tokens is not None]

    def _look_up(self) -> None:
        """Ask the index for what waits, and begin to count what it does not know."""
        known = self._index.get_many(token_kind(), [key for key, _ in self._waiting])
        for (key, text), row in zip(self._waiting, known, strict=True):
            if row is None:
                self._counted.append((len(self._counts), key))
                self._counter.submit(text)
            self._counts.append(COUNT.unpack(row)[0] if row else None)
        self._waiting, self._size = [], 0


@cache
def token_version() -> str:
    """Return a version of all that counts tokens, ``""`` where it cannot be told."""
    return code_version(TOKEN_CODE, installed=TOKEN_LIBRARIES)


@cache
def token_kind() -> Kind:
    """Return the kind of what the index keeps of counts, by the SHA-256 of the text."""
    return Kind("tokens", token_version())
