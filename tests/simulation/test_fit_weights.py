"""Fitting weights: it finds what made the answers, and stays where nothing speaks."""

from pathlib import Path

import numpy as np
import pytest
from simulation.fit_weights import fit_all, table
from simulation.softmax_fit import (
    Example,
    Observed,
    fit,
    load_observed,
    mean_likelihood,
    save_observed,
)

from aggregate.ranking import WEIGHTS

TRUE = np.array([3.0, -2.0, 0.0])
START = np.array([1.0, 1.0, 1.0])


def examples(count: int = 200, pieces: int = 30, seed: int = 1) -> list[Example]:
    """Return tasks whose answers are drawn by the true weights; the last column is nought everywhere."""
    chance = np.random.default_rng(seed)
    made = []
    for _ in range(count):
        rows = chance.random((pieces, 3)) * np.array([1.0, 1.0, 0.0])
        shares = np.exp(rows @ TRUE)
        answer = chance.choice(pieces, p=shares / shares.sum())
        made.append(Example(rows, np.arange(pieces) == answer, np.zeros(pieces)))
    return made


def test_what_made_the_answers_is_found() -> None:
    """Weights come near the true ones; one that no evidence speaks for stays where it began."""
    weights = fit(examples(), START, pull=1e-4)
    assert weights == pytest.approx([3.0, -2.0, 1.0], abs=0.7)
    assert weights[2] == pytest.approx(1.0, abs=1e-6)
    assert mean_likelihood(examples(), weights) > mean_likelihood(examples(), START) + 0.2


def test_pieces_that_stand_for_others() -> None:
    """A piece that stands for e others is as good as e pieces."""
    rows = np.zeros((2, 1))
    example = Example(rows, np.array([True, False]), np.array([0.0, np.log(3.0)]))
    assert mean_likelihood([example], np.zeros(1)) == pytest.approx(np.log(1 / 4))


def test_each_clone_is_left_out_once() -> None:
    """The table has a row for each kind with its range, and one for each clone with what others make of it."""
    kinds = ("definition text", "file size", "no such kind")
    observed = {
        name: Observed(kinds, examples(60, seed=seed), (1, 61)) for seed, name in enumerate("ab")
    }
    whole, without = fit_all(observed, pull=1e-3)
    assert set(without) == {"a", "b"}
    assert whole.likelihood > whole.shipped
    assert all(fitted.likelihood > fitted.shipped for fitted in without.values())
    lines = list(table(observed, pull=1e-3))
    assert lines[2].startswith(f"| definition text | {WEIGHTS['definition text']:.1f} | ")
    assert [line.split(" | ")[0] for line in lines[-3:]] == ["| a", "| b", "| none"]
    assert "1 of 61" in lines[-2]


def test_what_was_observed_is_kept(tmp_path: Path) -> None:
    """A file gives back what was written, task by task."""
    observed = Observed(("a", "b", "c"), [*examples(2, pieces=5), *examples(1, pieces=7)], (1, 4))
    save_observed(tmp_path / "clone.npz", observed)
    again = load_observed(tmp_path / "clone.npz")
    assert (again.kinds, again.lost) == (("a", "b", "c"), (1, 4))
    for one, other in zip(again.examples, observed.examples, strict=True):
        assert one.rows == pytest.approx(other.rows)
        assert (one.is_answer == other.is_answer).all()
        assert (one.offsets == other.offsets).all()
