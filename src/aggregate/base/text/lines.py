"""Split, compare and shorten lines."""

from bisect import bisect_left
from collections.abc import Sequence
from typing import Final


def split_lines(text: str) -> list[str]:
    r"""Split a text after each ``\n``, keeping line ends.

    Unlike ``str.splitlines`` it does not split at form feeds or U+2028, so that line numbers agree with editors, git
    and tree-sitter.
    """
    if not text:
        return []
    lines = [line + "\n" for line in text.split("\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def with_line_feeds(text: str) -> str:
    r"""Replace each ``\r`` by ``\n`` in a text without ``\n``.

    Old Macintosh files have such texts. Offsets stay the same.
    """
    return text if "\n" in text else text.replace("\r", "\n")


def line_count(text: str) -> int:
    return text.count("\n") + (1 if text and not text.endswith("\n") else 0)


def common_prefix(earlier: Sequence[str], later: Sequence[str]) -> int:
    pairs = enumerate(zip(earlier, later, strict=False))
    shortest = min(len(earlier), len(later))
    return next((number for number, (left, right) in pairs if left != right), shortest)


def longest_rising(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest subsequence of sorted pairs with rising second numbers."""
    # Patience sorting: the smallest end of a rising run by length, and the predecessor of each pair.
    ends: list[int] = []
    last: list[int] = []
    predecessors: list[int] = []
    for number, (_, value) in enumerate(pairs):
        length = bisect_left(ends, value)
        predecessors.append(last[length - 1] if length else -1)
        ends[length : length + 1] = [value]
        last[length : length + 1] = [number]
    rising: list[tuple[int, int]] = []
    number = last[-1] if last else -1
    while number >= 0:
        rising.append(pairs[number])
        number = predecessors[number]
    return rising[::-1]


# Characters; a longer line is embedded data, such as a picture.
LONG_LINE: Final = 5_000
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
