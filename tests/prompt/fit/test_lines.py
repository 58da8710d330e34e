"""Lines of a file, and runs of them."""

import random
from itertools import pairwise

import pytest

from aggregate.prompt.fit.fit import FileLines, ShownLines, as_runs, marked_runs
from aggregate.prompt.fit.steps import Run


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


def test_blank_lines_between_shown_ones_have_their_price() -> None:
    """They are shown without being asked for, and what is shown is paid for (rules B-1, B-6)."""
    assert new_runs("a\n\n\nb\n", (1, 1), (4, 4)) == [(1, 4)]
    assert new_runs("a\n\n\nb\n", (4, 4), shown=(1, 1)) == [(2, 4)]
    assert new_runs("\n\na\n\n", (3, 3)) == [(1, 4)]


MANY_LINES, LONG_LINES = "\n" * 1000, f"{' ' * 150}\n" * 2


@pytest.mark.parametrize("blank", [MANY_LINES, LONG_LINES])
def test_many_blank_lines_are_a_gap(blank: str) -> None:
    """They would take tokens that tell nothing: dots stand for them, until they are shown themselves (rule B-6)."""
    text = f"a\n{blank}b\n"
    lines = ShownLines(FileLines(text.splitlines(keepends=True), lambda run: [run], 0))
    last = len(lines.marks)
    for line in (1, last):
        runs = lines.with_small_gaps(lines.new_runs([(line, line)]))
        assert runs == [(line, line)]
        lines.show(runs)
    assert lines.runs() == [(1, 1), (last, last)]
    assert not lines.is_complete
    lines.show([(2, 5)])
    lines.show([(2, last - 1)])
    assert lines.runs() == [(1, last)]
    assert lines.is_complete


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
