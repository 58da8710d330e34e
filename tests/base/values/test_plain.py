"""Copies that share nothing mutable."""

import threading
from datetime import UTC, datetime
from typing import Any

from hypothesis import given, strategies as st

from aggregate.base.values import isolated_copy

VALUES = st.recursive(
    st.none() | st.integers() | st.text(max_size=3) | st.just(datetime(2024, 1, 1, tzinfo=UTC)),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.integers(), inner, max_size=3)
        | st.tuples(inner, inner)
    ),
    max_leaves=8,
)


@given(VALUES)
def test_a_copy_is_equal_and_shares_no_list(value: Any) -> None:
    """The copy equals the original, and no list or dictionary is in both (O-53)."""
    copy = isolated_copy(value)
    assert copy == value
    assert not containers(copy) & containers(value)


def containers(value: Any) -> set[int]:
    """Return the identities of all non-empty lists and dictionaries inside."""
    if not isinstance(value, list | dict | tuple):
        return set()
    own = {id(value)} if value and not isinstance(value, tuple) else set()
    children = value.values() if isinstance(value, dict) else value
    return own.union(*(containers(child) for child in children))


def test_cycles_depth_and_stubborn_values() -> None:
    """A cycle stays one, depth is no limit, and what cannot be copied is shared (O-52)."""
    loop: list[Any] = [1]
    loop.append(loop)
    copy = isolated_copy(loop)
    assert copy[1] is copy
    assert copy is not loop
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    assert isolated_copy(deep) is not deep
    lock = threading.Lock()
    assert isolated_copy({"lock": lock})["lock"] is lock
    twice = [1]
    pair = isolated_copy({"a": twice, "b": twice})
    assert pair["a"] is pair["b"]
