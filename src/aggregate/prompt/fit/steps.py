"""What enters a prompt one after another: an order that follows from the task alone, whatever the budget.

A larger budget goes further down the same order, so it never shows less of any file (rule B-6).
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from heapq import heapify, heappop, heapreplace
from itertools import accumulate
from math import sqrt
from typing import Final, NamedTuple

from aggregate.ranking.files import DefinedName, Piece

Run = tuple[int, int]  # First and last line, 1-based and inclusive
ALL_LINES: Run = (1, 1 << 31)  # From the first line to beyond the last one of any file
CHARACTERS_PER_TOKEN = 4  # For the order alone, where an estimate does: what is shown is counted
# Exponent of the tokens that a piece's probability is divided by: the likeliest pieces go before short ones. With 0.9
# 8,000 tokens show a hundredth fewer of the lines that change (measured on 216 commits of nine projects).
DENSITY = 0.7
# The part of signatures where a task says what matters, each with the marks around it: with 0.28 a hundredth fewer of
# the definitions that change are shown at 8,000 tokens, with 0.39 a hundredth fewer of the lines (measured on commits).
WITH_TASK = 0.34
# The parts that a piece's probability loses where all of it is comments, imports, a licence: they hold the task's words
# more often than they change. So 27,000 tokens show up to a twentieth more of the lines that change, and 8,000 no
# fewer; with 0.9 for comments 27,000 show fewer again (measured on commits of 12 projects).
_COMMENTS, _PREAMBLE, _LICENCE = 0.8, 0.4, 0.97
# Exponent of the probabilities by which signatures are chosen: bodies go where the task most likely is, signatures say
# what else there is (measured on commits: a hundredth more of the files that change at both budgets).
_FLATTER = 1 / 1.5
# Tokens of some lines: a share for which less is left waits, so that a small prompt is about what is likely.
_A_STEP = 150
# The likeliest files show at least a signature each before signatures go by their own worth.
SEEN_FILES = 20
_OF_ITS_FILE = 0.01  # The part of its file's probability that each signature shares
_LONGEST_SIGNATURE = 12  # Lines; what is longer is shown with the body
# What a signature of so many lines is divided by.
_ROOTS: Final = tuple(sqrt(max(1, lines)) for lines in range(_LONGEST_SIGNATURE + 1))
# Tokens of heading and fence around a file, which make a file of a line or two no better than lines of a shown one.
_FRAME = 15
# Of a likely file, the lines of a definition that is unfolded early, and what it gains: a part of the file's
# probability, shared by all pieces, and of that of what calls it.
_SHORT, _OF_LIKELY_FILE, _OF_CALLER = 15, 0.3, 0.3
_MANY_PIECES = 6  # pieces of a huge function, some 150 lines
# Characters of all signatures of a file up to which they are shown with the first of its bodies, which is clearer; the
# same of a text's headings, which say what its other sections hold.
_FEW_SIGNATURES, _ALL_HEADINGS = 800, 2_000
_CELL_MARKS = 40  # characters around a heading of a notebook: the cell's marker and a gap mark


@dataclass(frozen=True, slots=True)
class Fittable:
    """A file that may be shown: its definitions (headings of prose) and pieces by lines, and how likely each is.

    Attributes:
        is_likely: Whether its short definitions are unfolded early.
        calls: Of a likely file, the definitions that each of its definitions calls.
        least: The probability below which pieces are not shown.
    """

    number: int
    definitions: Sequence[DefinedName] = ()
    pieces: Sequence[Piece] = ()
    chances: Sequence[float] = ()
    is_prose: bool = False
    is_notebook: bool = False
    is_likely: bool = False
    calls: Mapping[int, Sequence[int]] = field(default_factory=dict)
    least: float = 0.0


class Step(NamedTuple):
    """Lines of one file that enter the prompt together, those of a body last; without one they are signatures."""

    file: int
    runs: tuple[Run, ...]
    is_body: bool


class _BestFirst:
    """Pieces or definitions, the best of all files first: of each file what they are worth, the less, the better.

    Only the best of each file lie in the heap. The others of a file are sorted when its best is taken: of thousands of
    files some dozen get so far.
    """

    def __init__(self, files: Sequence[Sequence[float]]) -> None:
        self._files = files
        self._following: dict[int, list[int]] = {}
        bests = ((min(values), number) for number, values in enumerate(files) if values)
        self._heap = [(best, number, files[number].index(best)) for best, number in bests]
        heapify(self._heap)

    def __bool__(self) -> bool:
        """Return whether anything is left that is worth something."""
        return bool(self._heap) and self._heap[0][0] <= 0

    def pop(self) -> tuple[int, int]:
        """Remove the best; return the index of its file and its own in it, of equal ones the first."""
        _, number, best = self._heap[0]
        values = self._files[number]
        if number not in self._following:
            order = sorted(range(len(values)), key=values.__getitem__)  # stable
            self._following[number] = order[:0:-1]  # without the best; the next one is last
        following = self._following[number]
        if following:
            heapreplace(self._heap, (values[following[-1]], number, following.pop()))
        else:
            heappop(self._heap)
        return number, best


@dataclass(slots=True)
class Share:
    """Files that get a part of what is spent: bodies by how likely each of their tokens is to matter, and signatures.

    Attributes:
        groups: The files, those of one group behind all of the one before.
        part: Of the tokens that are spent; the first share of an order gets what the others leave.
        first: How many of the likeliest show a signature before others do.
    """

    groups: Iterable[Sequence[Fittable]]
    part: float = 0.0
    first: int = SEEN_FILES
    spent: dict[bool, int] = field(init=False, default_factory=lambda: {True: 0, False: 0})
    seen: set[int] = field(init=False, default_factory=set)

    @property
    def tokens(self) -> int:
        return sum(self.spent.values())

    def is_due(self, spent: int, *, is_ending: bool = False) -> bool:
        """Return whether a step fits into the share's part, which is doubled behind the first share."""
        if is_ending:
            return self.tokens <= 2 * self.part * spent
        return self.tokens + _A_STEP <= self.part * spent

    def steps(self, signatures: float, *, is_limited: bool = False) -> Iterator[Step]:
        """Yield the steps; a limited share ends with its last body and the signatures due by then."""
        for files in self.groups:
            yield from self._by_worth(files, signatures / (1 - signatures), is_limited=is_limited)

    def _by_worth(
        self, files: Sequence[Fittable], ratio: float, *, is_limited: bool
    ) -> Iterator[Step]:
        opened: dict[int, tuple[Run, ...]] = {}
        masses = [_masses(file) for file in files]
        bodies = _BestFirst([_body_values(file) for file in files])
        heads = _BestFirst(list(map(_signature_values, files, masses)))
        unseen = deque(_likeliest_signatures(files, masses, self.first))
        while bodies or heads:
            wants_signature = self.spent[False] < ratio * self.spent[True]
            if is_limited and not bodies and not wants_signature:
                return
            if bodies and not (wants_signature and heads):
                number, piece = bodies.pop()
                file = files[number]
                if file.number not in opened:
                    opened[file.number] = _opening_runs(file)
                runs = (*opened[file.number], *_piece_runs(file, file.pieces[piece]))
                yield Step(file.number, runs, is_body=True)
                continue
            while unseen and unseen[0].file in self.seen:
                unseen.popleft()
            yield unseen.popleft() if unseen else _signature_step(files, *heads.pop())


@dataclass(slots=True)
class StepOrder:
    """The steps in order: of the first share, and of each other one while it has less than its part."""

    shares: Sequence[Share]
    signatures: float = WITH_TASK
    is_limited: bool = False  # whether it ends when nothing relevant is left
    _owners: dict[int, Share] = field(init=False, default_factory=dict)

    def spend(self, step: Step, tokens: int) -> None:
        share = self._owners.get(step.file, self.shares[0])  # what is pinned has none
        share.spent[step.is_body] += tokens
        share.seen.add(step.file)

    def __iter__(self) -> Iterator[Step]:
        """Yield the steps; tell ``spend`` of each that was taken before asking for the next."""
        running = [
            (share, share.steps(self.signatures, is_limited=self.is_limited))
            for share in self.shares
        ]
        while running:
            spent = sum(share.tokens for share in self.shares)
            is_ending = self.is_limited and running[0][0] is not self.shares[0]
            due = (turn for turn in running if turn[0].is_due(spent, is_ending=is_ending))
            turn = next(due, None if is_ending else running[0])
            if turn is None:
                return
            share, steps = turn
            step = next(steps, None)
            if step is None:
                running.remove(turn)
                continue
            self._owners[step.file] = share
            yield step


def signature_run(definition: DefinedName) -> Run:
    last = max(definition.signature, min(definition.body - 1, definition.last))
    return definition.signature, min(last, definition.signature + _LONGEST_SIGNATURE - 1)


def _signatures_around(file: Fittable, definition: int) -> list[Run]:
    runs: list[Run] = []
    while definition >= 0:
        runs.append(signature_run(file.definitions[definition]))
        outer = file.definitions[definition].outer
        definition = outer if outer < definition else -1
    return runs[::-1]


def _signature_step(files: Sequence[Fittable], number: int, definition: int) -> Step:
    runs = tuple(_signatures_around(files[number], definition))
    return Step(files[number].number, runs, is_body=False)


def _piece_runs(file: Fittable, piece: Piece) -> tuple[Run, ...]:
    """Return what is shown for a piece: its lines, with a line of context where no definition gives any."""
    if piece.definition >= 0:
        return (*_signatures_around(file, piece.definition), (piece.first, piece.last))
    context = 0 if file.definitions else 1
    return ((piece.first - context, piece.last + context),)


def _opening_runs(file: Fittable) -> tuple[Run, ...]:
    """Return what is shown with the first body of a file: all signatures where these are few, a text's headings."""
    if file.is_notebook:
        return _highest_headings(file)
    runs = [signature_run(definition) for definition in file.definitions]
    lines = sum(last - first + 1 for first, last in runs)
    characters = sum(piece.characters for piece in file.pieces)
    total_lines = max(1, file.pieces[-1].last if file.pieces else 1)
    most = _ALL_HEADINGS if file.is_prose and file.is_likely else _FEW_SIGNATURES
    return tuple(runs) if lines * characters / total_lines <= most else ()


def _highest_headings(file: Fittable) -> tuple[Run, ...]:
    """Return a likely notebook's headings, the highest first, as far as there is room."""
    headings = [each for each in file.definitions if each.kind == "heading" and file.is_likely]
    headings.sort(key=lambda heading: len(heading.path))
    sizes = accumulate(len(heading.path[-1]) + _CELL_MARKS for heading in headings)
    pairs = zip(headings, sizes, strict=True)
    return tuple(signature_run(heading) for heading, size in pairs if size <= _ALL_HEADINGS)


def _body_values(file: Fittable) -> list[float]:
    """Return the negated worth of each piece, ``1`` for one that is not shown."""
    pairs = zip(file.pieces, _unfolding_chances(file), strict=True)
    return [
        -chance * _telling(piece) / _size(piece.characters) if chance >= file.least else 1.0
        for piece, chance in pairs
    ]


def _unfolding_chances(file: Fittable) -> Sequence[float]:
    """Return the pieces' probabilities, raised where a likely file defines something short."""
    if not file.is_likely:
        return file.chances
    best: dict[int, float] = {}
    for piece, chance in zip(file.pieces, file.chances, strict=True):
        best[piece.definition] = max(best.get(piece.definition, 0.0), chance)
    called: dict[int, float] = {}
    for caller, definitions in file.calls.items():
        part = _OF_CALLER * best.get(caller, 0.0) / sqrt(len(definitions))
        for definition in definitions:
            called[definition] = max(called.get(definition, 0.0), part)
    of_file = _OF_LIKELY_FILE * sum(file.chances) / max(1, len(file.chances))
    return [
        max(chance + of_file, called.get(piece.definition, 0.0))
        if _is_short(file, piece.definition)
        else chance
        for piece, chance in zip(file.pieces, file.chances, strict=True)
    ]


def _is_short(file: Fittable, definition: int) -> bool:
    if definition < 0:
        return False
    lines = file.definitions[definition]
    return lines.last - lines.signature < _SHORT


def _telling(piece: Piece) -> float:
    """Return the part of a piece's probability that its rank follows from."""
    if not piece.comments and not piece.preamble:
        return 1.0
    comments = piece.comments / piece.characters
    preamble = piece.preamble / piece.characters
    licence = max(0.0, comments + preamble - 1)  # what is both
    return (1 - _COMMENTS * comments) * (1 - _PREAMBLE * preamble) * (1 - _LICENCE * licence)


@lru_cache(maxsize=4_096)  # asked of thousands of pieces, most of which are shorter than that
def _size(characters: int) -> float:
    return float((characters / CHARACTERS_PER_TOKEN + _FRAME) ** DENSITY)


def _signature_values(file: Fittable, masses: Mapping[int, float]) -> list[float]:
    """Return for each definition its probability and a part of its file's, for each line it takes, negated.

    Headings of prose without its text tell nothing: they have none.
    """
    if file.is_prose:
        return []
    shared = _OF_ITS_FILE * sum(masses.values())
    # A loop for some ten thousand definitions, of most of which nothing but their file's part is known; with ``min``
    # and ``max``, as below, it takes four times as long.
    by_lines = [-shared / root for root in _ROOTS]
    values = [
        by_lines[lines]
        if 0 <= (lines := definition.body - definition.signature) < _LONGEST_SIGNATURE
        else by_lines[-1 if lines > 0 else 0]
        for definition in file.definitions
    ]
    for number, mass in masses.items():
        if number >= 0:
            lines = file.definitions[number].body - file.definitions[number].signature
            root = _ROOTS[min(max(0, lines), _LONGEST_SIGNATURE)]
            values[number] = -(mass + shared) / root
    return values


def _likeliest_signatures(
    files: Sequence[Fittable], masses: Sequence[Mapping[int, float]], most: int
) -> Iterator[Step]:
    sums = [sum(own.values()) for own in masses]
    likeliest = sorted(range(len(files)), key=sums.__getitem__, reverse=True)  # stable
    for number in likeliest[:most]:
        own, definitions = masses[number], range(len(files[number].definitions))
        if definitions and not files[number].is_prose:
            best = max(definitions, key=lambda each: (own.get(each, 0.0), -each))
            yield _signature_step(files, number, best)


def _masses(file: Fittable) -> Mapping[int, float]:
    """Return the flattened probability of each definition's own lines; ``-1`` is outside of all.

    Nobody can edit a huge function by its signature, so that is worth only the likeliest piece.
    """
    parts: dict[int, list[float]] = {}
    for piece, chance in zip(file.pieces, file.chances, strict=True):
        parts.setdefault(piece.definition, []).append(chance**_FLATTER)
    return {
        number: max(chances) if len(chances) > _MANY_PIECES and number >= 0 else sum(chances)
        for number, chances in parts.items()
    }
