"""The order of files' lines for entering a prompt.

The order depends on the task, not on the budget. A larger budget goes further in the same order, so it never shows less
of a file (rule B-6).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate
from math import sqrt
from typing import Final, NamedTuple

from aggregate.base.files import Run
from aggregate.ranking.files import LONGEST_SIGNATURE, DefinedName, Piece

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
        least: Pieces less probable than this stay hidden.
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

    def signature_step(self, definition: int) -> "Step":
        return Step(self.number, tuple(self._signatures_around(definition)), is_body=False)

    def body_step(self, index: int, opening: Sequence[Run]) -> "Step":
        """Return a piece's lines with its signatures, and the runs to show with any body."""
        piece = self.pieces[index]
        first, last = piece.first, piece.last
        if not self.definitions:  # a line of context instead of signatures
            first, last = first - 1, last + 1
        runs = (*opening, *self._signatures_around(piece.definition), (first, last))
        return Step(self.number, runs, is_body=True)

    def _signatures_around(self, definition: int) -> list[Run]:
        runs: list[Run] = []
        while definition >= 0:
            runs.append(self.definitions[definition].signature_lines)
            outer = self.definitions[definition].outer
            definition = outer if outer < definition else -1
        return runs[::-1]

    def opening_runs(self) -> Sequence[Run]:
        """Return all signatures or headings, if these are few; a likely notebook's highest headings."""
        if self.is_notebook:
            names = self.definitions if self.is_likely else ()
            headings = [definition for definition in names if definition.kind == "heading"]
            headings.sort(key=lambda heading: len(heading.path))
            sizes = accumulate(len(heading.path[-1]) + _CELL_MARKS for heading in headings)
            pairs = zip(headings, sizes, strict=True)
            return [heading.signature_lines for heading, size in pairs if size <= _ALL_HEADINGS]
        runs = [definition.signature_lines for definition in self.definitions]
        lines = sum(last - first + 1 for first, last in runs)
        characters = sum(piece.characters for piece in self.pieces)
        total_lines = max(1, self.pieces[-1].last if self.pieces else 1)
        limit = _ALL_HEADINGS if self.is_prose and self.is_likely else _FEW_SIGNATURES
        return runs if lines * characters / total_lines <= limit else ()

    def masses(self) -> Mapping[int, float]:
        """Sum the flattened probabilities of pieces by innermost definition, ``-1`` outside of all."""
        parts: dict[int, list[float]] = {}
        for piece, chance in zip(self.pieces, self.chances, strict=True):
            parts.setdefault(piece.definition, []).append(chance**_FLATTER)
        return {
            number: max(chances) if len(chances) > _MANY_PIECES and number >= 0 else sum(chances)
            for number, chances in parts.items()
        }

    def body_values(self) -> Iterator[float]:
        """Yield the negated value of each piece, ``1`` for a hidden one."""
        for piece, chance in zip(self.pieces, self._unfolding_chances(), strict=True):
            value = -chance * _discount(piece) / _size(piece.characters)
            yield value if chance >= self.least else 1.0

    def _unfolding_chances(self) -> Sequence[float]:
        """Return the probabilities of the pieces, raised for short definitions in a likely file."""
        if not self.is_likely:
            return self.chances
        best: dict[int, float] = {}
        for piece, chance in zip(self.pieces, self.chances, strict=True):
            best[piece.definition] = max(best.get(piece.definition, 0.0), chance)
        called: dict[int, float] = {}
        for caller, definitions in self.calls.items():
            part = _OF_CALLER * best.get(caller, 0.0) / sqrt(len(definitions))
            for definition in definitions:
                called[definition] = max(called.get(definition, 0.0), part)
        of_file = _OF_LIKELY_FILE * sum(self.chances) / max(1, len(self.chances))
        raised = list(self.chances)
        for index, piece in enumerate(self.pieces):
            number = piece.definition
            lines = self.definitions[number] if number >= 0 else None
            if lines and lines.last - lines.signature < _SHORT:
                raised[index] = max(raised[index] + of_file, called.get(number, 0.0))
        return raised

    def signature_values(self, masses: Mapping[int, float]) -> list[float]:
        """Return the negated value of each definition's signature.

        The value is the probability divided by the root of the lines. Each definition gets a part of its file's
        probability. Headings without text are useless, so prose has none.
        """
        if self.is_prose:
            return []
        shared = _OF_ITS_FILE * sum(masses.values())
        # Most of some ten thousand definitions have only their file's part. With ``min`` and ``max``, as below, this
        # loop takes four times as long.
        by_lines = [-shared / root for root in _ROOTS]
        values = []
        for definition in self.definitions:
            lines = definition.body - definition.signature
            if lines < 0:
                lines = 0
            elif lines > LONGEST_SIGNATURE:
                lines = LONGEST_SIGNATURE
            values.append(by_lines[lines])
        for number, mass in masses.items():
            if number >= 0:
                lines = self.definitions[number].body - self.definitions[number].signature
                root = _ROOTS[min(max(0, lines), LONGEST_SIGNATURE)]
                values[number] = -(mass + shared) / root
        return values


class Step(NamedTuple):
    """Lines of one file that enter the prompt together: signatures, or a body with its signatures."""

    file: int
    runs: tuple[Run, ...]
    is_body: bool


@dataclass(slots=True)
class FileShare:
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
        """Yield the steps of all files; ``signatures`` is the fraction of tokens for these."""
        ratio = signatures / (1 - signatures)
        for files in self.groups:
            masses = [file.masses() for file in files]
            bodies = _best_last(file.body_values() for file in files)
            heads = _best_last(map(Fittable.signature_values, files, masses))
            unseen = _likeliest_signatures(files, masses, self.first)
            opening: dict[int, Sequence[Run]] = {}
            while bodies or heads:
                wants_signature = self.spent[False] < ratio * self.spent[True]
                if self.is_limited and not bodies and not wants_signature:
                    break
                if bodies and not (wants_signature and heads):
                    _, index, piece = bodies.pop()
                    if index not in opening:
                        opening[index] = files[index].opening_runs()
                    yield files[index].body_step(piece, opening[index])
                    continue
                while unseen and unseen[-1].file in self.seen:
                    unseen.pop()
                if unseen:
                    yield unseen.pop()
                else:
                    _, index, definition = heads.pop()
                    yield files[index].signature_step(definition)


@dataclass(slots=True)
class StepOrder:
    """The steps of several shares in one order.

    The first share gives the next step, unless another one has used less than its part of the tokens.
    """

    shares: Sequence[FileShare]
    signatures: float = WITH_TASK
    _owners: dict[int, FileShare] = field(init=False, default_factory=dict)

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


def _best_last(values_by_file: Iterable[Iterable[float]]) -> list[tuple[float, int, int]]:
    """Sort values, each with its file and its index there, by falling number; a number above 0 is worthless."""
    ranked = [
        (value, number, index)
        for number, values in enumerate(values_by_file)
        for index, value in enumerate(values)
        if value <= 0
    ]
    return sorted(ranked, reverse=True)


def _likeliest_signatures(
    files: Sequence[Fittable], masses: Sequence[Mapping[int, float]], limit: int
) -> list[Step]:
    """Return the best signature of each of the likeliest files, the likeliest last."""
    sums = [sum(file_masses.values()) for file_masses in masses]
    likeliest = sorted(range(len(files)), key=sums.__getitem__, reverse=True)  # stable
    steps: list[Step] = []
    for number in likeliest[:limit]:
        definitions = range(len(files[number].definitions))
        if definitions and not files[number].is_prose:
            values = masses[number]
            best = max(definitions, key=lambda index: (values.get(index, 0.0), -index))
            steps.append(files[number].signature_step(best))
    return steps[::-1]


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
