"""Values on their way into a sandbox and out of it: plain types only."""

from collections.abc import Mapping
from datetime import date, time, timedelta
from typing import Final

from aggregate.errors import SandboxError
from aggregate.models.plain import Value

LEAVES: Final = (str, int, float, bool, bytes, type(None), date, time, timedelta)
DEPTH: Final = 200


def plain_copy(value: Value) -> Value:
    """Return a copy of ``value`` made of plain types.

    Anything else, and what is nested deeper than ``DEPTH``, becomes its ``str()``; what holds itself, its type's name.
    """
    return _plain(value, {}, DEPTH)


def _plain(value: Value, known: dict[int, Value], depth: int) -> Value:
    if _leaf(value):
        return value
    if id(value) in known:
        return known[id(value)]
    known[id(value)] = f"<{type(value).__name__} that holds itself>"
    known[id(value)] = copy = _container(value, known, depth - 1) if depth > 0 else str(value)
    return copy


def _container(value: Value, known: dict[int, Value], depth: int) -> Value:
    if isinstance(value, Mapping):
        return {key if _leaf(key) else str(key): _plain(item, known, depth) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item, known, depth) for item in value]
    if isinstance(value, tuple):
        return tuple(_plain(item, known, depth) for item in value)
    if isinstance(value, set | frozenset):
        return {item if _leaf(item) else str(item) for item in value}
    return str(value)


def _leaf(value: object) -> bool:
    return type(value) in LEAVES or isinstance(value, date)


def require_plain(value: Value) -> Value:
    """Return ``value`` if it is made of plain types only.

    Raises:
        SandboxError: It holds a function, a class or an object.
    """
    pending, seen = [value], set[int]()
    while pending:
        item = pending.pop()
        if _leaf(item) or id(item) in seen:
            continue
        if not isinstance(item, dict | list | tuple | set | frozenset):
            raise SandboxError(f"the code returned a {type(item).__name__}, not plain data")
        seen.add(id(item))
        pending.extend(item.values() if isinstance(item, dict) else item)
    return value
