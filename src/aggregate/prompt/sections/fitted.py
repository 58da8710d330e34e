"""A section of a prompt that shows as much as fits into a number of tokens."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from aggregate.prompt.document import SEPARATOR, Cut, Segment

Count = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class FittedSection:
    """What a section shows within a number of tokens, and its own.

    ``needed`` are those of the section with all of it; ``cuts`` is what the audit tells (rule A-4).
    """

    segments: tuple[Segment, ...] = ()
    tokens: int = 0
    needed: int = 0
    cuts: tuple[Cut, ...] = ()


def tokens_of(segments: Sequence[Segment], count: Count) -> int:
    return sum(count(segment.text + SEPARATOR) for segment in segments)
