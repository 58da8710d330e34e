"""Values that others returned: copies that share nothing mutable with the original."""

from collections.abc import Awaitable, Coroutine
from copy import deepcopy
from math import inf
from typing import Any, Final, NamedTuple, TypeAlias

Value: TypeAlias = Any
"""Whatever an agent, a step, a tool or foreign code returned."""

ATOMS = (str, int, float, bool, bytes, type(None))
"""Types whose values cannot change: they are shared, not copied."""

MOST_REPEATED: Final = 20_000
"""Lists and dictionaries that a copy without sharing may hold beyond those that there are: forty lists, each of which
holds the next one twice, are a million million written out."""

_NESTS = (dict, list, tuple)


class Extent(NamedTuple):
    """How far a value goes as JSON, where what is shared is written each time and what holds itself has no end.

    Attributes:
        levels: Of lists, tuples and dictionaries inside each other.
        repeated: How many of them are written once more than they exist.
    """

    levels: float
    repeated: float


def extent(value: Value) -> Extent:
    """Measure ``value``, in time that grows with the parts that exist; never raises for what the value does."""
    sizes: dict[int, tuple[float, float]] = {}
    opened: set[int] = set()
    pending = [value] if issubclass(type(value), _NESTS) else []
    while pending:
        item = pending[-1]
        if id(item) in sizes:
            pending.pop()
            continue
        inner = [child for child in _children(item) if (kind := type(child)) not in ATOMS and issubclass(kind, _NESTS)]
        if id(item) not in opened:
            opened.add(id(item))
            if ahead := [child for child in inner if id(child) not in sizes]:
                if any(id(child) in opened for child in ahead):
                    return Extent(inf, inf)
                pending += ahead
                continue
        below = [sizes[id(child)] for child in inner]
        sizes[id(item)] = 1 + max((levels for levels, _ in below), default=0), 1 + sum(parts for _, parts in below)
        pending.pop()
    levels, parts = sizes.get(id(value), (0, 0))
    return Extent(levels, parts - len(sizes))


def _children(value: Value) -> list[Value]:
    """Return what is in a container, whatever a subclass makes of it."""
    kind = type(value)
    if issubclass(kind, dict):
        return list(dict.values(value))
    return list(list.__iter__(value) if issubclass(kind, list) else tuple.__iter__(value))


def isolated_copy(value: Value) -> Value:
    """Return a copy of ``value`` that shares no mutable part with it.

    Dictionaries and lists are copied without recursion, so depth does not matter, and cycles stay cycles. Anything else
    that can change is deep-copied; what cannot be copied (a lock, an open file, a dictionary whose keys have no hash
    any more) is shared. Never raises for what the value does.
    """
    if type(value) in ATOMS:
        return value
    try:
        return _isolated(value)
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 - a value that refuses to be copied is passed on as it is
        return value


def _isolated(value: Value) -> Value:
    copies: dict[int, Value] = {}
    top = _shallow(value, copies)
    pending = [(value, top)] if type(value) in (dict, list) else []
    while pending:
        source, copy = pending.pop()
        items = source.items() if type(source) is dict else enumerate(source)
        for key, child in items:
            if type(child) in ATOMS:
                continue
            known = id(child) in copies
            copy[key] = copies[id(child)] if known else _shallow(child, copies)
            if not known and type(child) in (dict, list):
                pending.append((child, copy[key]))
    return top


def _shallow(value: Value, copies: dict[int, Value]) -> Value:
    """Return a first copy of ``value``, whose dictionary or list entries are still the original's."""
    if type(value) in (dict, list):
        copies[id(value)] = value.copy()
    else:
        copies[id(value)] = _deep(value)
    return copies[id(value)]


def _deep(value: Value) -> Value:
    try:
        return deepcopy(value)
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 - a value that refuses to be copied is passed on as it is
        return value


def unawaited(value: Value) -> str:
    """Return why ``value`` is no value yet, because nobody has awaited it, ``""`` where it is one."""
    if type(value) in ATOMS or not issubclass(type(value), Awaitable):
        return ""
    if isinstance(value, Coroutine):
        value.close()  # nobody can await it any more, and Python would warn of it
    return f"the output is a {type(value).__name__} that was not awaited: await it and report what it gives"
