"""Texts that are made, or happen, to be hard."""

import time

import pytest

from aggregate.anchors import AnchorState, FuzzyAnchor

SECONDS = 10.0
"""Far above what is needed and far below what a search that grows with the square of the text takes."""


@pytest.mark.parametrize(("start", "end"), [(30_000, 30_000), (10_000, 50_000), (1, 60_000)])
def test_a_text_of_equal_lines(start: int, end: int) -> None:
    """Among equal lines no place is chosen once lines came in on both sides, and the answer comes at once (M-X9)."""
    text = "x\n" * 60_000
    begun = time.perf_counter()
    piece = FuzzyAnchor.create_slice(text, start, end)
    assert FuzzyAnchor.resolve(piece, text).state is AnchorState.FRESH
    found = FuzzyAnchor.resolve(piece, "x\n" + text + "x\n")
    assert (found.state, found.start_line) == (AnchorState.AMBIGUOUS, 0)
    assert 2 <= len(found.candidates) <= 8
    assert time.perf_counter() - begun < SECONDS


def test_a_text_without_a_common_line() -> None:
    """A large slice of which nothing is left is an orphan, at once."""
    old = "".join(f"alpha {n}\n" for n in range(30_000))
    new = "".join(f"omega {n * n}\n" for n in range(30_000))
    begun = time.perf_counter()
    assert FuzzyAnchor.resolve(FuzzyAnchor.create_slice(old, 5_000, 25_000), new).state is AnchorState.ORPHANED
    assert time.perf_counter() - begun < SECONDS


def test_a_minified_line() -> None:
    """A line of a megabyte is known by its print and never stored."""
    long = "var a=1;" * 130_000
    text = f"// head\n{long}\n// tail\n"
    piece = FuzzyAnchor.create_slice(text, 2, 2)
    assert len(str(piece)) < 2_000
    found = FuzzyAnchor.resolve(piece, f"// new\n{text}")
    assert (found.start_line, found.state) == (3, AnchorState.MOVED)


def test_lone_surrogates_are_no_error() -> None:
    """Text decoded with surrogates is captured and found like any other."""
    text = "one\n\udcff two\nthree\n"
    found = FuzzyAnchor.resolve(FuzzyAnchor.create_slice(text, 2, 2), f"zero\n{text}")
    assert (found.start_line, found.state) == (3, AnchorState.MOVED)
