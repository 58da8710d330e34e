"""Which past commits a task resembles, by the words of their messages."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from aggregate.ranking.question import Commit

MOST_SIMILAR: Final = 100
"""Commits that count as like the task; measured with the weights of ``ranking.weights``."""
MOST_READ: Final = 40
"""Those of them whose definitions are looked at: git has to compare the files of each."""
_K1: Final = 1.2
"""BM25's usual saturation; with terms that occur once it only scales."""
_B: Final = 0.75
"""BM25's usual share of the length: a long message speaks of many things."""


class SimilarCommit(NamedTuple):
    """A past commit that a task resembles.

    Attributes:
        place: In the history, ``0`` for the newest.
        score: BM25 of the words of its message's first line, above ``0``.
        share: What the words in common are worth of all that are asked for, above ``0`` up to ``1``.
    """

    place: int
    score: float
    share: float


def similar_commits(
    commits: Sequence[Commit], words: Iterable[str], most: int = MOST_SIMILAR
) -> list[SimilarCommit]:
    """Return the commits whose first lines resemble a task's most, the most alike first, of equal ones the newer.

    Args:
        commits: The history, the newest first.
        words: Of the task's first line, by ``ranking.change_words``.
        most: How many are returned at most.
    """
    asked = frozenset(words)
    shared = [commit.change_words & asked for commit in commits]
    frequency = Counter(word for words_of_commit in shared for word in words_of_commit)
    if not frequency:
        return []
    total = len(commits)
    worth = {
        word: math.log(1 + (total - frequency[word] + 0.5) / (frequency[word] + 0.5))
        for word in asked
    }
    most_worth = math.fsum(worth.values())
    average = sum(len(commit.change_words) for commit in commits) / total
    scored: list[tuple[float, int, float]] = []
    for place, matched in enumerate(shared):
        if matched:
            length = len(commits[place].change_words) / average
            weight = (_K1 + 1) / (1 + _K1 * (1 - _B + _B * length))
            # Summed exactly, since the order of a set is another in each process.
            told = math.fsum(map(worth.__getitem__, matched))
            scored.append((-weight * told, place, told / most_worth))
    scored.sort()
    return [SimilarCommit(place, -score, share) for score, place, share in scored[:most]]
