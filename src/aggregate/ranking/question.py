"""What is asked of a ranking: the task as it was read, seeds beside it, and the past commits that it resembles."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from aggregate.base.request import Missing
from aggregate.ranking.evidence import rarity, saturation


class NamedPlace(NamedTuple):
    """A place in a file that the task's text names, as a traceback or a compiler does."""

    path: str  # as it is written there, absolute or relative, with ``/``
    line: int = 0  # 1-based, ``0`` where none is named
    symbol: str = ""  # the function that is named with it, ``""`` for none


@dataclass(frozen=True, slots=True)
class TaskText:
    """A task's text, read."""

    terms: Mapping[str, int] = field(default_factory=dict)
    subject: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()
    names: Mapping[str, float] = field(
        default_factory=dict
    )  # as written, with how surely each is one
    places: tuple[NamedPlace, ...] = ()  # places that it names, the most telling first
    text: str = ""
    joined: tuple[str, ...] = ()
    change_words: tuple[str, ...] = ()


class ChangedLines(NamedTuple):
    """Lines of a file as it is now that changed since a revision."""

    path: str
    first: int = 0  # 1-based; ``0`` where all of the file is new
    last: int = 0


class Commit(NamedTuple):
    """A commit of the project's history, as evidence needs it."""

    terms: frozenset[str]
    paths: tuple[str, ...]
    names: tuple[tuple[str, str], ...] = ()  # for those commits that were looked at closely
    change_words: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Question:
    """All that a ranking is asked by."""

    task: TaskText = field(default_factory=TaskText)
    focus: Sequence[tuple[str, int, int]] = ()  # lines ``0`` for whole files
    symbols: Sequence[str] = ()
    changes: Sequence[ChangedLines] = ()
    commits: Sequence[Commit] = ()  # the history, the newest first
    missing: Sequence[Missing] = ()

    @property
    def is_empty(self) -> bool:
        """Whether nothing is asked, so that structure alone decides."""
        return not (self.task.terms or self.task.names or self.task.places) and not (
            self.focus or self.symbols or self.changes
        )


# Commits that count as like the task; measured with the weights of ``ranking.weights``.
MOST_SIMILAR: Final = 100
# Those of them whose definitions are looked at: git has to compare the files of each.
MOST_READ: Final = 40
_B: Final = 0.75  # BM25's usual share of the length: a long message speaks of many things


class SimilarCommit(NamedTuple):
    """A past commit that a task resembles."""

    place: int  # in the history, ``0`` for the newest
    score: float  # BM25 of the words of its message's first line, above ``0``
    share: float  # what the words in common are worth of all that are asked for


def similar_commits(
    commits: Sequence[Commit], words: Iterable[str], most: int = MOST_READ
) -> list[SimilarCommit]:
    """Return the commits whose first lines resemble a task's most, the most alike first, of equal ones the newer."""
    asked = frozenset(words)
    shared = [commit.change_words & asked for commit in commits]
    frequency = Counter(word for words_of_commit in shared for word in words_of_commit)
    if not frequency:
        return []
    total = len(commits)
    worth = {word: rarity(total, frequency[word]) for word in asked}
    most_worth = math.fsum(worth.values())
    average = sum(len(commit.change_words) for commit in commits) / total
    scored: list[tuple[float, int, float]] = []
    for place, matched in enumerate(shared):
        if matched:
            length = len(commits[place].change_words) / average
            weight = saturation(1, length=length, b=_B)
            # Summed exactly, since the order of a set is another in each process.
            told = math.fsum(map(worth.__getitem__, matched))
            scored.append((-weight * told, place, told / most_worth))
    scored.sort()
    return [SimilarCommit(place, -score, share) for score, place, share in scored[:most]]
