"""A prompt's section, shortened to a token limit."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import NamedTuple

from aggregate.prompt.document import SEPARATOR, Cut, Segment

Count = Callable[[str], int]
NO_ROOM = "the section's share of the budget is used up"


class FittedSection(NamedTuple):
    """A section shortened to a token limit, with its cuts."""

    segments: tuple[Segment, ...] = ()
    tokens: int = 0
    needed: int = 0  # tokens of the whole section
    cuts: tuple[Cut, ...] = ()  # for the audit (rule A-4)


def tokens_of(segments: Sequence[Segment], count: Count) -> int:
    return sum(count(segment.text + SEPARATOR) for segment in segments)


def largest_size(
    lay_out: Callable[[int], Sequence[Segment]], whole: int, limit: int, count: Count
) -> int:
    """Return the largest size of a section with ``limit`` tokens more than its size 0.

    ``lay_out`` returns the section in a size from 0 to ``whole``; a larger size has more tokens.
    """

    def tokens(size: int) -> int:
        return tokens_of(lay_out(size), count)

    most = tokens(0) + limit
    if tokens(whole) <= most:
        return whole
    return max(bisect_right(range(whole), most, key=tokens) - 1, 0)
