"""Answers within a cap of tokens: as many whole lines as fit, and how to go on."""

from collections.abc import Callable, Sequence
from typing import Final

CAP: Final = 8_000
"""Tokens of an answer: hosts cut longer ones, or write them to a file (Claude Code from 25,000 on)."""
LEAST_CAP: Final = 500
"""What an answer says besides the text that was asked for has some hundred tokens."""
Count = Callable[[str], int]
"""Returns the tokens of a text."""


def fitting_lines(lines: Sequence[str], limit: int, count: Count) -> int:
    """Return how many of the first lines have at most ``limit`` tokens together; ``lines`` keep their line breaks."""
    low, high = 0, len(lines)
    while low < high:
        middle = (low + high + 1) // 2
        if count("".join(lines[:middle])) <= limit:
            low = middle
        else:
            high = middle - 1
    return low


def capped(text: str, limit: int, count: Count, *, more: str) -> str:
    """Return ``text``, or as many of its first lines as fit, with what was left out and how to get it.

    Args:
        text: The answer.
        limit: The most tokens.
        count: Counts them.
        more: What to do for the rest, in a few words.
    """
    if count(text) <= limit:
        return text
    lines = text.splitlines(keepends=True)
    number = fitting_lines(lines, limit - count(_rest(len(lines), more)), count)
    return "".join(lines[:number]) + _rest(len(lines) - number, more)


def _rest(number: int, more: str) -> str:
    return f"[{number:,} more {'line' if number == 1 else 'lines'}: {more}]\n"


def cut_line(line: str, limit: int, count: Count) -> str:
    """Return as much of one line, too long for an answer, as has at most ``limit`` tokens."""
    low, high = 0, len(line)
    while low < high:
        middle = (low + high + 1) // 2
        if count(line[:middle]) <= limit:
            low = middle
        else:
            high = middle - 1
    return line[:low]
