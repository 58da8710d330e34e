"""Isolated copies of foreign values, and references to values on disk."""

import re
from collections.abc import Awaitable, Coroutine
from copy import deepcopy
from pathlib import PurePath
from typing import Any, Final, TypeAlias, TypeGuard

Value: TypeAlias = Any  # a result of an agent, a step, a tool or foreign code
ATOMS = (str, int, float, bool, bytes, type(None))  # immutable, not copied
CACHE_DIR: Final = "state/data_cache"
THRESHOLD: Final = 5000  # bytes of JSON from which a value is written to disk (rules D-9, X-1)
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def isolated_copy(value: Value) -> Value:
    """Copy a value deeply; parts that cannot be copied, such as locks, are shared."""
    copies: dict[int, Value] = {}
    unfinished: list[tuple[Value, Value]] = []

    def copy_of(part: Value) -> Value:
        # A shallow copy of containers; the loop below replaces their entries.
        if type(part) in ATOMS:
            return part
        if id(part) not in copies:
            if type(part) in (dict, list):
                copies[id(part)] = part.copy()
                unfinished.append((part, copies[id(part)]))
            else:
                try:
                    copies[id(part)] = deepcopy(part)
                except Exception:  # noqa: BLE001 - such as a lock
                    copies[id(part)] = part
        return copies[id(part)]

    top = copy_of(value)
    while unfinished:
        source, copy = unfinished.pop()
        for key, child in source.items() if type(source) is dict else enumerate(source):
            copy[key] = copy_of(child)
    return top


def unawaited(value: Value) -> str:
    """Return an error message if a value still has to be awaited, else ``""``."""
    if not isinstance(value, Awaitable):
        return ""
    if isinstance(value, Coroutine):
        value.close()  # prevents Python's warning
    return f"the output is a {type(value).__name__} that was not awaited: await it and report its result"


class DataReference(dict[str, Any]):
    """Reference to a value on disk: its id, file, size and summary (rule D-42)."""

    __slots__ = ()

    @property
    def ref_id(self) -> str:
        return str(self["_ref_id"])

    @property
    def place(self) -> str:
        """The value's file, its size, and how to read it, in two sentences."""
        path = PurePath(self["_data_file"])
        if path.parent.parts[-2:] == PurePath(CACHE_DIR).parts:
            path = path.relative_to(path.parents[2])
        return f"{path.as_posix()}, {self['_size_kb']} KB. {self['_usage_hint']}"


def is_reference(value: object) -> TypeGuard[DataReference]:
    return type(value) is DataReference


def escape_surrogates(text: str) -> str:
    r"""Escape unpaired surrogates as ``\udXXX``, since files and terminals cannot encode them."""
    if text.isascii():
        return text
    try:
        text.encode()  # ten times as fast as a search
    except UnicodeEncodeError:
        return _SURROGATE.sub(lambda match: f"\\u{ord(match.group()):04x}", text)
    return text
