"""What enters a prompt one after another: an order that follows from the task alone, whatever the budget.

A larger budget goes further down the same order, so it never shows less of any file (rule B-6).
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import sqrt
from typing import Final, NamedTuple

from aggregate.prompt.fit.fittable import BestFirst, Fittable
from aggregate.prompt.fit.lines import Run
from aggregate.ranking import DefinedName, Piece

CHARACTERS_PER_TOKEN = 4
"""For the order alone, where an estimate does: what is shown is counted."""
DENSITY = 0.9
"""Exponent of the tokens that a piece's probability is divided by; with 1 short pieces win too often (measured)."""
WITH_TASK = 0.2
"""The part of signatures where a task says what matters: with 0.12 a twentieth fewer of the definitions that change are
shown at 8,000 tokens, with 0.3 a hundredth fewer of the lines (measured on commits)."""
_COMMENTS, _PREAMBLE, _LICENCE = 0.8, 0.4, 0.97
"""The parts that a piece's probability loses where all of it is comments, imports, a licence: they hold the task's
words more often than they change. So 27,000 tokens show up to a twentieth more of the lines that change, and 8,000 no
fewer; with 0.9 for comments 27,000 show fewer again (measured on commits of 12 projects)."""
_FLATTER = 1 / 1.5
"""Exponent of the probabilities by which signatures are chosen: bodies go where the task most likely is, signatures say
what else there is (measured on commits: a hundredth more of the files that change at both budgets)."""
_SEEN_FILES = 20
"""The likeliest files show at least a signature each before signatures go by their own worth."""
_OF_ITS_FILE = 0.01
"""The part of its file's probability that each signature shares."""
_LONGEST_SIGNATURE = 12
"""Lines; what is longer is shown with the body."""
_ROOTS: Final = tuple(sqrt(max(1, lines)) for lines in range(_LONGEST_SIGNATURE + 1))
"""What a signature of so many lines is divided by."""
_FEW_SIGNATURES = 800
"""Characters of all signatures of a file up to which they are shown with the first of its bodies, which is clearer."""
_ALL_HEADINGS = 2_000
"""The same of a text's headings, which say what its other sections hold."""

Masses = Mapping[int, float]
"""How likely the task touches each definition, by its place; ``-1`` stands for what is outside of all."""


class Step(NamedTuple):
    """Lines of one file that enter the prompt together.

    Attributes:
        file: The file's number.
        runs: Lines of the file, those of a body last.
        is_body: Whether they hold more than signatures.
    """

    file: int
    runs: tuple[Run, ...]
    is_body: bool


@dataclass(slots=True)
class StepOrder:
    """The steps in order: bodies by how likely each of their tokens is to matter, among them signatures.

    Attributes:
        groups: The files, the likeliest first, in groups: all of one group enters before any of the next.
        signatures: The part of the tokens that goes to signatures.
    """

    groups: Iterable[Sequence[Fittable]]
    signatures: float = WITH_TASK
    _bodies: BestFirst = field(init=False, default_factory=lambda: BestFirst(()))
    _signatures: BestFirst = field(init=False, default_factory=lambda: BestFirst(()))
    _unseen: deque[Step] = field(init=False, default_factory=deque)
    _opened: dict[int, tuple[Run, ...]] = field(init=False, default_factory=dict)
    _seen: set[int] = field(init=False, default_factory=set)
    _spent: dict[bool, int] = field(init=False, default_factory=lambda: {True: 0, False: 0})

    def spend(self, step: Step, tokens: int) -> None:
        """Note that a step was taken and what it cost."""
        self._spent[step.is_body] += tokens
        self._seen.add(step.file)

    def __iter__(self) -> Iterator[Step]:
        """Yield the steps; tell ``spend`` of each that was taken before asking for the next."""
        share = self.signatures / (1 - self.signatures)
        for files in self.groups:
            self._bodies = _bodies(files)
            masses = [_masses(file) for file in files]
            self._signatures = _signatures(files, masses)
            self._unseen = deque(_likeliest_signatures(files, masses))
            while self._bodies or self._signatures:
                wants_signature = self._spent[False] < share * self._spent[True]
                if self._bodies and not (wants_signature and self._signatures):
                    yield self._body(files)
                else:
                    yield self._signature(files)

    def _body(self, files: Sequence[Fittable]) -> Step:
        """Return the next piece's step; with the first of a file come the signatures that open it."""
        number, place = self._bodies.pop()
        file = files[number]
        if file.number not in self._opened:
            self._opened[file.number] = opening_runs(file)
        return Step(
            file.number, (*self._opened[file.number], *piece_runs(file, place)), is_body=True
        )

    def _signature(self, files: Sequence[Fittable]) -> Step:
        """Return a signature of the likeliest file that shows nothing yet, else the best signature."""
        while self._unseen and self._unseen[0].file in self._seen:
            self._unseen.popleft()
        if self._unseen:
            return self._unseen.popleft()
        number, place = self._signatures.pop()
        file = files[number]
        return Step(file.number, tuple(signatures_around(file, place)), is_body=False)


def signature_run(definition: DefinedName) -> Run:
    """Return the lines of a definition's signature, of a very long one the first."""
    last = max(definition.signature, min(definition.body - 1, definition.last))
    return definition.signature, min(last, definition.signature + _LONGEST_SIGNATURE - 1)


def signatures_around(file: Fittable, place: int) -> list[Run]:
    """Return the signatures of a definition and of all that it stands in, outer ones first."""
    runs: list[Run] = []
    while place >= 0:
        runs.append(signature_run(file.definitions[place]))
        outer = file.definitions[place].outer
        place = outer if outer < place else -1
    return runs[::-1]


def piece_runs(file: Fittable, place: int) -> tuple[Run, ...]:
    """Return what is shown for a piece: its lines, with a line of context where no definition gives any."""
    piece = file.pieces[place]
    if piece.definition >= 0:
        return (*signatures_around(file, piece.definition), (piece.first, piece.last))
    context = 0 if file.definitions else 1
    return ((piece.first - context, piece.last + context),)


def opening_runs(file: Fittable) -> tuple[Run, ...]:
    """Return what is shown with the first body of a file: all signatures where these are few, a text's headings."""
    runs = [signature_run(definition) for definition in file.definitions]
    lines = sum(last - first + 1 for first, last in runs)
    characters = sum(piece.characters for piece in file.pieces)
    total_lines = max(1, file.pieces[-1].last if file.pieces else 1)
    estimate = lines * characters / total_lines
    most = _ALL_HEADINGS if file.is_prose else _FEW_SIGNATURES
    return tuple(runs) if estimate <= most else ()


def _bodies(files: Sequence[Fittable]) -> BestFirst:
    """Return all pieces, those with the highest probability for a token first."""
    return BestFirst(
        [
            [
                -chance * _telling(piece) / _size(piece.characters)
                for piece, chance in zip(file.pieces, file.chances, strict=True)
            ]
            for file in files
        ]
    )


def _telling(piece: Piece) -> float:
    """Return the part of a piece's probability that its place in the order follows from."""
    if not piece.comments and not piece.preamble:
        return 1.0
    comments = piece.comments / piece.characters
    preamble = piece.preamble / piece.characters
    licence = max(0.0, comments + preamble - 1)  # what is both
    return (1 - _COMMENTS * comments) * (1 - _PREAMBLE * preamble) * (1 - _LICENCE * licence)


@lru_cache(maxsize=4_096)  # asked of thousands of pieces, most of which are shorter than that
def _size(characters: int) -> float:
    """Return what a piece's probability is divided by."""
    return float(max(1.0, characters / CHARACTERS_PER_TOKEN) ** DENSITY)


def _signatures(files: Sequence[Fittable], masses: Sequence[Masses]) -> BestFirst:
    """Return all definitions, by their probability and a part of their file's, for each line they take."""
    ranked: list[Sequence[float]] = []
    for file, own in zip(files, masses, strict=True):
        shared = _OF_ITS_FILE * sum(own.values())
        # A loop for some ten thousand definitions, of most of which nothing but their file's part is known; with
        # ``min`` and ``max``, as below, it takes four times as long.
        by_lines = [-shared / root for root in _ROOTS]
        values = [
            by_lines[lines]
            if 0 <= (lines := definition.body - definition.signature) < _LONGEST_SIGNATURE
            else by_lines[-1 if lines > 0 else 0]
            for definition in file.definitions
        ]
        for place, mass in own.items():
            if place >= 0:
                lines = file.definitions[place].body - file.definitions[place].signature
                root = _ROOTS[min(max(0, lines), _LONGEST_SIGNATURE)]
                values[place] = -(mass + shared) / root
        ranked.append(values)
    return BestFirst(ranked)


def _likeliest_signatures(files: Sequence[Fittable], masses: Sequence[Masses]) -> Iterator[Step]:
    """Yield for each of the likeliest files the signature of its likeliest definition."""
    sums = [sum(own.values()) for own in masses]
    likeliest = sorted(range(len(files)), key=sums.__getitem__, reverse=True)  # stable
    for number in likeliest[:_SEEN_FILES]:
        file, own = files[number], masses[number]
        if file.definitions:
            places = range(len(file.definitions))
            best = max(places, key=lambda place: (own.get(place, 0.0), -place))
            yield Step(file.number, tuple(signatures_around(file, best)), is_body=False)


def _masses(file: Fittable) -> Masses:
    """Return how likely the task touches each definition by itself, without those inside, flattened."""
    masses: dict[int, float] = {}
    for piece, chance in zip(file.pieces, file.chances, strict=True):
        masses[piece.definition] = masses.get(piece.definition, 0.0) + chance**_FLATTER
    return masses
