"""Exact token counts of texts."""

from collections.abc import Iterable

from aggregate.base.tokens.counter import TokenCounter


def count(text: str) -> int:
    """Return the number of o200k tokens of ``text``; special tokens in it count as the plain text that they are."""
    return count_all([text])[0] if text else 0


def count_all(texts: Iterable[str]) -> list[int]:
    """Return the number of tokens of each text, counted on all cores and in bounded memory."""
    with TokenCounter() as counter:
        for text in texts:
            counter.submit(text)
        return counter.results()
