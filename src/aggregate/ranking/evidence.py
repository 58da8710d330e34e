"""Evidence for relevant files and pieces, its weights and sums."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from heapq import nlargest
from itertools import chain
from math import exp, fsum, inf, log
from operator import itemgetter
from types import MappingProxyType
from typing import NamedTuple, TypeVar

from aggregate.base.task_budget import Guess, Missing, Reason

PieceKey = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Evidence:
    """One kind of evidence for files and their pieces.

    Values are mostly between 0 and 1.

    Attributes:
        matched: The matching words or names by file, for the audit.
        missing: Why this kind of evidence is not available.
    """

    kind: str
    files: Mapping[int, float] = field(default_factory=dict)
    pieces: Mapping[PieceKey, float] = field(default_factory=dict)
    matched: Mapping[int, str] = field(default_factory=dict)
    missing: Missing | None = None


_Key = TypeVar("_Key", bound=Hashable)
_MOST_MATCHED = 300  # files whose matching words the audit names


def scaled(values: Mapping[_Key, float]) -> Mapping[_Key, float]:
    """Divide values by their maximum; drop those not above 0."""
    best = max(values.values(), default=0.0)
    if best <= 0:
        return {}
    return {key: value / best for key, value in values.items() if value > 0}


def by_piece(rows: Mapping[int, Sequence[float]]) -> dict[PieceKey, float]:
    """Return values by piece, from a row of values for each file; without zeros."""
    return {
        (file, piece): value
        for file, row in rows.items()
        for piece, value in enumerate(row)
        if value
    }


def lift(values: dict[_Key, float], keys: Iterable[_Key], value: float) -> None:
    for key in keys:
        values[key] = max(values.get(key, 0.0), value)


def best_keys(values: Mapping[int, float], most: int = _MOST_MATCHED) -> Sequence[int]:
    """Return the keys of the ``most`` greatest values."""
    # A monorepo has a hundred thousand values: sort only possible winners.
    least = min(nlargest(most, values.values()), default=0.0)
    pairs = sorted((-value, file) for file, value in values.items() if value >= least)
    return [file for _, file in pairs[:most]]


K1 = 1.2  # BM25's usual saturation; 0.9 to 2 made no difference on commits


def rarity(total: int, holding: int) -> float:
    """Return the inverse document frequency of a term that ``holding`` of ``total`` texts contain."""
    holding = min(holding, total)
    return log(1 + (total - holding + 0.5) / (holding + 0.5))


def saturation(count: float, *, length: float, b: float) -> float:
    """Return the term frequency factor of BM25; ``length`` is relative to the average length."""
    return count * (K1 + 1) / (count + K1 * (1 - b + b * length))


# A weight is the maximum added to a piece's log-odds. Fitted by a softmax likelihood on commits of 35
# projects in eleven languages (``simulation.fit_weights``; 11 to 24 of each, in November 2026): the message was the
# task, the parent commit the project, and the changed sources except tests the answer. Weights marked *set* were
# chosen by hand: commit messages hardly contain such evidence, and tests and documents were never the answer.
WEIGHTS: Mapping[str, float] = MappingProxyType(
    {
        # Text: matches of the task's words.
        "definition text": 2.5,  # its text, its name three times, the names around it and its path
        "file text": 1.3,  # finds the home of a word without a definition of its own
        "subject": 1.9,  # single pieces against the first line, which is free of side remarks
        "words of the name": 1.7,  # a name says its definition's purpose
        "words of the file's name": 2.5,  # set for questions, fitted for changes, where it matters less
        # Mentions: names in the task.
        "named in the task": 1.7,  # a definition, certain or not
        "all of the task": 9.0,  # set: a bare name asks for its definition
        "identifier used": 1.0,  # pieces that use an identifier of the task
        "used as written": 4.0,  # set: the only use of ``_exit`` among many of ``exit``
        "file named in the first line": 3.0,
        "place in the task": 8.0,  # set: a traceback's innermost frame stands above all words around it
        # History.
        "similar changes": 2.3,  # set: fitted 1.5, raised when weak likeness began to count less; files
        "definitions of similar changes": 0.6,
        "messages of changes": 1.6,  # of all changes of a file together
        "last change": 1.6,  # recently changed files change again
        "recently changed definitions": 0.6,
        "changed together": 0.4,  # set: small, since similar changes mostly find the same
        # Purpose of files.
        "test": -7.3,  # set: from an earlier fit; a task is about the source unless it mentions tests
        "auxiliary": -6.0,
        "tests": 2.0,  # set: tests of likely sources; they have their own share of the budget
        "documents": 2.0,  # set: likewise
        "kind in the task": 1.0,  # set: ``docs: ...`` and ``flaky test of ...`` ask for them
        "no program": -3.3,
        "inner": -1.0,  # set, for questions alone
        "language": 0.9,  # the project's main language rather than its scripts
        # Size and shape.
        "file size": -5.3,  # a large file has many pieces, each of which adds to its chance
        "piece size": 2.7,  # more lines, more possible changes
        "outside definitions": 1.5,  # imports and constants change with their users
        "function": 0.7,  # bodies change more than declarations
        # Seeds: the user's own pointers come first, whatever the words match.
        "focus": 9.0,  # set
        "symbol": 12.0,  # set: above the sum of all other evidence
        "changed since": 9.0,  # set
        "near a seed": 3.0,  # set: callees, callers and tests of seeds come next
        # Picks from the shortlist of likely files and signatures, times their confidence.
        "picked": 3.0,  # set: 2 and 4 show a fortieth and a hundredth fewer of the changed lines
        "picked definition": 1.5,  # set: 3 shows a fortieth fewer, none a thirtieth
    }
)


class RankedFile(NamedTuple):
    """A file with its score, rank and reasons."""

    file: int
    score: float
    pieces: Sequence[float] = ()
    reasons: tuple[Reason, ...] = ()  # the strongest first


@dataclass(frozen=True, slots=True)
class Ranking:
    """The files by relevance, the likeliest first.

    ``companions`` maps tests and documents of likely sources to ``"tests"`` or ``"documents"``.
    """

    files: Sequence[RankedFile]
    missing: Sequence[Missing] = ()
    companions: Mapping[int, str] = field(default_factory=dict)
    guess: Guess | None = None  # why the order is a guess; always None without a task
    is_broad: bool = False  # names of many files are more useful than a few bodies
    # Factor that turns an unpicked file's score into its score without picks (rule B-6).
    unpicked: float = 1.0
    is_pointed: bool = False  # the task names a file, a definition or a location


_MOST_REASONS = 6  # per file; further ones do not change its rank
# Nearly every file has these, so they do not explain a rank.
_UNEXPLAINED = {
    "file size", "function", "language", "no program", "outside definitions", "piece size",
}  # fmt: skip
_SCORE = RankedFile._fields.index("score")
_LEAST = 0.01
PICKED = ("picked", "picked definition")  # by a model from the shortlist (rule T-10)


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
        for (file, piece), value in evidence.pieces.items():
            added[file][piece] += weight * value
    return added


def probabilities(
    pieces: Mapping[int, Sequence[float]], others: Mapping[int, float]
) -> tuple[Mapping[int, Sequence[float]], Mapping[int, float]]:
    """Convert the scores of all pieces, and of files without pieces, to probabilities by softmax."""
    best = max((value for values in pieces.values() for value in values), default=-inf)
    best = max(best, max(others.values(), default=-inf))
    if best == -inf:
        return dict.fromkeys(pieces, ()), {}
    shares: dict[int, list[float]] = {}
    for file, values in pieces.items():
        shares[file] = [exp(value - best) for value in values]
    other_powers = {file: exp(value - best) for file, value in others.items()}
    total = fsum(chain(map(fsum, shares.values()), other_powers.values()))
    for file, powers in shares.items():
        shares[file] = [power / total for power in powers]
    for file, power in other_powers.items():
        other_powers[file] = power / total  # in place: a monorepo has many
    return shares, other_powers


def unpicked_scale(
    chances: Mapping[int, Sequence[float]],
    evidences: Sequence[Evidence],
    weights: Mapping[str, float],
) -> float:
    """Return the factor for restoring scores of unpicked files.

    All scores sum to 1, so picks lower the scores of all other files by the same factor.
    """
    picks = [evidence for evidence in evidences if evidence.kind in PICKED]
    files = {file for evidence in picks for file in evidence.files}
    files.update(file for evidence in picks for file, _ in evidence.pieces)
    zeros = {file: [0.0] * len(chances[file]) for file in sorted(files) if file in chances}
    gained = fsum(
        chance * (1 - exp(-value))
        for file, values in add_to_pieces(zeros, picks, weights).items()
        for chance, value in zip(chances[file], values, strict=True)
    )
    return 1 / (1 - gained)


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
        if not weight or evidence.kind in _UNEXPLAINED:
            continue
        values = {file: evidence.files[file] for file in files if file in evidence.files}
        for file, key in best_pieces.items() if evidence.pieces else ():
            if key in evidence.pieces:
                values[file] = values.get(file, 0.0) + evidence.pieces[key]
        for file, value in values.items():
            if abs(weight * value) >= _LEAST:
                matched = evidence.matched.get(file, "")
                table[file].append(Reason(evidence.kind, weight * value, matched))
    strongest: dict[int, tuple[Reason, ...]] = {}
    for file, candidates in table.items():
        by_size = sorted(candidates, key=lambda reason: (-abs(reason.weight), reason.kind))
        largest = by_size[:_MOST_REASONS]
        strongest[file] = tuple(sorted(largest, key=lambda reason: (-reason.weight, reason.kind)))
    return strongest


def in_order(
    files: int,
    *,
    pieces: Mapping[int, Sequence[float]],
    others: Mapping[int, float],
    why: Mapping[int, tuple[Reason, ...]],
) -> Sequence[RankedFile]:
    """Return the files by probability, the likeliest first.

    Files of equal probability keep the order of the corpus.
    """
    ranked: list[RankedFile] = []
    new_entry = partial(tuple.__new__, RankedFile)  # a third of the time of a call
    for file in range(files):
        scores = pieces.get(file)
        score = others.get(file, 0.0) if scores is None else fsum(scores)
        ranked.append(new_entry((file, score, scores or (), why.get(file, ()))))
    ranked.sort(key=itemgetter(_SCORE), reverse=True)  # stable also in reverse
    return ranked
