"""Runs of lines in a file."""

from collections.abc import Iterable

from aggregate.ranking.files import DefinedName

Run = tuple[int, int]  # First and last line, 1-based and inclusive
ALL_LINES: Run = (1, 1 << 31)  # More lines than any file has
LONGEST_SIGNATURE = 12  # Lines; the rest is shown with the body


def signature_run(definition: DefinedName) -> Run:
    last = max(definition.signature, min(definition.body - 1, definition.last))
    return definition.signature, min(last, definition.signature + LONGEST_SIGNATURE - 1)


def as_runs(numbers: Iterable[int]) -> list[Run]:
    runs: list[Run] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1] = runs[-1][0], number
        else:
            runs.append((number, number))
    return runs


def marked_runs(
    marks: bytes | bytearray, value: int = 1, first: int = 1, last: int | None = None
) -> list[Run]:
    """Return the lines from ``first`` to ``last`` whose mark is ``value``, as runs."""
    runs: list[Run] = []
    stop = len(marks) if last is None else last
    start = marks.find(value, first - 1, stop)
    while start >= 0:
        end = marks.find(1 - value, start, stop)
        end = stop if end < 0 else end
        runs.append((start + 1, end))
        start = marks.find(value, end, stop)
    return runs
