"""The section of the discussion: what was said before, last in the prompt.

Its bytes are fixed by rule M-50; only content that could pass for another turn is fenced (``base.text.turns``).
"""

import re
from collections.abc import Sequence
from itertools import repeat
from typing import NamedTuple

from aggregate.base.text import SpokenTurn, spoken_turn, turn_texts
from aggregate.base.values import SEPARATOR, Section, Segment, Stability

HEADING = "## Discussion History"
_RULE = "---"
_NAME = "Discussion Excerpt"
_EXCERPT = re.compile(rf"(?:{_RULE}{SEPARATOR})?### {_NAME} [0-9]+{SEPARATOR}")


class OmittedTurns(NamedTuple):
    """The oldest turns of a discussion, which a budget leaves out (rule B-5).

    Attributes:
        turns: How many.
        tokens: How many tokens they would have.
    """

    turns: int
    tokens: int

    @property
    def sentence(self) -> str:
        """The line that stands in their place."""
        turns = "1 earlier turn is" if self.turns == 1 else f"{self.turns:,} earlier turns are"
        return f"- {turns} left out: {self.tokens:,} tokens"


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
    history: Sequence[object], omitted: OmittedTurns | None = None
) -> tuple[Segment, ...]:
    """Return the section as a heading and one segment for each excerpt, none for no history.

    The rule between two excerpts begins the later one: the text of an excerpt is the same whatever follows it. Behind
    turns that are ``omitted``, the others keep their numbers.
    """
    before = omitted.turns if omitted else 0
    if not history:
        return ()
    rules = ("", *repeat(f"{_RULE}{SEPARATOR}", len(history) - 1))
    return (
        _segment(HEADING),
        *((_segment(omitted.sentence),) if omitted else ()),
        *(
            _segment(f"{rule}### {_NAME} {number}{SEPARATOR}{text}", source=f"{_NAME} {number}")
            for number, (rule, text) in enumerate(
                zip(rules, turn_texts(history), strict=True), before + 1
            )
        ),
    )


def excerpt_turn(segment: Segment) -> SpokenTurn | None:
    """Return what was said in an excerpt of the discussion, and by whom; ``None`` for any other segment."""
    if segment.section is not Section.HISTORY:
        return None
    heading = _EXCERPT.match(segment.text)
    return spoken_turn(segment.text[heading.end() :]) if heading else None


def _segment(text: str, *, source: str = "") -> Segment:
    return Segment(Section.HISTORY, text, Stability.VOLATILE, source)
