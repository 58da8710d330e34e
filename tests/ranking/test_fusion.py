"""Weighted sums, probabilities and order."""

from math import e

import pytest

from aggregate.ranking.evidence import Evidence, PieceValues
from aggregate.ranking.fusion import add_to_files, add_to_pieces, in_order, probabilities


def test_sums_add_each_weighed_value_once() -> None:
    """What is said of a file counts for each of its pieces, what is said of a piece for it alone."""
    evidences = [
        Evidence("a", files={0: 1.0, 2: 0.5}, pieces={(0, 1): 0.25}),
        Evidence("b", pieces=PieceValues({0: [0.0, 1.0]})),
        Evidence("without weight", files={0: 9.0}, pieces={(0, 0): 9.0}),
    ]
    weights = {"a": 2.0, "b": -1.0}
    assert add_to_files([0.0, 0.0, 1.0], evidences, weights) == [2.0, 0.0, 2.0]
    assert add_to_pieces({0: [0.0, 1.0], 1: [3.0]}, evidences, weights) == {0: [2.0, 2.5], 1: [3.0]}


def test_probabilities_are_the_softmax_over_all() -> None:
    """A piece whose sum is greater by one is e times as likely; sums of any size do not overflow."""
    for offset in (0.0, 1e6, -1e6):
        pieces, others = probabilities({0: [offset + 1, offset]}, {1: offset})
        assert pieces[0][0] == pytest.approx(e / (e + 2))
        assert pieces[0][1] == others[1] == pytest.approx(1 / (e + 2))
    assert probabilities({}, {}) == ({}, {})
    assert probabilities({3: []}, {}) == ({3: ()}, {})


def test_equals_keep_their_order() -> None:
    """Files are ordered by score, equal ones as they are numbered (rule T-4)."""
    ranked = in_order(4, pieces={2: [0.25, 0.25]}, others={0: 0.25, 3: 0.25}, why={})
    assert [(file.file, file.score) for file in ranked] == [(2, 0.5), (0, 0.25), (3, 0.25), (1, 0)]
