"""Evidence for relevant files and pieces, its weights and sums."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import nlargest
from math import log
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


PICKED = ("picked", "picked definition")  # by a model from the shortlist (rule T-10)


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
