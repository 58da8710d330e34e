"""Values on their way into a sandbox and out of it: plain types only, also where the code has forged its answer."""

import json
import re
from collections.abc import Mapping
from datetime import date, time, timedelta
from typing import Any, Final

from aggregate.agents.sandbox.limits import CONTAINERS, ERROR_CHARACTERS
from aggregate.base.errors import SandboxError, Stopped
from aggregate.base.values import DEPTH, Value, entries, jsonable, members, message_text, type_name

_HALF_PAIR = re.compile(rb"\\u[dD][89a-fA-F]")


def parse_answer(text: bytes) -> Value:
    """Return the JSON value of an answer, unless it has too many parts or holds half of a surrogate pair."""
    if text.count(b"[") + text.count(b"{") > CONTAINERS:
        raise SandboxError(
            f"the answer holds more than {CONTAINERS} lists and objects", kind=Stopped.MEMORY
        )
    try:
        value = json.loads(text.decode("utf-8"))
        if _HALF_PAIR.search(text):
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except MemoryError:
        raise SandboxError("the answer does not fit into memory", kind=Stopped.MEMORY) from None
    except (ValueError, RecursionError) as error:
        raise SandboxError(
            f"the answer cannot be read: {shorten_error(str(error))}", kind=Stopped.CRASH
        ) from None
    return value


def parse_reply(text: bytes) -> dict[str, Any]:
    """Return the object that a sandbox's own program answers: with ``value``, or raised as a ``SandboxError``."""
    reply = parse_answer(text)
    if not isinstance(reply, dict):
        raise SandboxError("the answer cannot be read: it is no object", kind=Stopped.CRASH)
    if "value" in reply:
        return reply
    kind, name, message = (
        part if isinstance(part := reply.get(key), str) else ""
        for key in ("kind", "exception", "error")
    )
    raise SandboxError(
        shorten_error(message) or "the code failed and did not say why",
        kind=Stopped(kind) if kind in list(Stopped) else Stopped.RUNTIME,
        exception=name[:100],
    )


def shorten_error(text: str) -> str:
    if len(text) <= ERROR_CHARACTERS:
        return text
    return f"{text[:ERROR_CHARACTERS]}... ({len(text) - ERROR_CHARACTERS} more characters)"


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
    """Return ``value`` if it holds no function, class or object."""
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
