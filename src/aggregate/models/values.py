"""Values that others returned: copies that share nothing mutable with the original."""

from collections.abc import Awaitable, Coroutine
from copy import deepcopy
from itertools import chain
from math import inf
from typing import Any, Final, NamedTuple, TypeAlias

Value: TypeAlias = Any
"""Whatever an agent, a step, a tool or foreign code returned."""

ATOMS = (str, int, float, bool, bytes, type(None))
"""Types whose values cannot change: they are shared, not copied."""

MOST_REPEATED: Final = 20_000
"""Lists and dictionaries that a copy without sharing may hold beyond those that there are: forty lists, each of which
holds the next one twice, are a million million written out."""

MOST_REPEATED_TEXT: Final = 20_000_000
"""Characters of long texts that a copy may hold beyond those that there are: one text of a megabyte in a list a million
times is a few megabytes here, and a million of them written out."""
LONG: Final = 100
"""Characters from which a text counts for that; the place that a shorter one takes in a list is hardly less."""

_NESTS = (dict, list, tuple)


class Extent(NamedTuple):
    """How far a value goes as JSON, where what is shared is written each time and what holds itself has no end.

    Attributes:
        levels: Of lists, tuples and dictionaries inside each other.
        repeated: How many of them are written once more than they exist.
        repeated_text: Characters of long texts that are written once more than they exist.
    """

    levels: float
    repeated: float
    repeated_text: float = 0

    @property
    def too_often(self) -> bool:
        """Whether it can be written, but the same parts would be so too often; what has no end cannot be written."""
        return MOST_REPEATED < self.repeated < inf or self.repeated_text > MOST_REPEATED_TEXT


def extent(value: Value) -> Extent:
    """Measure ``value``, in time that grows with the parts that exist; never raises for what the value does."""
    sizes: dict[int, tuple[float, float, float]] = {}
    texts: dict[int, int] = {}
    opened: set[int] = set()
    pending = [value] if issubclass(type(value), _NESTS) else []
    while pending:
        item = pending[-1]
        if id(item) in sizes:
            pending.pop()
            continue
        children = _children(item)
        inner = [child for child in children if (kind := type(child)) not in ATOMS and issubclass(kind, _NESTS)]
        if id(item) not in opened:
            opened.add(id(item))
            if ahead := [child for child in inner if id(child) not in sizes]:
                if any(id(child) in opened for child in ahead):
                    return Extent(inf, inf)
                pending += ahead
                continue
        below = [sizes[id(child)] for child in inner]
        written = 0
        for text in chain(children, dict.keys(item)) if issubclass(type(item), dict) else children:
            if size := long_text(text):
                texts[id(text)] = size
                written += size
        levels = 1 + max((size[0] for size in below), default=0)
        sizes[id(item)] = levels, 1 + sum(size[1] for size in below), written + sum(size[2] for size in below)
        pending.pop()
    levels, parts, characters = sizes.get(id(value), (0, 0, 0))
    return Extent(levels, parts - len(sizes), characters - sum(texts.values()))


def long_text(value: Value) -> int:
    """Return the characters of a text, or of a whole number as a text, from which it counts as long; else 0."""
    kind = type(value)
    if issubclass(kind, str):
        size = str.__len__(value)
    elif issubclass(kind, int):
        size = int.bit_length(value) // 3
    else:
        return 0
    return size if size > LONG else 0


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
    try:
        return value if type(value) in ATOMS else _isolated(value)
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


def behaves_as(value: Value, kind: type) -> bool:
    """Return whether the type of ``value`` is a ``kind``, by what it is and not by the ``__class__`` that it claims.

    To be asked about foreign values: ``isinstance`` runs their code.
    """
    try:
        return type(value) not in ATOMS and issubclass(type(value), kind)
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 - the class of a class has code of its own
        return False


def unawaited(value: Value) -> str:
    """Return why ``value`` is no value yet, because nobody has awaited it, ``""`` where it is one."""
    if not behaves_as(value, Awaitable):
        return ""
    if behaves_as(value, Coroutine):
        value.close()  # nobody can await it any more, and Python would warn of it
    return f"the output is a {type(value).__name__} that was not awaited: await it and report what it gives"
