"""Answers within a cap of tokens: as many whole lines as fit, and how to go on."""

from collections.abc import Callable, Sequence
from typing import Final

CAP: Final = 8_000  # tokens of an answer: hosts cut longer ones, or write them to a file (Claude Code from 25,000 on)
# What an answer says besides the text that was asked for has some hundred tokens.
LEAST_CAP: Final = 500
Count = Callable[[str], int]  # returns the tokens of a text


def fitting(text: Sequence[str] | str, limit: int, count: Count) -> int:
    """Return how many of the first lines, or of a line's first characters, have at most ``limit`` tokens together."""
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if count("".join(text[:middle])) <= limit:
            low = middle
        else:
            high = middle - 1
    return low


def capped(text: str, limit: int, count: Count, *, more: str) -> str:
    """Return ``text``, or as many of its first lines as fit, with how many are left out and what to do for ``more``."""
    if count(text) <= limit:
        return text
    lines = text.splitlines(keepends=True)
    number = fitting(lines, limit - count(_rest(len(lines), more)), count)
    return "".join(lines[:number]) + _rest(len(lines) - number, more)


def _rest(number: int, more: str) -> str:
    return f"[{number:,} more {'line' if number == 1 else 'lines'}: {more}]\n"
