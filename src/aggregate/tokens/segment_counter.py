"""Exact token counts of a prompt's segments, which come one after another."""

from aggregate.tokens.count import count_all

_BATCH_CHARACTERS = 4_000_000


class SegmentCounter:
    """Counts segments as they come, each with what separates it from the next."""

    def __init__(self) -> None:
        self._counts: list[int] = []
        self._texts: list[str] = []
        self._size = 0

    def add(self, text: str, data: bytes, separator: str) -> None:
        """Count a segment: its ``text``, the same in UTF-8, and what stands behind it."""
        self._texts.append(text + separator)
        self._size += len(text)
        if self._size >= _BATCH_CHARACTERS:
            self._count()

    def counts(self) -> list[int]:
        """Return the tokens of all segments so far, in order."""
        self._count()
        return self._counts

    def _count(self) -> None:
        self._counts += count_all(self._texts)
        self._texts, self._size = [], 0
