"""Values that others returned: copies that share nothing mutable with the original."""

from collections.abc import Awaitable, Coroutine
from copy import deepcopy
from typing import Any, TypeAlias

Value: TypeAlias = Any
"""Whatever an agent, a step, a tool or foreign code returned."""

ATOMS = (str, int, float, bool, bytes, type(None))
"""Types whose values cannot change: they are shared, not copied."""


def isolated(value: Value) -> Value:
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
