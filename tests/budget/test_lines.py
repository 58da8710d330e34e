"""Lines of a file, and runs of them."""

import random
from itertools import pairwise

import pytest

from aggregate.budget.lines import FileLines, Run, ShownLines, as_runs, marked_runs


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


def new_runs(text: str, *wanted: Run, shown: Run | None = None) -> list[Run]:
    """Return what of the wanted lines is new, where other lines may be shown before."""
    lines = ShownLines(FileLines(text.splitlines(keepends=True), lambda run: [run], 0))
    if shown:
        lines.show([shown])
    return lines.with_small_gaps(lines.new_runs(wanted))


def test_a_small_gap_is_shown() -> None:
    """A bracket and a short line cost no more than the dots in their place (rules B-2, B-6)."""
    getters = "int number_of_parts() {\n    return number_of_parts_;\n}\n" * 3
    assert new_runs(getters, (1, 1), (4, 4), (7, 7)) == [(1, 9)]
    assert new_runs(getters, (4, 4), shown=(1, 1)) == [(2, 4)]
    assert new_runs(getters, (1, 3), shown=(7, 7)) == [(1, 3)]
    long = "int a() {\n" + f"    return {'b + ' * 12}c;\n" + "}\n"
    assert new_runs(long * 2, (1, 1), (4, 4)) == [(1, 1), (4, 4)]


def test_blank_lines_alone_are_no_small_gap() -> None:
    """They are shown without being asked for, at no price of their own (rule B-1)."""
    assert new_runs("a\n\n\nb\n", (1, 1), (4, 4)) == [(1, 1), (4, 4)]


@pytest.mark.parametrize(
    ("text", "shown", "runs"),
    [
        ("a\n\nb\n\n\nc\n", [(2, 4)], [(3, 3)]),
        ("a\n\nb\n", [(1, 2)], [(1, 1)]),
        ("\na\n\nb\n\n", [(1, 3)], [(1, 2)]),
        ("\na\n\nb\n\n", [(4, 5)], [(4, 5)]),
        ("a\n\nb\n", [(1, 1), (3, 3)], [(1, 3)]),
    ],
)
def test_no_blank_lines_stand_next_to_a_gap(text: str, shown: list[Run], runs: list[Run]) -> None:
    """The line of dots parts what it stands between; at the ends of a file and within they stay (rule B-2)."""
    lines = ShownLines(FileLines(text.splitlines(keepends=True), lambda run: [run], 0))
    lines.show(shown)
    assert lines.runs() == runs
