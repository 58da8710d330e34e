"""Which past commits a task resembles, by the words of their messages."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from aggregate.ranking.question import Commit

MOST_SIMILAR: Final = 40
"""Commits that count as like the task; measured with the weights of ``ranking.weights``."""
_K1: Final = 1.2
"""BM25's usual saturation; with terms that occur once it only scales."""
_B: Final = 0.75
"""BM25's usual share of the length: a long message speaks of many things."""


class SimilarCommit(NamedTuple):
    """A past commit that a task resembles.

    Attributes:
        place: In the history, ``0`` for the newest.
        score: BM25 of its message's terms, above ``0``.
    """

    place: int
    score: float


def similar_commits(
    commits: Sequence[Commit], terms: Iterable[str], most: int = MOST_SIMILAR
) -> list[SimilarCommit]:
    """Return the commits whose messages resemble a text most, the most alike first, of equal ones the newer.

    Args:
        commits: The history, the newest first.
        terms: Those of the text; each counts once.
        most: How many are returned at most.
    """
    asked = frozenset(terms)
    shared = [commit.terms & asked for commit in commits]
    frequency = Counter(term for terms_of_commit in shared for term in terms_of_commit)
    if not frequency:
        return []
    total = len(commits)
    worth = {
        term: math.log(1 + (total - count + 0.5) / (count + 0.5))
        for term, count in frequency.items()
    }
    average = sum(len(commit.terms) for commit in commits) / total
    scored: list[tuple[float, int]] = []
    for place, matched in enumerate(shared):
        if matched:
            length = len(commits[place].terms) / average
            weight = (_K1 + 1) / (1 + _K1 * (1 - _B + _B * length))
            # Summed exactly, since the order of a set is another in each process.
            scored.append((-weight * math.fsum(map(worth.__getitem__, matched)), place))
    scored.sort()
    return [SimilarCommit(place, -score) for score, place in scored[:most]]
