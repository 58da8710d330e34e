"""The tokens of assignments, whose contexts share most of their segments."""

from functools import lru_cache

from aggregate.agents.tracks.assignment import Assignment
from aggregate.base.tokens import count
from aggregate.base.values import SEPARATOR, Section

_REMEMBERED = 20_000
"""Segments of files whose counts are remembered, with their texts."""


class AssignmentTokens:
    """Counts assignments; a file that many of them show is counted once."""

    def __init__(self) -> None:
        self._count_shared = lru_cache(maxsize=_REMEMBERED)(_count_with_separator)

    def count(self, assignment: Assignment) -> int:
        """Return the exact number of o200k tokens of the assignment's text (see ``aggregate.base.tokens.counter``)."""
        segments = assignment.prompt.segments
        if not assignment.message:
            return count(assignment.text)
        tokens = count(assignment.message)
        for segment in segments:
            # Results are one ticket's own: to remember them would only take memory.
            shared = segment.section is Section.FILES
            counted = self._count_shared if shared else _count_with_separator
            tokens += counted(segment.text)
        return tokens


def _count_with_separator(text: str) -> int:
    return count(f"{text}{SEPARATOR}")
