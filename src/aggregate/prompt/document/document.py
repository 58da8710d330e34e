"""The finished prompt, in segments with their provenance, and the images that go with it."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from aggregate.base.files import ShownText
from aggregate.base.values import escape_surrogates


@dataclass(frozen=True, slots=True)
class Image:
    path: str  # as the prompt's link shows it
    media_type: str  # by its content, such as ``image/png``
    data: bytes = field(repr=False)
    width: int  # in pixels, as the height
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
    """The sections in the order in which they stand; a prompt that is not finished has its discussion last."""

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
    """How often a segment's bytes change from one turn to the next."""

    STABLE = "stable"
    SLOW = "slow"
    VOLATILE = "volatile"


@dataclass(frozen=True, slots=True)
class Segment:
    """A run of the prompt with one provenance.

    ``text`` begins with ``#`` or ``-``, unless it stands first, and neither begins nor ends with a separator: a
    segment's bytes stay the same whatever follows it, and token counts of segments add up to the count of the document
    exactly (see ``aggregate.base.tokens``). Halves of surrogate pairs in it are escaped, whoever gave them: UTF-8 holds
    none.
    """

    section: Section
    text: str
    stability: Stability
    source: str = ""  # path of the file, name of the variable, or ``""`` for a section's heading
    # Of a file's block, what its lines were made of, where that is known.
    shown: ShownText | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", escape_surrogates(self.text))


SEPARATOR = "\n\n"  # between two segments
END = "\n"  # behind the last segment of a written prompt


@dataclass(frozen=True, slots=True)
class Prompt:
    """Everything that a model is shown, in order."""

    segments: tuple[Segment, ...]

    @property
    def markdown(self) -> str:
        """The text as it is sent."""
        return SEPARATOR.join(segment.text for segment in self.segments)

    @property
    def written(self) -> str:
        """The text of a prompt's file, which ends with a line feed."""
        return f"{self.markdown}{END}" if self.segments else ""

    def pieces(self, end: str = END) -> Iterator[bytes]:
        """Yield the text as UTF-8, with ``end`` behind the last segment."""
        # One character outside of the basic plane makes Python keep the whole text in four bytes a character; the
        # pieces around it stay small, and quick to encode.
        for i, segment in enumerate(self.segments):
            if i:
                yield SEPARATOR.encode()
            yield segment.text.encode()
        if self.segments:
            yield end.encode()


class Cut(NamedTuple):
    """Something else than a file that was shortened or left out for the budget (rule A-4)."""

    section: str  # ``"history"``, ``"results"``, ``"beads"`` or ``"screenshots"``
    what: str  # which turn, result or list
    tokens: int  # how many that saved
    reason: str  # a sentence
