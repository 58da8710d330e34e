"""A prompt: the ordered segments that a model sees, of which markdown is one rendering."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from aggregate.base.values.shown_text import ShownText
from aggregate.base.values.surrogates import escape_surrogates


class Section(StrEnum):
    """The sections of a prompt, in the order in which they stand (rule M-9)."""

    FILES = "files"
    CHANGED = "changed"
    SCREENSHOTS = "screenshots"
    BEADS = "beads"
    RESULTS = "results"
    HISTORY = "history"


class Stability(StrEnum):
    """How often a segment's bytes change from one turn to the next."""

    STABLE = "stable"
    SLOW = "slow"
    VOLATILE = "volatile"


@dataclass(frozen=True, slots=True)
class Segment:
    """A run of the prompt with one provenance.

    ``text`` begins with ``#`` or ``-`` and neither begins nor ends with a separator: a segment's bytes stay the same
    whatever follows it, and token counts of segments add up to the count of the document exactly (see
    ``aggregate.base.tokens``). Halves of surrogate pairs in it are escaped, whoever gave them: UTF-8 holds none.

    Attributes:
        section: The section it belongs to.
        text: Its markdown.
        stability: How often it changes.
        source: Path of the file, name of the variable, or ``""`` for a section's heading.
        shown: Of a file's block, what its lines were made of, where that is known.
    """

    section: Section
    text: str
    stability: Stability
    source: str = ""
    shown: ShownText | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", escape_surrogates(self.text))


SEPARATOR = "\n\n"
"""Stands between two segments."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """Everything that a model is shown, in order."""

    segments: tuple[Segment, ...]

    @property
    def markdown(self) -> str:
        """The prompt as one markdown text."""
        return SEPARATOR.join(segment.text for segment in self.segments)

    def pieces(self) -> Iterator[bytes]:
        """Yield the markdown piece by piece, as it is written.

        One character outside of the basic plane makes Python keep the whole text in four bytes a character; the pieces
        around it stay small, and quick to encode.
        """
        for i, segment in enumerate(self.segments):
            if i:
                yield SEPARATOR.encode()
            yield segment.text.encode()
