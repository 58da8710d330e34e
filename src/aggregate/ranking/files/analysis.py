"""What analysing one file found, as the index keeps it and as it is read again, and tables over a group of files."""

import json
import zlib
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any, Final, Literal, NamedTuple, Protocol

from aggregate.base.values import row_maker
from aggregate.ranking.terms import term_hash


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


Code = Literal["H", "I", "i"]
_WORTH_BYTES: Final = 200  # shorter ones hardly get smaller
_LEVEL: Final = 1  # of zlib: sorted hashes do not get smaller by trying longer
_PLAIN, _DEFLATED = b"\0", b"\1"


def column(code: Code, values: Iterable[int]) -> bytes:
    """Return numbers as bytes in this machine's order."""
    return array(code, values).tobytes()


def numbers(code: Code, data: bytes | memoryview) -> memoryview:
    return memoryview(data).cast(code)


def deflated(data: bytes) -> bytes:
    return _PLAIN + data if len(data) < _WORTH_BYTES else _DEFLATED + zlib.compress(data, _LEVEL)


def inflated(data: bytes) -> bytes:
    return data[1:] if data[:1] == _PLAIN else zlib.decompress(data[1:])


_DEFINED_NAME: Final = row_maker(DefinedName)
_PIECE: Final = row_maker(Piece)
_REFERENCE: Final = row_maker(Reference)
# Last lines, definitions, terms, and characters of three kinds; first lines follow from the last ones.
_PIECE_COLUMNS: Final = 6


class FileTraits(NamedTuple):
    """What is told of a file beside its contents' terms; all of ``FileFacts`` but the path."""

    language: str
    is_code: bool
    characters: int
    terms: int
    pieces: int
    is_generated: bool


class Analysis:
    """What ``analyse`` found in a file, decoded as far as it is asked for; a ``FileAnalysis``."""

    def __init__(self, sections: Sequence[bytes]) -> None:
        self._sections = sections

    @cached_property
    def traits(self) -> FileTraits:
        return FileTraits(*_rows(self._sections[0]))

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
    def pieces(self) -> Sequence[Piece]:
        values = numbers("i", inflated(self._sections[2])).tolist()
        count = len(values) // _PIECE_COLUMNS
        columns = [values[column * count :][:count] for column in range(_PIECE_COLUMNS)]
        firsts = [1, *(last + 1 for last in columns[0][:-1])][:count]
        return list(map(_PIECE, zip(firsts, *columns, strict=True)))

    @cached_property
    def references(self) -> Sequence[Reference]:
        return list(map(_REFERENCE, _rows(self._sections[3])))

    def pieces_with(self, term: str) -> Sequence[tuple[int, int]]:
        """Return ``(place of the piece, how often)`` for each piece that holds ``term``; ``255`` where it is more."""
        hashes, places, counts = self._postings
        wanted = term_hash(term)
        start = bisect_left(hashes, wanted)
        end = bisect_right(hashes, wanted, start)
        return list(zip(places[start:end], counts[start:end], strict=True))

    @property
    def term_totals(self) -> tuple[Counter[int], Counter[int]]:
        """By a term's hash, how often it occurs in the file, and in how many pieces, in the same order."""
        hashes, _, counts = self._postings
        pieces = Counter(hashes)
        occurrences = pieces.copy()
        for hashed, count in zip(hashes, counts, strict=True):
            if count > 1:
                occurrences[hashed] += count - 1
        return occurrences, pieces

    def own_names(self) -> list[str]:
        """Return the own name of each definition, ``""`` where it has none; quicker than asking for all of them."""
        rows = _rows(self._sections[1])
        return [row[2][-1] if row[2] else "" for row in rows]

    def used_names(self) -> set[str]:
        return {row[0] for row in _rows(self._sections[3])}

    @cached_property
    def _postings(self) -> tuple[memoryview, memoryview, bytes]:
        data = inflated(self._sections[4])
        count = len(data) // 9
        return (
            numbers("I", data[: 4 * count]),
            numbers("I", data[4 * count : 8 * count]),
            data[8 * count :],
        )

    def pack(self) -> bytes:
        ends = accumulate(map(len, self._sections))
        return column("I", [len(self._sections), *ends]) + b"".join(self._sections)

    @classmethod
    def unpack(cls, data: bytes) -> "Analysis":
        (count,) = numbers("I", data[:4])
        start = 4 + 4 * count
        bounds = [0, *numbers("I", data[4:start])]
        return cls([data[start + begin : start + end] for begin, end in pairwise(bounds)])


def _rows(section: bytes) -> list[Any]:
    # As a text: of bytes the library guesses the encoding, which takes a sixth of its time.
    rows: list[Any] = json.loads(inflated(section).decode())
    return rows


MOST_MEMBERS: Final = 128  # files of a group: a file's place in its group is kept in one byte
_MOST_COUNT: Final = 255
_TERM_HEADER: Final = 2
_NAME_HEADER: Final = 2


class TermGroup:
    """The terms of a group of files, read where they lie."""

    __slots__ = ("_counts", "_ends", "_holding", "_terms")

    def __init__(self, data: "bytes | memoryview[int]") -> None:
        view = memoryview(data)
        terms, postings = numbers("I", view[: 4 * _TERM_HEADER])
        parts = _parts(view, _TERM_HEADER, (4 * terms, 4 * terms, 2 * postings, postings))
        self._terms = numbers("I", parts[0])
        self._ends = numbers("I", parts[1])
        self._counts = numbers("H", parts[2])
        self._holding = parts[3]

    def files_with(self, term: int) -> tuple[Sequence[int], Sequence[int]]:
        """Return the places of the files that hold a term, given by its hash, with ``256 * occurrences + pieces``."""
        terms = self._terms
        place = bisect_left(terms, term)
        if place == len(terms) or terms[place] != term:
            return (), ()
        start = self._ends[place - 1] if place else 0
        end = self._ends[place]
        return self._holding[start:end], self._counts[start:end]


class NameGroup:
    """The names that a group of files defines and uses, read where they lie."""

    __slots__ = ("_defining", "_places", "_referred", "_referring", "defined")

    def __init__(self, data: "bytes | memoryview[int]") -> None:
        view = memoryview(data)
        names, referred = numbers("I", view[: 4 * _NAME_HEADER])
        sizes = (4 * names, 4 * names, names, 4 * referred, referred)
        parts = _parts(view, _NAME_HEADER, sizes)
        # The hashes of the names that are defined, sorted: one that is not among them need not be asked for.
        self.defined = numbers("I", parts[0])
        self._places = numbers("I", parts[1])
        self._defining = parts[2]
        self._referred = numbers("I", parts[3])
        self._referring = parts[4]

    def files_defining(self, name: int) -> Sequence[tuple[int, int]]:
        """Return ``(place of the file, place of the definition)`` for a name, given by its hash."""
        names = self.defined
        start = bisect_left(names, name)
        end = bisect_right(names, name, start)
        return list(zip(self._defining[start:end], self._places[start:end], strict=True))

    def files_referring(self, name: int) -> Sequence[int]:
        names = self._referred
        start = bisect_left(names, name)
        if start == len(names) or names[start] != name:
            return ()
        return self._referring[start : bisect_right(names, name, start)]


def _parts(view: "memoryview[int]", header: int, sizes: Sequence[int]) -> "list[memoryview[int]]":
    bounds = list(accumulate(sizes, initial=4 * header))
    return [view[start:end] for start, end in pairwise(bounds)]


def pack_terms(analyses: Sequence[Analysis | None]) -> bytes:
    postings: list[int] = []
    for member, analysis in enumerate(analyses):
        if analysis is None:
            continue
        # One number for each term: its hash, the file, how often, in how many pieces.
        occurrences, pieces = analysis.term_totals
        middle, most = member << 16, _MOST_COUNT << 8
        postings += [
            hashed << 24
            | middle
            | (count << 8 if count < _MOST_COUNT else most)
            | (places if places < _MOST_COUNT else _MOST_COUNT)
            for (hashed, count), places in zip(occurrences.items(), pieces.values(), strict=True)
        ]
    postings.sort()
    terms = Counter([key >> 24 for key in postings])  # in order, as the keys are
    return b"".join(
        [
            column("I", [len(terms), len(postings)]),
            column("I", terms),
            column("I", accumulate(terms.values())),
            column("H", [key & 0xFFFF for key in postings]),
            bytes([key >> 16 & 0xFF for key in postings]),
        ]
    )


def pack_names(analyses: Sequence[Analysis | None]) -> bytes:
    defined: list[int] = []
    referred: list[int] = []
    for member, analysis in enumerate(analyses):
        if analysis is None:
            continue
        if analysis.traits.is_code:
            defined += [
                term_hash(name) << 40 | member << 32 | place
                for place, name in enumerate(analysis.own_names())
                if name
            ]
        referred += [term_hash(name) << 8 | member for name in analysis.used_names()]
    defined.sort()
    # Of two names with one hash, one file stands for both.
    referred = sorted(set(referred))
    return b"".join(
        [
            column("I", [len(defined), len(referred)]),
            column("I", [key >> 40 for key in defined]),
            column("I", [key & 0xFFFFFFFF for key in defined]),
            bytes([key >> 32 & 0xFF for key in defined]),
            column("I", [key >> 8 for key in referred]),
            bytes([key & 0xFF for key in referred]),
        ]
    )
