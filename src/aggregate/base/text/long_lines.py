"""Shorten very long lines, which mostly contain embedded data such as pictures."""

from typing import Final

LONG_LINE: Final = 5_000  # characters; a longer line is data
_HEAD, _TAIL = 300, 100  # the beginning has a name, the end closes a string


def has_long_line(text: str) -> bool:
    # Searched backwards, which reads few characters of each five thousand.
    start, last = 0, len(text) - LONG_LINE
    while start < last:
        end = text.rfind("\n", start, start + LONG_LINE + 1)
        if end < 0:
            return True
        start = end + 1
    return False


def shorten_long_lines(text: str) -> str:
    """Cut the middle out of very long lines; the number of lines stays."""
    if not has_long_line(text):
        return text
    return "\n".join(map(_shorten, text.split("\n")))


def _shorten(line: str) -> str:
    if len(line) <= LONG_LINE:
        return line
    left_out = len(line) - _HEAD - _TAIL
    return (
        f"{line[:_HEAD]} ...[{left_out:,} of {len(line):,} characters left out]... {line[-_TAIL:]}"
    )
