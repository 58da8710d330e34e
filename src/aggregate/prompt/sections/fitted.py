"""A prompt's section, shortened to a token limit."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from aggregate.prompt.document import SEPARATOR, Cut, Segment

Count = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class FittedSection:
    """A section shortened to a token limit, with its cuts."""

    segments: tuple[Segment, ...] = ()
    tokens: int = 0
    needed: int = 0  # tokens of the whole section
    cuts: tuple[Cut, ...] = ()  # for the audit (rule A-4)


def tokens_of(segments: Sequence[Segment], count: Count) -> int:
    return sum(count(segment.text + SEPARATOR) for segment in segments)
