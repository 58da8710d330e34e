"""What analysing one file found, as the index keeps it and as it is read again."""

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import accumulate, count, pairwise
from operator import sub
from typing import Any, Final, NamedTuple, Protocol

from aggregate.base.values import row_maker
from aggregate.ranking.files.packing import column, inflated, numbers
from aggregate.ranking.files.term_tables import MOST_MEMBERS, TermTable


class Piece(NamedTuple):
    """A run of at most some dozen lines that belongs to one definition, or to none; the pieces of a file cover it."""

    first: int
    last: int
    definition: int  # place of its innermost one in ``Analysis.definitions``, ``-1`` for none
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


class FileFacts(NamedTuple):
    """What is known of each candidate without loading its analysis."""

    path: str  # as the prompt shows it: relative to the base directory, with ``/``
    language: str
    is_code: bool  # whether that is a programming language; prose, data and markup are none
    characters: int
    pieces: int  # about, by its lines
    is_generated: bool = False


_DEFINED_NAME: Final = row_maker(DefinedName)
_PIECE: Final = row_maker(Piece)
_REFERENCE: Final = row_maker(Reference)
# Last lines, definitions, and characters of three kinds; first lines follow from the last ones.
_PIECE_COLUMNS: Final = 5


class Analysis:
    """What ``analyse`` found in a file, of its name and its bytes alone; decoded as far as it is asked for."""

    def __init__(self, sections: Sequence[bytes]) -> None:
        self._sections = sections

    @property
    def problem(self) -> str:
        """Why its grammar was not asked, ``""`` where it was, or there is none."""
        return self._sections[0].decode()

    @cached_property
    def definitions(self) -> Sequence[DefinedName]:
        paths: list[tuple[str, ...]] = []
        rows = _rows(self._sections[1])
        for row in rows:  # a loop for the ten thousand definitions of a question's candidates
            shared, names, outer = row[1], row[2], row[-1]
            path = (*paths[outer][:shared], *names) if shared else tuple(names)
            paths.append(path)
            row[1:3] = (path,)
        return list(map(_DEFINED_NAME, rows))

    @cached_property
    def named(self) -> Mapping[str, Sequence[int]]:
        """The places of the definitions by their own names."""
        places: dict[str, list[int]] = {}
        for place, definition in enumerate(self.definitions):
            if definition.path:
                places.setdefault(definition.path[-1], []).append(place)
        return places

    @cached_property
    def pieces(self) -> Sequence[Piece]:
        values = numbers("i", inflated(self._sections[2])).tolist()
        rows = len(values) // _PIECE_COLUMNS
        columns = [values[column * rows :][:rows] for column in range(_PIECE_COLUMNS)]
        firsts = [1, *(last + 1 for last in columns[0][:-1])][:rows]
        return list(map(_PIECE, zip(firsts, *columns, strict=True)))

    @property
    def has_references(self) -> bool:
        """Whether references were looked for."""
        return bool(self._sections[3])

    def with_references(self, packed: bytes) -> "Analysis":
        return Analysis([*self._sections[:3], packed, *self._sections[4:]])

    @cached_property
    def references(self) -> Sequence[Reference]:
        if not self.has_references:
            raise ValueError("references are asked for when an analysis is loaded")
        return list(map(_REFERENCE, _rows(self._sections[3])))

    @cached_property
    def statements(self) -> Sequence[int]:
        """For each line the first one of those that are shown with it or not at all; ``()`` where each is alone."""
        above = numbers("i", inflated(self._sections[4]))
        return list(map(sub, count(1), above))

    def pieces_with(self, term: str) -> Mapping[int, int]:
        """Return the places of the pieces that hold a term, and how often each does."""
        return {
            number * MOST_MEMBERS + place: often
            for number, table in enumerate(self._terms)
            for place, often in table.texts_with(term).items()
        }

    @cached_property
    def _terms(self) -> Sequence[TermTable]:
        return [TermTable(inflated(section)) for section in self._sections[5:]]

    def pack(self) -> bytes:
        ends = accumulate(map(len, self._sections))
        return column("I", [len(self._sections), *ends]) + b"".join(self._sections)

    @classmethod
    def unpack(cls, data: bytes) -> "Analysis":
        (sections,) = numbers("I", data[:4])
        start = 4 + 4 * sections
        bounds = [0, *numbers("I", data[4:start])]
        return cls([data[start + begin : start + end] for begin, end in pairwise(bounds)])


class Corpus(Protocol):
    """The candidates; a file's number is its place in ``files``.

    Terms are what ``ranking.terms`` makes of a text. All but ``analyses`` is known of each file by its words alone.
    """

    @property
    def files(self) -> Sequence[FileFacts]:
        """All candidates, in the order of the prompt; what could not be read is left out."""

    def look_up(self, terms: Sequence[str]) -> None:
        """Find the files that hold some terms at once, for ``files_with``; what was not named here is found there."""

    def files_with(self, term: str) -> Mapping[int, int]:
        """Return how often a term occurs in each file that holds it."""

    def files_defining(self, name: str) -> Sequence[int]:
        """Return the files in which ``name``, as written, stands where a definition has its name."""

    def analyses(self, files: Sequence[int], *, with_references: bool = False) -> list[Analysis]:
        """Load the analyses of some files at once; what was loaded before is kept. Only some have references."""


def _rows(section: bytes) -> list[Any]:
    # As a text: of bytes the library guesses the encoding, which takes a sixth of its time.
    rows: list[Any] = json.loads(inflated(section).decode())
    return rows
