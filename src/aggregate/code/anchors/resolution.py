"""What became of a slice: the value that relocating returns."""

from dataclasses import dataclass
from enum import Enum


class AnchorState(Enum):
    """How sure the place of a slice is; only the first three carry line numbers."""

    FRESH = "fresh"
    """The same text at the same lines."""
    MOVED = "moved"
    """The same text at other lines."""
    EDITED = "edited"
    """The place is known, its text was changed."""
    AMBIGUOUS = "ambiguous"
    """Several places fit equally well, or one fits without enough to tell that it is the right one."""
    ORPHANED = "orphaned"
    """The lines no longer exist in the text."""


@dataclass(frozen=True, slots=True)
class Resolution:
    """The place of a slice in a text.

    Attributes:
        start_line: First line, 1-based; ``0`` where the slice is ambiguous or orphaned, so that no wrong line is shown.
        end_line: Last line, inclusive; ``0`` likewise.
        state: How sure the place is.
        reason: One sentence for the reader of the prompt; ``""`` for a fresh slice.
        candidates: The places ``(start_line, end_line)`` of an ambiguous slice, at most eight; else empty.
    """

    start_line: int
    end_line: int
    state: AnchorState
    reason: str = ""
    candidates: tuple[tuple[int, int], ...] = ()

    @property
    def found(self) -> bool:
        """Whether the line numbers may be used."""
        return self.state in (AnchorState.FRESH, AnchorState.MOVED, AnchorState.EDITED)
