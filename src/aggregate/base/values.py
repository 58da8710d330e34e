"""Values that others returned: how large they are as JSON, and copies that share nothing mutable with them."""

import re
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from copy import deepcopy
from functools import partial
from math import inf
from pathlib import PurePath
from typing import Any, Final, NamedTuple, TypeAlias, TypeGuard, TypeVar

_Row = TypeVar("_Row", bound=tuple[Any, ...])

Value: TypeAlias = Any  # whatever an agent, a step, a tool or foreign code returned

ATOMS = (str, int, float, bool, bytes, type(None))  # cannot change: they are shared, not copied

# Lists and dictionaries that a copy without sharing may hold beyond those that there are: forty lists, each of which
# holds the next one twice, are a million million written out.
MOST_REPEATED: Final = 20_000

# Characters of long texts that a copy may hold beyond those that there are: one text of a megabyte in a list a million
# times is a few megabytes here, and a million of them written out.
MOST_REPEATED_TEXT: Final = 20_000_000

# From how many on a text counts for that; the place that a shorter one takes in a list is hardly less.
LONG: Final = 100

CACHE_DIR: Final = "state/data_cache"

THRESHOLD: Final = 5000  # bytes of JSON from which a value is written to disk (rules D-9, X-1)

_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def row_maker(kind: type[_Row]) -> Callable[[Iterable[Any]], _Row]:
    """Return what makes a named tuple of the values of all its fields, in order; nobody counts them.

    Calling the class takes three times as long, since that goes through a function for names and defaults. It is for
    the loops over all files, definitions or pieces of a project; elsewhere the class says more.
    """
    return partial(tuple.__new__, kind)


class Extent(NamedTuple):
    """How far a value goes as JSON, where what is shared is written each time and what holds itself has no end."""

    levels: float  # of lists, tuples and dictionaries inside each other
    repeated: float  # how many of them are written once more than they exist
    repeated_text: float = 0  # characters of long texts that are

    @property
    def too_often(self) -> bool:
        return MOST_REPEATED < self.repeated < inf or self.repeated_text > MOST_REPEATED_TEXT


def extent(value: Value) -> Extent:
    """Measure ``value``, in time that grows with the parts that exist; never raises for what the value does."""
    # Of each container: itself and everything inside it, as often as it is written; None while that is not known.
    written: dict[int, Extent | None] = {}
    texts: dict[int, int] = {}
    pending = [value] if _is_container(value) else []
    while pending:
        container = pending[-1]
        if written.get(id(container)):
            pending.pop()
            continue
        parts = _parts(container)
        inner = [part for part in parts if _is_container(part)]
        if id(container) not in written:
            written[id(container)] = None
            if any(written.get(id(part), 0) is None for part in inner):
                return Extent(inf, inf)
            if unmeasured := [part for part in inner if id(part) not in written]:
                pending += unmeasured
                continue
        pending.pop()
        below = [each for part in inner if (each := written[id(part)])]
        long_texts = [(id(part), size) for part in parts if (size := long_text(part))]
        texts.update(long_texts)
        written[id(container)] = Extent(
            1 + max((each.levels for each in below), default=0),
            1 + sum(each.repeated for each in below),
            sum(size for _, size in long_texts) + sum(each.repeated_text for each in below),
        )
    whole = written.get(id(value)) or Extent(0, 0)
    repeated_text = whole.repeated_text - sum(texts.values())
    return Extent(whole.levels, whole.repeated - len(written), repeated_text)


def _is_container(value: Value) -> bool:
    kind = type(value)
    return kind not in ATOMS and issubclass(kind, (dict, list, tuple))


def _parts(value: Value) -> list[Value]:
    # Whatever a subclass makes of it.
    for kind in (list, tuple):
        if issubclass(type(value), kind):
            return list(kind.__iter__(value))
    return [*dict.values(value), *dict.keys(value)]


def long_text(value: Value) -> int:
    """Return the characters of a text, or of a whole number as a text, from which it counts as long; else 0."""
    kind, size = type(value), 0
    if issubclass(kind, str):
        size = str.__len__(value)
    elif issubclass(kind, int):
        size = int.bit_length(value) // 3
    return size if size > LONG else 0


def isolated_copy(value: Value) -> Value:
    """Return a copy of ``value`` that shares no mutable part with it."""
    return value if type(value) in ATOMS else _unless_it_refuses(_isolated, value)


def _unless_it_refuses(copy: Callable[[Value], Value], value: Value) -> Value:
    try:
        return copy(value)
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 - a value that refuses to be copied is passed on as it is
        return value


def _isolated(value: Value) -> Value:
    copies: dict[int, Value] = {}
    unfinished: list[tuple[Value, Value]] = []

    def copy_of(part: Value) -> Value:
        # The one copy; the entries of a dictionary or list in it are still the original's.
        if id(part) not in copies:
            if type(part) in (dict, list):
                copies[id(part)] = part.copy()
                unfinished.append((part, copies[id(part)]))
            else:
                copies[id(part)] = _unless_it_refuses(deepcopy, part)
        return copies[id(part)]

    top = copy_of(value)
    while unfinished:
        source, copy = unfinished.pop()
        for key, child in source.items() if type(source) is dict else enumerate(source):
            if type(child) not in ATOMS:
                copy[key] = copy_of(child)
    return top


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
