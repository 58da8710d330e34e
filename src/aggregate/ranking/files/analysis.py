"""The analysis of one file, and its packed form."""

import json
from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from itertools import accumulate, count, pairwise
from operator import sub
from typing import Any, Final, NamedTuple, Protocol

from aggregate.ranking.files.rough import (
    MOST_MEMBERS,
    FileFacts,
    TermTable,
    column,
    inflated,
    numbers,
)

LONGEST_SIGNATURE = 12  # lines; the rest is shown with the body


class Piece(NamedTuple):
    """Some dozen consecutive lines of a file, all of one definition or outside of any."""

    first: int
    last: int
    definition: int  # innermost, an index into ``Analysis.definitions``; ``-1`` for none
    characters: int = 0
    comments: int = 0  # characters of comments, docstrings and a licence
    preamble: int = 0  # characters of imports and a licence


class DefinedName(NamedTuple):
    """A definition of a file: its name, kind and lines."""

    kind: str
    path: tuple[str, ...]  # names of enclosing definitions, then its own
    first: int  # with comments and decorators above
    signature: int
    body: int  # the first line after the signature
    last: int
    outer: int  # index of the enclosing definition, ``-1`` for none

    @property
    def signature_lines(self) -> tuple[int, int]:
        last = max(self.signature, min(self.body - 1, self.last))
        return self.signature, min(last, self.signature + LONGEST_SIGNATURE - 1)


class Reference(NamedTuple):
    """A use of a name perhaps defined elsewhere."""

    name: str
    kind: str
    line: int  # 1-based line of the first use in its definition
    definition: int
    scope: str = ""  # the qualifier before the name; for an import the module as written


# Constructors that check nothing: a third of the time of a call.
_DEFINED_NAME: Final = partial(tuple.__new__, DefinedName)
_PIECE: Final = partial(tuple.__new__, Piece)
_REFERENCE: Final = partial(tuple.__new__, Reference)
# Last lines, definitions, and characters of three kinds; first lines follow from last lines.
_PIECE_COLUMNS: Final = 5


class Analysis:
    """The definitions, pieces and terms of a file, decoded from the index when they are used.

    Attributes:
        problem: Why the file was not parsed, ``""`` for none.
        has_references: Whether references were collected.
    """

    def __init__(self, sections: Sequence[bytes]) -> None:
        self._sections = sections
        self.problem = sections[0].decode()
        self.has_references = bool(sections[3])

    @cached_property
    def definitions(self) -> Sequence[DefinedName]:
        paths: list[tuple[str, ...]] = []
        rows = _rows(self._sections[1])
        for row in rows:  # hot loop: a question's candidates have ten thousand definitions
            shared, names, outer = row[1], row[2], row[-1]
            path = (*paths[outer][:shared], *names) if shared else tuple(names)
            paths.append(path)
            row[1:3] = (path,)
        return list(map(_DEFINED_NAME, rows))

    @cached_property
    def named(self) -> Mapping[str, Sequence[int]]:
        """Definitions by name, as indices."""
        by_name: dict[str, list[int]] = {}
        for index, definition in enumerate(self.definitions):
            if definition.path:
                by_name.setdefault(definition.path[-1], []).append(index)
        return by_name

    @cached_property
    def pieces(self) -> Sequence[Piece]:
        values = numbers("i", inflated(self._sections[2])).tolist()
        rows = len(values) // _PIECE_COLUMNS
        columns = [values[column * rows :][:rows] for column in range(_PIECE_COLUMNS)]
        firsts = [1, *(last + 1 for last in columns[0][:-1])][:rows]
        return list(map(_PIECE, zip(firsts, *columns, strict=True)))

    def with_references(self, packed: bytes) -> "Analysis":
        return Analysis([*self._sections[:3], packed, *self._sections[4:]])

    @cached_property
    def references(self) -> Sequence[Reference]:
        if not self.has_references:
            raise ValueError("the analysis was loaded without references")
        return list(map(_REFERENCE, _rows(self._sections[3])))

    @cached_property
    def statements(self) -> Sequence[int]:
        """The first line of each line's statement; ``()`` if each line is its own statement."""
        above = numbers("i", inflated(self._sections[4]))
        return list(map(sub, count(1), above))

    def pieces_with(self, term: str) -> Mapping[int, int]:
        """Return how often a term occurs in each piece that contains it."""
        return {
            number * MOST_MEMBERS + piece: count
            for number, table in enumerate(self._terms)
            for piece, count in table.texts_with(term).items()
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
    """The files to rank.

    A file's number is its index in ``files``. Terms are defined in ``ranking.terms``. Only ``analyses`` needs parsed
    files.
    """

    @property
    def files(self) -> Sequence[FileFacts]:
        """All readable files, in the order of a prompt."""

    def look_up(self, terms: Sequence[str]) -> None:
        """Load in one pass which files contain these terms; optional, for speed."""

    def files_with(self, term: str) -> Mapping[int, int]:
        """Return how often a term occurs in each file that contains it."""

    def files_defining(self, name: str) -> Sequence[int]:
        """Return the files that probably define a name, found without parsing."""

    def analyses(self, files: Sequence[int], *, with_references: bool = False) -> list[Analysis]:
        """Return the analyses of the files with these numbers; references are read only if asked for."""


def _rows(section: bytes) -> list[Any]:
    # Decoded here: guessing the encoding takes the library a sixth of its time.
    rows: list[Any] = json.loads(inflated(section).decode())
    return rows
