"""Weights of a softmax by likelihood, kept near given ones, in plain Newton steps, and the files they are fitted on.

Needs numpy.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = "NDArray[np.float64]"

STEPS = 50
"""Newton steps at most; it is convex, and a dozen are enough."""
_ENOUGH = 1e-6
"""A gain in likelihood per task below which it is done."""
_HALVINGS = 20


@dataclass(frozen=True, slots=True)
class Example:
    """One task: what each piece has of each evidence, and which pieces are the answer."""

    rows: Array
    is_answer: "NDArray[np.bool_]"
    offsets: Array


def fit(examples: Sequence[Example], start: Array, *, pull: float) -> Array:
    """Return the weights with the highest likelihood less the pull toward ``start``."""
    weights = start.copy()
    value = _objective(examples, weights, start, pull)
    for _ in range(STEPS):
        slope, curvature = _derivatives(examples, weights)
        slope -= pull * (weights - start)
        step = np.linalg.solve(curvature + pull * np.eye(len(start)), slope)
        for halving in range(_HALVINGS):
            moved = weights + step / 2**halving
            moved_value = _objective(examples, moved, start, pull)
            if moved_value > value:
                break
        else:
            break
        gain, weights, value = moved_value - value, moved, moved_value
        if gain < _ENOUGH:
            break
    return weights


def mean_likelihood(examples: Sequence[Example], weights: Array) -> float:
    """Return the mean over tasks of the logarithm of the answers' share of all probability, piece by piece."""
    total = 0.0
    for example in examples:
        logarithms = _log_shares(example, weights)
        total += float(logarithms[example.is_answer].mean())
    return total / max(len(examples), 1)


def _objective(examples: Sequence[Example], weights: Array, start: Array, pull: float) -> float:
    return mean_likelihood(examples, weights) - pull / 2 * float(((weights - start) ** 2).sum())


def _derivatives(examples: Sequence[Example], weights: Array) -> tuple[Array, Array]:
    """Return the first and the negative second derivative of the mean likelihood."""
    size = len(weights)
    slope, curvature = np.zeros(size), np.zeros((size, size))
    for example in examples:
        shares = np.exp(_log_shares(example, weights))
        mean = shares @ example.rows
        slope += example.rows[example.is_answer].mean(axis=0) - mean
        curvature += (example.rows * shares[:, None]).T @ example.rows - np.outer(mean, mean)
    count = max(len(examples), 1)
    return slope / count, curvature / count


def _log_shares(example: Example, weights: Array) -> Array:
    sums: Array = example.rows @ weights + example.offsets
    top = sums.max()
    shares: Array = sums - (top + np.log(np.exp(sums - top).sum()))
    return shares


class Observed(NamedTuple):
    """What is known of a clone's tasks."""

    kinds: tuple[str, ...]
    examples: list[Example]
    lost: tuple[int, int]


def save_observed(path: Path, observed: Observed) -> None:
    """Write what was observed to a file of numpy's."""
    examples = observed.examples
    np.savez_compressed(
        path,
        kinds=np.array(observed.kinds),
        lost=np.array(observed.lost),
        sizes=np.array([len(example.rows) for example in examples]),
        rows=np.concatenate([example.rows for example in examples]),
        is_answer=np.concatenate([example.is_answer for example in examples]),
        offsets=np.concatenate([example.offsets for example in examples]),
    )


def load_observed(path: Path) -> Observed:
    """Read what ``save_observed`` has written."""
    with np.load(path, allow_pickle=False) as file:
        kinds = tuple(map(str, file["kinds"]))
        lost, total = map(int, file["lost"])
        ends = np.cumsum(file["sizes"])[:-1]
        parts = [np.split(file[name], ends) for name in ("rows", "is_answer", "offsets")]
    examples = [Example(*arrays) for arrays in zip(*parts, strict=True)]
    return Observed(kinds, examples, (lost, total))
