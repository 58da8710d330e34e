"""A file as a fit sees it: its definitions and pieces, and how likely the task touches each."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


class DefinitionLines(Protocol):
    """A definition, as ``ranking.DefinedName`` has it."""

    @property
    def first(self) -> int:
        """The first line of all that belongs to it."""
        ...

    @property
    def signature(self) -> int:
        """The first line of its signature."""
        ...

    @property
    def body(self) -> int:
        """The first line that holds nothing of its signature."""
        ...

    @property
    def last(self) -> int:
        """Its last line."""
        ...

    @property
    def outer(self) -> int:
        """Place of the definition around it, ``-1`` for none."""
        ...


class PieceLines(Protocol):
    """A piece, as ``ranking.Piece`` has it."""

    @property
    def first(self) -> int:
        """First line."""
        ...

    @property
    def last(self) -> int:
        """Last line."""
        ...

    @property
    def definition(self) -> int:
        """Place of its innermost definition, ``-1`` for none."""
        ...

    @property
    def characters(self) -> int:
        """Of its lines."""
        ...

    @property
    def comments(self) -> int:
        """Characters of those that are comments or a licence."""
        ...

    @property
    def preamble(self) -> int:
        """Characters of those that are imports or a licence."""
        ...


@dataclass(frozen=True, slots=True)
class Fittable:
    """A file that may be shown.

    Attributes:
        number: What it is called by.
        score: How likely the task touches it.
        definitions: In order of their lines, outer before inner.
        pieces: In order of their lines.
        chances: How likely the task touches each piece.
        is_prose: Whether its definitions are headings, which are kept where a section is shown.
    """

    number: int
    score: float
    definitions: Sequence[DefinitionLines] = ()
    pieces: Sequence[PieceLines] = ()
    chances: Sequence[float] = ()
    is_prose: bool = False
