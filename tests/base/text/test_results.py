"""Aggregated results as text."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest

from aggregate import AggregatedResult
from aggregate.base.text import result_text, value_text
from aggregate.base.values import MergeStrategy


@dataclass
class Point:
    """A value of a class."""

    x: int


LOOP: list[Any] = []
LOOP.append(LOOP)

VALUES = [
    ("text", "text"),
    (7, "7"),
    (None, "null"),
    ({"é": [1]}, '{\n  "é": [\n    1\n  ]\n}'),
    ({"b", "a"}, '[\n  "a",\n  "b"\n]'),
    (Point(1), '{\n  "x": 1\n}'),
    (datetime(2024, 1, 1, tzinfo=UTC), '"2024-01-01T00:00:00+00:00"'),
    (b"x", '"x"'),
    (object(), '"<object>"'),
    (LOOP, '[\n  "<list that holds itself>"\n]'),
]


@pytest.mark.parametrize(("value", "text"), VALUES)
def test_values_as_text(value: object, text: str) -> None:
    """Text stays, the rest is JSON; no address, clock or hash order shows (O-52)."""
    assert value_text(value) == text


def test_results_as_text() -> None:
    """A concat is joined by blank lines, any other value is one text, no value is no text (O-50)."""
    concat = AggregatedResult("$a", value=["x", 2], labels=("A", ""))
    assert result_text(concat) == "A: x\n\n2"
    assert result_text(AggregatedResult("$a", MergeStrategy.FIRST, "x")) == "x"
    assert result_text(AggregatedResult("$a", value={"_ref_id": "r"})) == '{\n  "_ref_id": "r"\n}'
    assert result_text(AggregatedResult("$a")) == ""
