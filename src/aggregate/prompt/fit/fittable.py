"""A file as a fit sees it: its definitions and pieces, and how likely the task touches each."""

from collections.abc import Sequence
from dataclasses import dataclass

from aggregate.ranking import DefinedName, Piece


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
    definitions: Sequence[DefinedName] = ()
    pieces: Sequence[Piece] = ()
    chances: Sequence[float] = ()
    is_prose: bool = False
