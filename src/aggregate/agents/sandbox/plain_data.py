"""Values on their way into a sandbox and out of it: plain types only."""

from collections.abc import Mapping
from datetime import date, time, timedelta
from typing import Final

from aggregate.base.errors import SandboxError
from aggregate.base.values import DEPTH, Value, entries, jsonable, members, message_text, type_name

LEAVES: Final = (str, int, float, bool, bytes, type(None), date, time, timedelta)


def plain_copy(value: Value) -> Value:
    """Return a copy of ``value`` made of plain types; never raises.

    Anything else, and what is nested deeper than ``DEPTH``, becomes what ``jsonable`` shows of it; what holds itself,
    its type's name. Half a surrogate pair in a text becomes the replacement character.
    """
    return _plain(value, {}, DEPTH)


def _plain(value: Value, copies: dict[int, tuple[Value, Value]], depth: int) -> Value:
    if type(value) is str:
        return _writable(value)
    if _leaf(value):
        return value
    if id(value) not in copies:
        # The value is held beside its copy, so that no other gets its id.
        copies[id(value)] = value, f"<{type_name(value)} that holds itself>"
        copies[id(value)] = value, _container(value, copies, depth - 1)
    return copies[id(value)][1]


def _container(value: Value, copies: dict[int, tuple[Value, Value]], depth: int) -> Value:
    kind = type(value)
    try:
        if depth > 0 and issubclass(kind, Mapping):
            return {_key(key): _plain(item, copies, depth) for key, item in entries(value)}
        if depth > 0 and issubclass(kind, list | tuple):
            items = [_plain(item, copies, depth) for item in members(value)]
            return items if issubclass(kind, list) else tuple(items)
        if issubclass(kind, set | frozenset):
            return {_key(item) for item in members(value)}
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 - the value's own code ran
        return _writable_json(jsonable(value))
    return _writable_json(jsonable(value))


def _writable_json(copy: Value) -> Value:
    """Return JSON with texts that a sandbox takes."""
    if isinstance(copy, dict):
        return {_writable(key): _writable_json(item) for key, item in copy.items()}
    if isinstance(copy, list):
        return [_writable_json(item) for item in copy]
    return _writable(copy) if isinstance(copy, str) else copy


def _key(key: Value) -> Value:
    if type(key) is str:
        return _writable(key)
    return key if _leaf(key) else message_text(key)


def _writable(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return str.__str__(text)


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
