"""The finished prompt: segments with their provenance, and images."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from aggregate.base.files import ShownText
from aggregate.base.values import escape_surrogates


@dataclass(frozen=True, slots=True)
class Image:
    path: str  # as in the prompt's link
    media_type: str  # by its content, such as ``image/png``
    data: bytes = field(repr=False)
    width: int  # in pixels
    height: int

    @property
    def digest(self) -> str:
        return hashlib.blake2b(self.data, digest_size=8).hexdigest()


@dataclass(frozen=True, slots=True)
class Screenshot:
    path: str  # relative to the screenshots' base directory with ``/``
    exists: bool = True
    refused: str = ""  # why it may not be shown
    file: str = field(default="", compare=False, repr=False)  # where it lies, if it may be shown

    @property
    def problem(self) -> str:
        return self.refused or ("" if self.exists else "file not found")


class Section(StrEnum):
    """The sections of a prompt in their order.

    The discussion is last if the prompt waits for a message.
    """

    PROJECT = "project"
    TREE = "tree"
    FILES = "files"
    CHANGED = "changed"
    SCREENSHOTS = "screenshots"
    BEADS = "beads"
    RESULTS = "results"
    HISTORY = "history"
    INSTRUCTIONS = "instructions"
    ATTACHED = "attached"
    CHANGES = "changes"
    TASK = "task"


class Stability(StrEnum):
    """How often a segment changes between turns."""

    STABLE = "stable"
    SLOW = "slow"
    VOLATILE = "volatile"


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of the prompt with one origin.

    ``text`` begins with ``#`` or ``-``, unless it is the first, and neither begins nor ends with a separator. So its
    bytes do not depend on its neighbours, and token counts of segments add up exactly (see ``aggregate.base.tokens``).
    Lone surrogates are escaped, since UTF-8 cannot encode them.
    """

    section: Section
    text: str
    stability: Stability
    source: str = ""  # path of the file, name of the variable, or ``""`` for a section's heading
    # The source lines of a file's block, if they are known.
    shown: ShownText | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", escape_surrogates(self.text))


SEPARATOR = "\n\n"  # between two segments
END = "\n"  # behind the last segment of a written prompt


@dataclass(frozen=True, slots=True)
class Prompt:
    """The segments of a prompt in order."""

    segments: tuple[Segment, ...]

    @property
    def markdown(self) -> str:
        """The prompt's text as sent to a model."""
        return SEPARATOR.join(segment.text for segment in self.segments)

    @property
    def written(self) -> str:
        """The text of a prompt's file, with a final line feed."""
        return f"{self.markdown}{END}" if self.segments else ""

    def pieces(self, end: str = END) -> Iterator[bytes]:
        """Yield the prompt's text as UTF-8, with the text ``end`` after the last segment."""
        # One character outside of the basic plane makes Python store a text with four bytes a character; small pieces
        # limit that.
        for i, segment in enumerate(self.segments):
            if i:
                yield SEPARATOR.encode()
            yield segment.text.encode()
        if self.segments:
            yield end.encode()


class Cut(NamedTuple):
    """A shortened or omitted turn, result or list.

    It was cut to keep the budget (rule A-4).
    """

    section: str  # ``"history"``, ``"results"``, ``"beads"`` or ``"screenshots"``
    what: str  # the turn, result or list
    tokens: int  # tokens saved
    reason: str  # a sentence
