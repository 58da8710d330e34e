"""Lines of a file, and runs of them."""

import random
from itertools import pairwise

import pytest

from aggregate.budget.lines import Run, as_runs, marked_runs


@pytest.mark.parametrize(
    ("marks", "runs"),
    [
        (b"", []),
        (b"\0\0", []),
        (b"\1", [(1, 1)]),
        (b"\0\1\1\0\1", [(2, 3), (5, 5)]),
        (b"\1\1\0\0\1\1", [(1, 2), (5, 6)]),
    ],
)
def test_marked_lines_are_runs(marks: bytes, runs: list[Run]) -> None:
    """Neighbours are one run, whatever stands at the ends (rule B-2)."""
    assert marked_runs(marks) == marked_runs(bytearray(marks)) == runs


def test_runs_are_their_lines() -> None:
    """Runs hold the lines that they were made of, each once and in order, and never touch."""
    chance = random.Random(5)
    for _ in range(200):
        marks = bytes(chance.choices([0, 1], weights=[chance.random() + 0.01, 0.5], k=40))
        numbers = [number for number, mark in enumerate(marks, start=1) if mark]
        runs = as_runs(numbers)
        assert runs == marked_runs(marks)
        assert [line for first, last in runs for line in range(first, last + 1)] == numbers
        assert all(before[1] + 1 < after[0] for before, after in pairwise(runs))
