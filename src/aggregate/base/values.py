"""Values that others returned, copies that share nothing mutable with them, and references to those on disk."""

import re
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from copy import deepcopy
from functools import partial
from pathlib import PurePath
from typing import Any, Final, TypeAlias, TypeGuard, TypeVar

_Row = TypeVar("_Row", bound=tuple[Any, ...])

Value: TypeAlias = Any  # whatever an agent, a step, a tool or foreign code returned

ATOMS = (str, int, float, bool, bytes, type(None))  # cannot change: they are shared, not copied

CACHE_DIR: Final = "state/data_cache"

THRESHOLD: Final = 5000  # bytes of JSON from which a value is written to disk (rules D-9, X-1)

_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def row_maker(kind: type[_Row]) -> Callable[[Iterable[Any]], _Row]:
    """Return what makes a named tuple of the values of all its fields, in order; nobody counts them.

    Calling the class takes three times as long, since that goes through a function for names and defaults. It is for
    the loops over all files, definitions or pieces of a project; elsewhere the class says more.
    """
    return partial(tuple.__new__, kind)


def isolated_copy(value: Value) -> Value:
    """Return a copy of ``value`` that shares no mutable part with it, but for parts that refuse to be copied."""
    copies: dict[int, Value] = {}
    unfinished: list[tuple[Value, Value]] = []

    def copy_of(part: Value) -> Value:
        # The one copy; the entries of a dictionary or list in it are still the original's.
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
    """Return why ``value`` is no value yet, because nobody has awaited it, ``""`` where it is one."""
    if not isinstance(value, Awaitable):
        return ""
    if isinstance(value, Coroutine):
        value.close()  # nobody can await it any more, and Python would warn of it
    return f"the output is a {type(value).__name__} that was not awaited: await it and report what it gives"


class DataReference(dict[str, Any]):
    """What stands for a value that this program wrote to disk: its id, file, size and summary (rule D-42)."""

    __slots__ = ()

    @property
    def ref_id(self) -> str:
        return str(self["_ref_id"])

    @property
    def place(self) -> str:
        """Where the whole value is and how to get it, in two sentences."""
        path = PurePath(self["_data_file"])
        usual = PurePath(CACHE_DIR)
        shown = path.relative_to(path.parents[2]) if path.parent.parts[-2:] == usual.parts else path
        return f"{shown.as_posix()}, {self['_size_kb']} KB. {self['_usage_hint']}"


def is_reference(value: object) -> TypeGuard[DataReference]:
    return type(value) is DataReference


def escape_surrogates(text: str) -> str:
    r"""Return ``text`` with halves of surrogate pairs as ``\udXXX``: no file and no terminal holds them."""
    if text.isascii():
        return text
    try:
        text.encode()  # says so in a tenth of the time that a search takes
    except UnicodeEncodeError:
        return _SURROGATE.sub(lambda match: f"\\u{ord(match.group()):04x}", text)
    return text
