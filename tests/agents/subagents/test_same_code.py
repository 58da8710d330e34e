"""When two functions are the same: a new lambda per spawn is no conflict (rule O-47)."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from aggregate.agents.subagents import SubagentSession
from aggregate.agents.subagents.spawn_spec import same_code
from aggregate.base.errors import SpawnError


def counting(extra: int) -> Callable[[list[Any]], int]:
    """Return a new function each time."""
    return lambda results: len(results) + extra


SAME: list[tuple[Any, Any]] = [
    (counting(1), counting(1)),
    (lambda results: len(results) * 2, lambda results: len(results) * 2),
    (
        lambda results: [one for one in results if one],
        lambda results: [one for one in results if one],
    ),
    (partial(max, default=0), partial(max, default=0)),
    (len, len),
    ("lambda results: 1", " lambda results: 1\n"),
]
DIFFERENT: list[tuple[Any, Any]] = [
    (counting(1), counting(2)),
    (lambda results: 1, lambda results: 2),
    (lambda results: 1, lambda results: True),
    (lambda results, n=1: n, lambda results, n=2: n),
    (
        lambda results: [one for one in results if one],
        lambda results: [one for one in results if not one],
    ),
    (partial(max, default=0), partial(max, default=1)),
    (len, max),
    ("lambda results: 1", "lambda results: 2"),
    ("len", len),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_the_same(one: Any, other: Any) -> None:
    """The same code, defaults and captured values, wherever it stands and however often it was reached."""
    assert same_code(one, other)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_different(one: Any, other: Any) -> None:
    """Another constant, default or captured value makes another function."""
    assert not same_code(one, other)


def test_a_lambda_in_a_loop_is_one_function() -> None:
    """A group takes the same function again, and refuses another (O-47)."""
    session = SubagentSession()
    for _ in range(3):
        session.spawn("t", collect_into="$a", custom_function=lambda results: len(results) * 2)
    with pytest.raises(SpawnError, match="already has another customFunction"):
        session.spawn("t", collect_into="$a", custom_function=counting(1))
