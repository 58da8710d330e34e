"""Okapi BM25: how much a text that holds a term more often than others is about it."""

from math import log

K1 = 1.2
"""How soon further occurrences of a term count little: the usual value; 0.9 to 2 made no difference on commits."""


def rarity(total: int, holding: int) -> float:
    """Return the inverse document frequency of a term, above 0.

    Args:
        total: How many texts there are.
        holding: How many of them hold the term.
    """
    holding = min(holding, total)
    return log(1 + (total - holding + 0.5) / (holding + 0.5))


def saturation(count: float, *, length: float, b: float) -> float:
    """Return how much ``count`` occurrences count, below ``K1 + 1``.

    Args:
        count: Occurrences of the term in the text.
        length: Of the text, as a multiple of the average.
        b: How much a long text is punished, from 0 to 1.
    """
    return count * (K1 + 1) / (count + K1 * (1 - b + b * length))
