"""Lines that no person writes, such as embedded pictures and tables: found, and shortened."""

from typing import Final

LONG_LINE: Final = 5_000  # characters; a longer line is data
# What stays of a longer one: its beginning names it, its end closes a string.
_HEAD, _TAIL = 300, 100


def has_long_line(text: str) -> bool:
    # Looked for from behind, so that a few characters of each five thousand are.
    start, last = 0, len(text) - LONG_LINE
    while start < last:
        end = text.rfind("\n", start, start + LONG_LINE + 1)
        if end < 0:
            return True
        start = end + 1
    return False


def shorten_long_lines(text: str) -> str:
    """Return a text of as many lines, the long ones with a mark that says how much of them is left out."""
    if not has_long_line(text):
        return text
    return "\n".join(map(_shortened, text.split("\n")))


def _shortened(line: str) -> str:
    if len(line) <= LONG_LINE:
        return line
    left_out = len(line) - _HEAD - _TAIL
    return (
        f"{line[:_HEAD]} ...[{left_out:,} of {len(line):,} characters left out]... {line[-_TAIL:]}"
    )
