"""Values on their way into a sandbox and out of it: plain types only."""

from collections.abc import Mapping
from datetime import date, time, timedelta
from typing import Final

from aggregate.errors import SandboxError
from aggregate.models.values import Value

LEAVES: Final = (str, int, float, bool, bytes, type(None), date, time, timedelta)
DEPTH: Final = 200


def plain_copy(value: Value) -> Value:
    """Return a copy of ``value`` made of plain types; never raises.

    Anything else, and what is nested deeper than ``DEPTH``, becomes its ``str()``; what holds itself, or cannot be
    read, its type's name. Half a surrogate pair in a text becomes the replacement character.
    """
    return _plain(value, {}, DEPTH)


def _plain(value: Value, known: dict[int, Value], depth: int) -> Value:
    if type(value) is str:
        return _writable(value)
    if _leaf(value):
        return value
    if id(value) in known:
        return known[id(value)]
    known[id(value)] = f"<{_type_name(value)} that holds itself>"
    known[id(value)] = copy = _container(value, known, depth - 1) if depth > 0 else _text(value)
    return copy


def _container(value: Value, known: dict[int, Value], depth: int) -> Value:
    try:
        if isinstance(value, Mapping):
            return {_key(key): _plain(item, known, depth) for key, item in value.items()}
        if isinstance(value, list):
            return [_plain(item, known, depth) for item in value]
        if isinstance(value, tuple):
            return tuple(_plain(item, known, depth) for item in value)
        if isinstance(value, set | frozenset):
            return {_key(item) for item in value}
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 - the value's own code ran
        return f"<{_type_name(value)} that cannot be read>"
    return _text(value)


def _key(value: Value) -> Value:
    return value if _leaf(value) and type(value) is not str else _text(value)


def _text(value: Value) -> str:
    """Return ``str(value)``, or its type's name where its own code fails."""
    try:
        return _writable(str.__str__(str(value)))
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 - the value's own code ran
        return f"<{_type_name(value)} that cannot be read>"


def _type_name(value: object) -> str:
    """Return the name of the type itself, which a metaclass cannot change."""
    return str(type.__dict__["__name__"].__get__(type(value)))


def _writable(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _leaf(value: object) -> bool:
    return type(value) in LEAVES or issubclass(type(value), date)


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
