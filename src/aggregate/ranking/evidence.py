"""Evidences: how much each kind of observation speaks for files and pieces, what each weighs, and their sums."""

from array import array
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import nlargest
from itertools import chain
from math import exp, fsum, inf, log
from operator import itemgetter
from types import MappingProxyType
from typing import NamedTuple, TypeVar

from aggregate.base.request import Guess, Missing, Reason
from aggregate.base.values import row_maker

PieceKey = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What one kind of observation says, each value scaled to the best in the project: ``0`` to ``1``."""

    kind: str
    files: Mapping[int, float] = field(default_factory=dict)
    pieces: Mapping[PieceKey, float] = field(default_factory=dict)
    matched: Mapping[int, str] = field(default_factory=dict)
    missing: Missing | None = None


class FileValues(Mapping[int, float]):
    """What an evidence says about files, in a tenth of the memory of a ``dict``; absent ones have 0."""

    def __init__(self, values: Iterable[float]) -> None:
        self._values = array("d", values)

    def __getitem__(self, file: int) -> float:
        if not self._values[file]:
            raise KeyError(file)
        return self._values[file]

    def __iter__(self) -> Iterator[int]:
        return (file for file, value in enumerate(self._values) if value)

    def __len__(self) -> int:
        return sum(map(bool, self._values))


class PieceValues(Mapping[PieceKey, float]):
    """What an evidence says about pieces, as any other mapping of them; absent ones have 0."""

    def __init__(self, rows: Mapping[int, Sequence[float]]) -> None:
        self.rows = rows

    def __getitem__(self, key: PieceKey) -> float:
        file, place = key
        row = self.rows[file]
        if not 0 <= place < len(row) or not row[place]:
            raise KeyError(key)
        return row[place]

    def __iter__(self) -> Iterator[PieceKey]:
        for file, row in self.rows.items():
            for place, value in enumerate(row):
                if value:
                    yield file, place

    def __len__(self) -> int:
        return sum(1 for row in self.rows.values() for value in row if value)

    def scaled(self) -> "PieceValues":
        best = max((max(row, default=0.0) for row in self.rows.values()), default=0.0)
        if best <= 0:
            return PieceValues({})
        return PieceValues({file: [v / best for v in row] for file, row in self.rows.items()})


_Key = TypeVar("_Key", bound=Hashable)
_TOLD = 300  # files of which it is told what matched: as many as are looked at closely


def scaled(values: Mapping[_Key, float]) -> Mapping[_Key, float]:
    """Return ``values`` divided by the greatest of them; none where nothing is above 0."""
    best = max(values.values(), default=0.0)
    if best <= 0:
        return {}
    return {key: value / best for key, value in values.items() if value > 0}


def lift(values: dict[_Key, float], keys: Iterable[_Key], value: float) -> None:
    """Raise the values of some keys to ``value`` where they are below it."""
    for key in keys:
        values[key] = max(values.get(key, 0.0), value)


def best_keys(values: Mapping[int, float], most: int = _TOLD) -> Sequence[int]:
    """Return the files with the greatest values, the best first, equal ones in the order of the corpus."""
    # Of a hundred thousand values most are only compared with the least of the best.
    least = min(nlargest(most, values.values()), default=0.0)
    pairs = sorted((-value, file) for file, value in values.items() if value >= least)
    return [file for _, file in pairs[:most]]


def scaled_evidence(
    kind: str,
    *,
    files: Mapping[int, float] | None = None,
    pieces: Mapping[PieceKey, float] | None = None,
    matched: Mapping[int, str] | None = None,
) -> Evidence:
    return Evidence(
        kind, files=scaled(files or {}), pieces=scaled(pieces or {}), matched=matched or {}
    )


# How soon further occurrences of a term count little: the usual value; 0.9 to 2 made no difference on commits.
K1 = 1.2


def rarity(total: int, holding: int) -> float:
    """Return the inverse document frequency of a term, above 0."""
    holding = min(holding, total)
    return log(1 + (total - holding + 0.5) / (holding + 0.5))


def saturation(count: float, *, length: float, b: float) -> float:
    """Return how much ``count`` occurrences in a text of ``length`` times the average count, below ``K1 + 1``."""
    return count * (K1 + 1) / (count + K1 * (1 - b + b * length))


# How much each evidence counts: what its best value adds to the logarithm of a piece's odds, fitted by a softmax
# likelihood on commits of 35 projects in eleven languages (``simulation.fit_weights``; 11 to 24 of each, in November
# 2026). A commit's message was the task, its parent the project, and its sources that are no tests the answer. Those
# marked *set* do not come from that fit: messages hardly hold such evidence, and tests and documents never were the
# answer.
WEIGHTS: Mapping[str, float] = MappingProxyType(
    {
        # Text: what the task's words match.
        "definition text": 2.5,  # its text, its name three times, the names around it and its path
        "file text": 1.3,  # says where a word is at home that no definition is about
        "subject": 1.9,  # single pieces against the first line, which is free of side remarks
        "words of the name": 1.7,  # names are chosen to say what a definition is about
        "words of the file's name": 2.5,  # set for questions, and fitted for changes, of which it says less
        # Mentions: what the task names outright.
        "named in the task": 1.7,  # a definition, surely or not
        "all of the task": 9.0,  # set: who asks by a name alone wants its definition
        "identifier used": 1.0,  # pieces that use what the task names
        "used as written": 4.0,  # set: the only use of ``_exit`` among many of ``exit``
        "file named in the first line": 3.0,
        "place in the task": 8.0,  # set: a traceback's innermost frame stands above all words around it
        # History.
        "similar changes": 2.3,  # set: fitted 1.5, raised when weak likeness began to count less; files
        "definitions of similar changes": 0.6,
        "messages of changes": 1.6,  # of all changes of a file together
        "last change": 1.6,  # files: what was just changed is changed again
        "recently changed definitions": 0.6,
        "changed together": 0.4,  # set: small beside similar changes, which mostly say the same
        # What files are for.
        "test": -7.3,  # set: from an earlier fit; a task is about the source unless it speaks of tests
        "auxiliary": -6.0,
        "tests": 2.0,  # set: of what is likely, among tests; these have a share of their own
        "documents": 2.0,  # set: likewise
        "kind in the task": 1.0,  # set: ``docs: ...`` and ``flaky test of ...`` ask for them
        "no program": -3.3,
        "inner": -1.0,  # set, for questions alone
        "language": 0.9,  # the project's main language rather than its scripts
        # Size and shape.
        "file size": -5.3,  # a large file has many pieces, each of which adds to its chance
        "piece size": 2.7,  # more lines, more that may have to change
        "outside definitions": 1.5,  # imports and constants change with what uses them
        "function": 0.7,  # bodies change more than declarations
        # Seeds: what the user points at comes first, whatever the words say.
        "focus": 9.0,  # set
        "symbol": 12.0,  # set: above the best that all others together give a piece
        "changed since": 9.0,  # set
        "near a seed": 3.0,  # set: what seeds call, and what calls and tests them, is next
        # A second look: somebody who saw the likeliest files and their signatures, by their confidence.
        "picked": 3.0,  # set: 2 and 4 show a fortieth and a hundredth fewer of the lines that change
        "picked definition": 1.5,  # set: 3 shows a fortieth fewer, none a thirtieth
    }
)


class RankedFile(NamedTuple):
    """A candidate with its score; there may be a hundred thousand."""

    file: int
    score: float
    pieces: Sequence[float] = ()
    reasons: tuple[Reason, ...] = ()  # why, the strongest first


@dataclass(frozen=True, slots=True)
class Ranking:
    """All candidates, the likeliest first; those that are equal in the order of the corpus.

    ``companions`` are tests and documents that belong to likely sources, and which of the two each is.
    """

    files: Sequence[RankedFile]
    missing: Sequence[Missing] = ()
    companions: Mapping[int, str] = field(default_factory=dict)
    guess: Guess | None = None  # why it is one; without a task there is none
    is_broad: bool = False  # whether names of many files are worth more than some bodies
    # Times a score: the score without a second look, at least for files that it did not pick (rule B-6).
    unpicked: float = 1.0


_MOST_REASONS = 6  # reasons that are kept of each file: behind them none moves it by a place
# Kinds that nearly every file has: they are no reasons to tell.
_UNTOLD = {"file size", "function", "language", "no program", "outside definitions", "piece size"}
_SCORE = RankedFile._fields.index("score")
_LEAST = 0.01


def add_to_files(
    sums: Sequence[float], evidences: Sequence[Evidence], weights: Mapping[str, float]
) -> list[float]:
    added = list(sums)
    for evidence in evidences:
        weight = weights.get(evidence.kind, 0.0)
        if weight:
            for file, value in evidence.files.items():
                added[file] += weight * value
    return added


def add_to_pieces(
    sums: Mapping[int, Sequence[float]], evidences: Sequence[Evidence], weights: Mapping[str, float]
) -> Mapping[int, list[float]]:
    added = {file: list(values) for file, values in sums.items()}
    for evidence in evidences:
        weight = weights.get(evidence.kind, 0.0)
        if not weight:
            continue
        for file, value in evidence.files.items():
            if file in added:
                added[file] = [total + weight * value for total in added[file]]
        if isinstance(evidence.pieces, PieceValues):
            for file, row in evidence.pieces.rows.items():
                pairs = zip(added[file], row, strict=True)
                added[file] = [total + weight * value for total, value in pairs]
            continue
        for (file, place), value in evidence.pieces.items():
            added[file][place] += weight * value
    return added


def probabilities(
    pieces: Mapping[int, Sequence[float]], others: Mapping[int, float]
) -> tuple[Mapping[int, Sequence[float]], Mapping[int, float]]:
    """Return the softmax over all pieces: of the candidates' pieces, and of the other files as wholes."""
    best = max((value for values in pieces.values() for value in values), default=-inf)
    best = max(best, max(others.values(), default=-inf))
    if best == -inf:
        return dict.fromkeys(pieces, ()), {}
    powers = {file: [exp(value - best) for value in values] for file, values in pieces.items()}
    other_powers = {file: exp(value - best) for file, value in others.items()}
    total = fsum(chain(map(fsum, powers.values()), other_powers.values()))
    shares = {file: [power / total for power in values] for file, values in powers.items()}
    for file, power in other_powers.items():
        other_powers[file] = power / total  # in their place: of a monorepo there are many
    return shares, other_powers


def reasons(
    evidences: Sequence[Evidence],
    weights: Mapping[str, float],
    *,
    best_pieces: Mapping[int, PieceKey],
    files: Sequence[int],
) -> Mapping[int, tuple[Reason, ...]]:
    table: dict[int, list[Reason]] = {file: [] for file in files}
    for evidence in evidences:
        weight = weights.get(evidence.kind, 0.0)
        if not weight or evidence.kind in _UNTOLD:
            continue
        values = {file: evidence.files[file] for file in files if file in evidence.files}
        if isinstance(evidence.pieces, PieceValues):
            for file, row in evidence.pieces.rows.items():
                if file in best_pieces:
                    values[file] = values.get(file, 0.0) + row[best_pieces[file][1]]
        elif evidence.pieces:
            for file, key in best_pieces.items():
                if key in evidence.pieces:
                    values[file] = values.get(file, 0.0) + evidence.pieces[key]
        for file, value in values.items():
            if abs(weight * value) >= _LEAST:
                matched = evidence.matched.get(file, "")
                table[file].append(Reason(evidence.kind, weight * value, matched))
    strongest: dict[int, tuple[Reason, ...]] = {}
    for file, told in table.items():
        kept = sorted(told, key=lambda reason: (-abs(reason.weight), reason.kind))[:_MOST_REASONS]
        strongest[file] = tuple(sorted(kept, key=lambda reason: (-reason.weight, reason.kind)))
    return strongest


def in_order(
    files: int,
    *,
    pieces: Mapping[int, Sequence[float]],
    others: Mapping[int, float],
    why: Mapping[int, tuple[Reason, ...]],
) -> Sequence[RankedFile]:
    """Return all files, the likeliest first, equal ones in the order of the corpus."""
    ranked: list[RankedFile] = []
    new_entry = row_maker(RankedFile)
    for file in range(files):
        own = pieces.get(file)
        score = others.get(file, 0.0) if own is None else fsum(own)
        ranked.append(new_entry((file, score, own or (), why.get(file, ()))))
    ranked.sort(key=itemgetter(_SCORE), reverse=True)  # stable also in reverse
    return ranked
