"""Intervals of a mean over clones, by drawing clones and their commits again and again."""

import random
from collections.abc import Mapping, Sequence
from typing import NamedTuple

DRAWS = 2_000
"""Enough for the second decimal of a 95 % interval."""


class Interval(NamedTuple):
    """A mean with the interval that holds 95 % of the means of drawn samples."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{_short(self.mean)} [{_short(self.low)}, {_short(self.high)}]"


def mean_of_means(samples: Mapping[str, Sequence[float]]) -> float:
    """Return the mean over the clones of each one's mean; clones without a value do not count."""
    means = [sum(values) / len(values) for values in samples.values() if values]
    return sum(means) / len(means) if means else 0.0


def bootstrap(samples: Mapping[str, Sequence[float]], *, draws: int = DRAWS) -> Interval:
    """Return the mean over clones with its interval; both the clones and their commits are drawn with replacement."""
    chance = random.Random(0)
    rows = [list(values) for _, values in sorted(samples.items()) if values]
    if not rows:
        return Interval(0.0, 0.0, 0.0)
    means = sorted(_drawn_mean(rows, chance) for _ in range(draws))
    return Interval(mean_of_means(samples), means[draws // 40], means[-draws // 40])


def _drawn_mean(rows: Sequence[Sequence[float]], chance: random.Random) -> float:
    drawn = [chance.choices(values, k=len(values)) for values in chance.choices(rows, k=len(rows))]
    return sum(sum(values) / len(values) for values in drawn) / len(drawn)


def _short(value: float) -> str:
    """Return a share with two decimals and without its leading zero."""
    return f"{value:.2f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:.2f}"
