"""The order of files' lines for entering a prompt.

The order depends on the task, not on the budget. A larger budget goes further in the same order, so it never shows less
of a file (rule B-6).
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from heapq import heapify, heappop, heapreplace
from itertools import accumulate
from math import sqrt
from typing import Final, NamedTuple

from aggregate.prompt.files.line_runs import LONGEST_SIGNATURE, Run, signature_run
from aggregate.ranking.files import DefinedName, Piece

CHARACTERS_PER_TOKEN = 4  # An estimate, good enough for the order; the budget counts tokens exactly
# A piece's probability is divided by its tokens to this power. With 0.9, 8,000 tokens contain one percent fewer of the
# changed lines (measured on 216 commits of nine projects).
DENSITY = 0.7
# Fraction of tokens for signatures, with their gap marks, if there is a task. At 8,000 tokens, 0.28 shows one percent
# fewer of the changed definitions, 0.39 one percent fewer of the changed lines (measured on commits).
WITH_TASK = 0.34
# Discounts of a piece's probability if it consists of comments, imports or a licence: these contain the task's words
# more often than they change. At 27,000 tokens this shows up to five percent more of the changed lines, and no fewer at
# 8,000 (measured on commits of 12 projects).
_COMMENTS, _PREAMBLE, _LICENCE = 0.8, 0.4, 0.97
# Exponent that flattens probabilities for signatures, which give an overview beyond the likeliest bodies: one percent
# more of the changed files (measured on commits).
_FLATTER = 1 / 1.5
# Tokens of a step or two: a share with less left waits, so that a small prompt contains the likeliest lines.
_STEP_TOKENS = 150
# Number of likeliest files that show a signature before signatures are ordered by value.
SEEN_FILES = 20
_OF_ITS_FILE = 0.01  # Part of a file's probability that each of its signatures gets
# Divisor of a signature's probability by its number of lines.
_ROOTS: Final = tuple(sqrt(max(1, lines)) for lines in range(LONGEST_SIGNATURE + 1))
# Tokens of a file's heading and fence, so that a file of a line or two is not preferred to more lines of a shown file.
_FRAME = 15
# In a likely file: the most lines of a definition that is unfolded early, and its bonus as a part of the file's
# probability and of its caller's.
_SHORT, _OF_LIKELY_FILE, _OF_CALLER = 15, 0.05, 0.3
_MANY_PIECES = 6  # pieces of a huge function, about 150 lines
# Characters of all signatures of a file up to which they are shown with its first body, for context; the same for the
# headings of a likely text.
_FEW_SIGNATURES, _ALL_HEADINGS = 800, 2_000
_CELL_MARKS = 40  # characters around a heading of a notebook: the cell's marker and a gap mark


@dataclass(frozen=True, slots=True)
class Fittable:
    """A candidate file with its definitions and pieces.

    Pieces are short runs of lines, each with its probability of being relevant.

    Attributes:
        definitions: Headings, if the file is prose.
        is_likely: Whether the file is among the likeliest, so that its short definitions are shown early.
        calls: In a likely file, the definitions called by each definition.
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
    """Lines of one file that enter the prompt together: signatures, or a body with its signatures."""

    file: int
    runs: tuple[Run, ...]
    is_body: bool


class _BestFirst:
    """A priority queue over values of many files.

    The values are those of pieces or definitions; the lowest value is best. The heap has only the best value of each
    file. A file's remaining values are sorted once its best value is taken, which happens for a few dozen among
    thousands of files.
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
        """Remove the best value; return its indices.

        They are the index of the file, and the index of the value in the file.
        """
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
    """A group of files with a fixed part of the tokens.

    Bodies enter in the order of probability per token.

    Attributes:
        groups: Files; those of a later group come after all earlier ones.
        part: Fraction of the tokens; the first share of an order gets the rest.
        first: Number of likeliest files that show a signature first.
        is_limited: The share ends with the last relevant body and the signatures due by then. If this is the first
            share, all remaining shares end with it.
    """

    groups: Iterable[Sequence[Fittable]]
    part: float = 0.0
    first: int = SEEN_FILES
    is_limited: bool = False
    spent: dict[bool, int] = field(init=False, default_factory=lambda: {True: 0, False: 0})
    seen: set[int] = field(init=False, default_factory=set)

    @property
    def tokens(self) -> int:
        return sum(self.spent.values())

    def is_due(self, spent: int, *, is_ending: bool = False) -> bool:
        """Return whether the share's next step comes first.

        It does if the share has used little enough of its part. With ``is_ending`` it may use up to twice its part.
        """
        if is_ending:
            return self.tokens <= 2 * self.part * spent
        return self.tokens + _STEP_TOKENS <= self.part * spent

    def steps(self, signatures: float) -> Iterator[Step]:
        for files in self.groups:
            yield from self._by_value(files, signatures / (1 - signatures))

    def _by_value(self, files: Sequence[Fittable], ratio: float) -> Iterator[Step]:
        opened: dict[int, tuple[Run, ...]] = {}
        masses = [_masses(file) for file in files]
        bodies = _BestFirst([_body_values(file) for file in files])
        heads = _BestFirst(list(map(_signature_values, files, masses)))
        unseen = deque(_likeliest_signatures(files, masses, self.first))
        while bodies or heads:
            wants_signature = self.spent[False] < ratio * self.spent[True]
            if self.is_limited and not bodies and not wants_signature:
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
    """The steps of several shares in one order.

    The first share gives the next step, unless another one has used less than its part of the tokens.
    """

    shares: Sequence[Share]
    signatures: float = WITH_TASK
    _owners: dict[int, Share] = field(init=False, default_factory=dict)

    def spend(self, step: Step, tokens: int) -> None:
        share = self._owners.get(step.file, self.shares[0])  # pinned files have none
        share.spent[step.is_body] += tokens
        share.seen.add(step.file)

    def __iter__(self) -> Iterator[Step]:
        """Yield the steps; ``spend`` must be called for each taken step before the next is requested."""
        running = [(share, share.steps(self.signatures)) for share in self.shares]
        while running:
            spent = sum(share.tokens for share in self.shares)
            is_ending = self.shares[0].is_limited and running[0][0] is not self.shares[0]
            due = (pair for pair in running if pair[0].is_due(spent, is_ending=is_ending))
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
    """Return a piece's lines with its signatures.

    In a file without definitions add a line of context instead.
    """
    if piece.definition >= 0:
        return (*_signatures_around(file, piece.definition), (piece.first, piece.last))
    context = 0 if file.definitions else 1
    return ((piece.first - context, piece.last + context),)


def _opening_runs(file: Fittable) -> tuple[Run, ...]:
    """Return the lines to show with a file's first body.

    They are all signatures or headings, if these are few.
    """
    if file.is_notebook:
        return _highest_headings(file)
    runs = [signature_run(definition) for definition in file.definitions]
    lines = sum(last - first + 1 for first, last in runs)
    characters = sum(piece.characters for piece in file.pieces)
    total_lines = max(1, file.pieces[-1].last if file.pieces else 1)
    limit = _ALL_HEADINGS if file.is_prose and file.is_likely else _FEW_SIGNATURES
    return tuple(runs) if lines * characters / total_lines <= limit else ()


def _highest_headings(file: Fittable) -> tuple[Run, ...]:
    """Return the lines of a notebook's headings, the highest levels first, up to a limit."""
    if not file.is_likely:
        return ()
    headings = [definition for definition in file.definitions if definition.kind == "heading"]
    headings.sort(key=lambda heading: len(heading.path))
    sizes = accumulate(len(heading.path[-1]) + _CELL_MARKS for heading in headings)
    pairs = zip(headings, sizes, strict=True)
    return tuple(signature_run(heading) for heading, size in pairs if size <= _ALL_HEADINGS)


def _body_values(file: Fittable) -> list[float]:
    """Return the negated value of each piece.

    The priority queue uses the values; hidden pieces have ``1``.
    """
    pairs = zip(file.pieces, _unfolding_chances(file), strict=True)
    return [
        -chance * _discount(piece) / _size(piece.characters) if chance >= file.least else 1.0
        for piece, chance in pairs
    ]


def _unfolding_chances(file: Fittable) -> Sequence[float]:
    """Return the probabilities of a file's pieces, raised for short definitions in likely files."""
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


def _discount(piece: Piece) -> float:
    """Return the factor that lowers the probability of comments, imports and licences."""
    if not piece.comments and not piece.preamble:
        return 1.0
    comments = piece.comments / piece.characters
    preamble = piece.preamble / piece.characters
    licence = max(0.0, comments + preamble - 1)  # comments in the preamble
    return (1 - _COMMENTS * comments) * (1 - _PREAMBLE * preamble) * (1 - _LICENCE * licence)


@lru_cache(maxsize=4_096)  # most of the thousands of pieces are shorter
def _size(characters: int) -> float:
    return float((characters / CHARACTERS_PER_TOKEN + _FRAME) ** DENSITY)


def _signature_values(file: Fittable, masses: Mapping[int, float]) -> list[float]:
    """Return the negated value of each definition's signature.

    The value is the probability divided by the root of the lines. Each definition gets a part of its file's
    probability. Headings without text are useless, so prose has none.
    """
    if file.is_prose:
        return []
    shared = _OF_ITS_FILE * sum(masses.values())
    # Most of some ten thousand definitions have only their file's part. With ``min`` and ``max``, as below, this loop
    # takes four times as long.
    by_lines = [-shared / root for root in _ROOTS]
    values = [
        by_lines[lines]
        if 0 <= (lines := definition.body - definition.signature) < LONGEST_SIGNATURE
        else by_lines[-1 if lines > 0 else 0]
        for definition in file.definitions
    ]
    for number, mass in masses.items():
        if number >= 0:
            lines = file.definitions[number].body - file.definitions[number].signature
            root = _ROOTS[min(max(0, lines), LONGEST_SIGNATURE)]
            values[number] = -(mass + shared) / root
    return values


def _likeliest_signatures(
    files: Sequence[Fittable], masses: Sequence[Mapping[int, float]], limit: int
) -> Iterator[Step]:
    sums = [sum(file_masses.values()) for file_masses in masses]
    likeliest = sorted(range(len(files)), key=sums.__getitem__, reverse=True)  # stable
    for number in likeliest[:limit]:
        definitions = range(len(files[number].definitions))
        if definitions and not files[number].is_prose:
            file_masses = masses[number]
            best = max(definitions, key=lambda index: (file_masses.get(index, 0.0), -index))
            yield _signature_step(files, number, best)


def _masses(file: Fittable) -> Mapping[int, float]:
    """Sum the probabilities of pieces by innermost definition (``-1``: outside of all), flattened by an exponent."""
    parts: dict[int, list[float]] = {}
    for piece, chance in zip(file.pieces, file.chances, strict=True):
        parts.setdefault(piece.definition, []).append(chance**_FLATTER)
    return {
        number: max(chances) if len(chances) > _MANY_PIECES and number >= 0 else sum(chances)
        for number, chances in parts.items()
    }
