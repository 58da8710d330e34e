"""The files that are candidates for a prompt as ranking sees them, and what each one's text tells."""

from collections.abc import Mapping, Sequence
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

    @property
    def pieces(self) -> Sequence[Piece]:
        """In order of their lines."""

    @property
    def references(self) -> Sequence[Reference]:
        """In order of their lines, each name once for each definition that uses it."""

    def pieces_with(self, term: str) -> Sequence[tuple[int, int]]:
        """Return ``(place of the piece, how often)`` for each piece that holds ``term``."""


class FileFacts(NamedTuple):
    """What is known of each candidate without loading its analysis.

    Attributes:
        path: As the prompt shows it: relative to the base directory, with ``/``.
        language: The language's name, such as ``"python"``; ``""`` for none.
        is_code: Whether that is a programming language; prose, data and markup are none.
        characters: Of the text.
        terms: How many terms the text has, with repetitions.
        pieces: How many pieces.
        is_generated: Whether a program has written it.
    """

    path: str
    language: str
    is_code: bool
    characters: int
    terms: int
    pieces: int
    is_generated: bool = False


class TermInFile(NamedTuple):
    """How often a term occurs in a file.

    Attributes:
        occurrences: In all, 255 where it is more.
        pieces: In how many pieces, 255 where it is more.
    """

    occurrences: int
    pieces: int


class Corpus(Protocol):
    """The candidates; a file's number is its place in ``files``.

    Terms are what ``ranking.terms`` makes of a text. What is looked up costs time by its own size, not by the number
    of the candidates.
    """

    @property
    def files(self) -> Sequence[FileFacts]:
        """All candidates, in the order of the prompt; what could not be read is left out."""

    def look_up(self, terms: Sequence[str]) -> None:
        """Find the files that hold some terms at once, for ``files_with``; what was not named here is found there."""

    def files_with(self, term: str) -> Mapping[int, TermInFile]:
        """Return the files whose text holds ``term``."""

    def files_defining(self, name: str) -> Sequence[tuple[int, int]]:
        """Return ``(file, place of the definition)`` for each definition whose own name is ``name``, as written."""

    def files_referring(self, name: str) -> Sequence[int]:
        """Return the files that use ``name``, as written."""

    def analyses(self, files: Sequence[int]) -> Sequence[FileAnalysis]:
        """Load the analyses of some files at once; what was loaded before is kept."""
