"""The section of the discussion: what was said before, last in the prompt.

Its bytes are fixed by rule M-50; only content that could pass for another turn is fenced (``base.text.turns``).
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from aggregate.base.text import SpokenTurn, spoken_turn, turn_texts
from aggregate.base.values import SEPARATOR, Section, Segment, Stability

_RULE = f"---{SEPARATOR}"
_NAME = "Discussion Excerpt"
_EXCERPT = re.compile(rf"(?:{_RULE})?### {_NAME} [0-9]+{SEPARATOR}")


class Omitted(NamedTuple):
    """The first of some turns or results, which a budget leaves out: how many, and the tokens they have (rule B-5)."""

    number: int
    tokens: int

    def sentence(self, what: str) -> str:
        """Return the line that stands in their place; ``what`` one of them is."""
        number = f"1 {what} is" if self.number == 1 else f"{self.number:,} {what}s are"
        return f"- {number} left out: {self.tokens:,} tokens"


def build_discussion_section(history: Sequence[object]) -> str:
    """Render the excerpts without the section's heading (rules M-6, M-50).

    Args:
        history: Texts and mappings with ``role`` and ``content``, mixed at will; anything else is shown as ``str``.

    Returns:
        ``### Discussion Excerpt i`` and the text for each, with a rule between two; ``""`` for no history.
    """
    return SEPARATOR.join(segment.text for segment in discussion_segments(history)[1:])


def build_discussion_text(history: Sequence[object]) -> str:
    """Render the whole section with its heading, or ``""`` for no history (rules M-11, M-X4)."""
    return SEPARATOR.join(segment.text for segment in discussion_segments(history))


def discussion_segments(
    history: Sequence[object], omitted: Omitted | None = None
) -> tuple[Segment, ...]:
    """Return the section as a heading and one segment for each excerpt, none for no history.

    The rule between two excerpts begins the later one: the text of an excerpt is the same whatever follows it. Behind
    turns that are ``omitted``, the others keep their numbers.
    """
    return tuple(
        Segment(Section.HISTORY, text, Stability.VOLATILE, source)
        for text, source in _parts(history, omitted)
    )


def _parts(history: Sequence[object], omitted: Omitted | None) -> Iterator[tuple[str, str]]:
    if history:
        yield "## Discussion History", ""
    if history and omitted:
        yield omitted.sentence("earlier turn"), ""
    first = omitted.number + 1 if omitted else 1
    for number, text in enumerate(turn_texts(history), first):
        rule = _RULE if number > first else ""
        yield f"{rule}### {_NAME} {number}{SEPARATOR}{text}", f"{_NAME} {number}"


def excerpt_turn(segment: Segment) -> SpokenTurn | None:
    """Return what was said in an excerpt of the discussion, and by whom; ``None`` for any other segment."""
    if segment.section is not Section.HISTORY:
        return None
    heading = _EXCERPT.match(segment.text)
    return spoken_turn(segment.text[heading.end() :]) if heading else None
