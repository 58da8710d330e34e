"""The files that are candidates for a prompt, as ranking sees them."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from aggregate.ranking.file_analysis import FileAnalysis


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
        ...

    def look_up(self, terms: Sequence[str]) -> None:
        """Find the files that hold some terms at once, for ``files_with``; what was not named here is found there."""
        ...

    def files_with(self, term: str) -> Mapping[int, TermInFile]:
        """Return the files whose text holds ``term``."""
        ...

    def files_defining(self, name: str) -> Sequence[tuple[int, int]]:
        """Return ``(file, place of the definition)`` for each definition whose own name is ``name``, as written."""
        ...

    def files_referring(self, name: str) -> Sequence[int]:
        """Return the files that use ``name``, as written."""
        ...

    def analyses(self, files: Sequence[int]) -> Sequence[FileAnalysis]:
        """Load the analyses of some files at once; what was loaded before is kept."""
        ...
