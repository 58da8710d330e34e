"""The files that are candidates for a prompt as ranking sees them, and what each one's text tells."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol


class Piece(NamedTuple):
    """A run of at most some dozen lines that belongs to one definition, or to none; the pieces of a file cover it."""

    first: int
    last: int
    definition: int  # place of its innermost one in ``FileAnalysis.definitions``, ``-1`` for none
    terms: int
    characters: int
    comments: int = 0  # characters of those that are comments, docstrings or a licence
    preamble: int = 0  # characters of those that are imports or a licence


class DefinedName(NamedTuple):
    """A definition of a file."""

    kind: str
    path: tuple[str, ...]  # its name below the names of what it stands in
    first: int  # comments and decorators above it included
    signature: int
    body: int  # the first line that holds nothing of its signature
    last: int
    outer: int


class Reference(NamedTuple):
    """A name that a file uses and may define elsewhere."""

    name: str
    kind: str
    line: int  # where it is first used so in its definition; 1-based
    definition: int
    scope: str = ""  # what stands before the name; of an import the module as written


class FileAnalysis(Protocol):
    """What is known of one file's text; made from its bytes and its name alone."""

    @property
    def definitions(self) -> Sequence[DefinedName]: ...

    @property
    def pieces(self) -> Sequence[Piece]: ...

    @property
    def references(self) -> Sequence[Reference]: ...

    def pieces_with(self, term: str) -> Sequence[tuple[int, int]]:
        """Return ``(place of the piece, how often)`` for each piece that holds ``term``."""


class FileFacts(NamedTuple):
    """What is known of each candidate without loading its analysis."""

    path: str  # as the prompt shows it: relative to the base directory, with ``/``
    language: str
    is_code: bool  # whether that is a programming language; prose, data and markup are none
    characters: int
    terms: int
    pieces: int
    is_generated: bool = False


class TermInFile(NamedTuple):
    """How often a term occurs in a file."""

    occurrences: int  # in all, 255 where it is more
    pieces: int  # in how many pieces, 255 where it is more


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

    def files_with(self, term: str) -> Mapping[int, TermInFile]: ...

    def files_defining(self, name: str) -> Sequence[tuple[int, int]]:
        """Return ``(file, place of the definition)`` for each definition whose own name is ``name``, as written."""

    def files_referring(self, name: str) -> Sequence[int]: ...

    def analyses(self, files: Sequence[int]) -> Sequence[FileAnalysis]:
        """Load the analyses of some files at once; what was loaded before is kept."""
