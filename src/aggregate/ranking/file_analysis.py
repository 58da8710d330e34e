"""What one file's text tells about itself: definitions, pieces, terms and references."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol


class Piece(NamedTuple):
    """A run of at most some dozen lines that belongs to one definition, or to none; the pieces of a file cover it.

    Attributes:
        first: First line, 1-based.
        last: Last line, inclusive.
        definition: Place of its innermost definition in ``FileAnalysis.definitions``, ``-1`` for none.
        terms: How many terms it has, with repetitions.
        characters: Of its lines.
        comments: Characters of those that are comments, docstrings or a licence.
        preamble: Characters of those that are imports or a licence.
    """

    first: int
    last: int
    definition: int
    terms: int
    characters: int
    comments: int = 0
    preamble: int = 0


class DefinedName(NamedTuple):
    """A definition of a file.

    Attributes:
        kind: In the words of the language's query: ``class``, ``function``, ``heading``, ...
        path: Its name below the names of what it stands in.
        first: The first line of all that belongs to it, comments and decorators above it included; 1-based.
        signature: The first line of its signature.
        body: The first line that holds nothing of its signature; ``last + 1`` where there is none.
        last: The last line, inclusive.
        outer: Place of the definition around it, ``-1`` for none.
    """

    kind: str
    path: tuple[str, ...]
    first: int
    signature: int
    body: int
    last: int
    outer: int


class Reference(NamedTuple):
    """A name that a file uses and may define elsewhere.

    Attributes:
        name: The last part, such as ``area`` of ``shape.area()``.
        kind: ``call``, ``type``, ``import``, ``inherit`` or ``attribute``.
        line: Where it is first used so in its definition; 1-based.
        definition: Place of the innermost definition that uses it, ``-1`` for none.
        scope: What stands before the name, such as ``shape`` of ``shape.area()``, or for an import the module that it
            is taken from as written; ``""`` for nothing.
    """

    name: str
    kind: str
    line: int
    definition: int
    scope: str = ""


class FileAnalysis(Protocol):
    """What is known of one file's text; made from its bytes and its name alone."""

    @property
    def definitions(self) -> Sequence[DefinedName]:
        """In order of their lines, outer before inner."""
        ...

    @property
    def pieces(self) -> Sequence[Piece]:
        """In order of their lines."""
        ...

    @property
    def references(self) -> Sequence[Reference]:
        """In order of their lines, each name once for each definition that uses it."""
        ...

    def pieces_with(self, term: str) -> Sequence[tuple[int, int]]:
        """Return ``(place of the piece, how often)`` for each piece that holds ``term``."""
        ...
