"""Convert any value to JSON.

Values come from agents, tools and foreign code. A value raising an error is replaced by a visible placeholder; the
values beside it are converted as usual.
"""

import json
import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import date, time
from enum import Enum
from typing import Final

from aggregate.base.messages import shorten
from aggregate.base.values import DataReference, Value, escape_surrogates

# Levels of nesting: real data have fewer, and a JSON writer recurses once per level.
DEPTH: Final = 100
_KEY_DEPTH: Final = 3  # levels of a key or an enumeration's value: enough for a tuple of tuples
# Longer integers exceed the digits converted by Python by default (4,300) and are written in hex.
_MOST_BITS: Final = 14_000
_ADDRESS: Final = re.compile(r" at 0x[0-9A-Fa-f]+")
_LEAVES: Final = (str, int, float, Enum, date, time, bytes, bytearray, memoryview, BaseException)


def jsonable(value: Value) -> Value:
    """Return a copy of a value, made of JSON's types.

    Dates, decimals, paths, enumerations, bytes, sets, dataclasses, pydantic models and arrays are converted; other
    objects become ``<their type>``. Numbers unknown to JSON become texts: ``"NaN"``, ``"Infinity"``. A
    ``DataReference`` is kept. Never raises.
    """
    return JsonCopy().of(value)


def json_text(value: Value, *, indent: int | None = None) -> str:
    """Return any value as JSON text; never raises."""
    try:
        return escape_surrogates(json.dumps(jsonable(value), indent=indent, ensure_ascii=False))
    except RecursionError:  # the caller's own stack is nearly full
        return json.dumps(f"<{type_name(value)} nested too deeply>")


def message_text(value: Value) -> str:
    copy = jsonable(value)
    return escape_surrogates(copy) if isinstance(copy, str) else json_text(copy)


def failure_text(error: object) -> str:
    """Return the text of an exception or other error, ``no reason given`` if it is empty."""
    if isinstance(error, BaseException):
        return _exception_text(error)
    return ("" if error is None else message_text(error)) or "no reason given"


def type_name(value: object) -> str:
    return str(type.__dict__["__name__"].__get__(type(value)))


class JsonCopy:
    """Copies one value into JSON's types; ``stored`` keeps NaN (rule D-40)."""

    def __init__(self, *, stored: bool = False) -> None:
        self.cut = ""  # why parts are missing: a cycle, or too many levels
        self._stored = stored
        self._ancestors: set[int] = set()

    def of(self, value: Value, depth: int = DEPTH) -> Value:
        kind = type(value)
        if kind is str or kind is bool or value is None:
            return value
        try:
            if issubclass(kind, _LEAVES):
                return self._leaf(value, kind)
            return self._nested(value, kind, depth)
        except Exception:  # noqa: BLE001 - the value's own methods ran
            return _placeholder(value)

    def _leaf(self, value: Value, kind: type) -> Value:
        if issubclass(kind, Enum):
            return self.of(value._value_, _KEY_DEPTH)
        if issubclass(kind, str):
            return str.__str__(value)
        if issubclass(kind, int):
            number = int.__int__(value)
            return number if number.bit_length() <= _MOST_BITS else hex(number)
        if issubclass(kind, float):
            real = float.__float__(value)
            if self._stored or math.isfinite(real):
                return real
            return {math.inf: "Infinity", -math.inf: "-Infinity"}.get(real, "NaN")
        if issubclass(kind, date | time):
            return str(value) if self._stored else value.isoformat()
        if issubclass(kind, bytes | bytearray | memoryview):
            return bytes(value).decode("utf-8", errors="replace")
        return _exception_text(value)

    def _nested(self, value: Value, kind: type, depth: int) -> Value:
        if kind is DataReference:
            return value
        copy_parts = self._copier(kind)
        if copy_parts is None:
            return _object_text(value, kind)
        if id(value) in self._ancestors:
            self.cut = self.cut or "it contains itself"
            return _placeholder(value, " that holds itself")
        if depth <= 0:
            self.cut = self.cut or f"it is nested deeper than {DEPTH} levels"
            return _placeholder(value, f" deeper than {DEPTH} levels")
        self._ancestors.add(id(value))
        try:
            return copy_parts(value, depth - 1)
        finally:
            self._ancestors.discard(id(value))

    def _copier(self, kind: type) -> Callable[[Value, int], Value] | None:
        if issubclass(kind, Mapping):
            return lambda value, depth: self._keyed(value.items(), depth)
        if issubclass(kind, list | tuple):
            return self._items
        if issubclass(kind, set | frozenset):
            return self._set
        if isinstance(getattr(kind, "__pydantic_fields__", None), dict):
            return self._pydantic_model
        if is_dataclass(kind) and not issubclass(kind, type):
            return self._dataclass
        if hasattr(kind, "dtype") and hasattr(kind, "tolist"):
            return lambda value, depth: self.of(value.tolist(), depth)
        return self._items if issubclass(kind, Collection) and kind is not range else None

    def _items(self, value: Value, depth: int) -> list[Value]:
        return [self.of(item, depth) for item in value]

    def _set(self, value: Value, depth: int) -> list[Value]:
        # Sorted, so that the order does not depend on hashes.
        copies = self._items(value, depth)
        kinds = {type(copy) for copy in copies}
        comparable = kinds <= {int, float} or kinds == {str}
        return sorted(copies) if comparable else sorted(copies, key=json_text)

    def _dataclass(self, value: Value, depth: int) -> dict[str, Value]:
        names = (field.name for field in fields(value))
        return self._keyed(((name, getattr(value, name)) for name in names), depth)

    def _pydantic_model(self, value: Value, depth: int) -> dict[str, Value]:
        attributes, extra = value.__dict__, value.__pydantic_extra__ or {}
        declared = [(name, attributes.get(name)) for name in type(value).__pydantic_fields__]
        return self._keyed([*declared, *extra.items()], depth)

    def _keyed(self, pairs: Iterable[tuple[Value, Value]], depth: int) -> dict[str, Value]:
        """Copy an object's entries; keys with equal text get a suffix: ``-2``, ``-3``, ..."""
        copy: dict[str, Value] = {}
        last_numbers: dict[str, int] = {}
        for key, item in pairs:
            text = self.of(key, _KEY_DEPTH)
            text = text if isinstance(text, str) else json.dumps(text, ensure_ascii=False)
            copy[free_key(copy, text, last_numbers)] = self.of(item, depth)
        return copy


def free_key(
    taken: Collection[str],
    wanted: str,
    last_numbers: dict[str, int] | None = None,
    *,
    separator: str = "-",
) -> str:
    """Return ``wanted``, or if it is taken the first free one of ``wanted-2``, ``wanted-3``, ..."""
    if wanted not in taken:
        return wanted
    last_numbers = {} if last_numbers is None else last_numbers
    number = last_numbers.get(wanted, 1) + 1
    while f"{wanted}{separator}{number}" in taken:
        number += 1
    last_numbers[wanted] = number
    return f"{wanted}{separator}{number}"


def _placeholder(value: object, reason: str = "") -> str:
    return f"<{type_name(value)}{reason}>"


def _exception_text(error: BaseException) -> str:
    try:
        message = str(error)
    except Exception:  # noqa: BLE001 - a run must end even if its exception cannot be shown
        message = "its message cannot be read"
    return f"{type_name(error)}: {message}" if message else type_name(error)


def _object_text(value: Value, kind: type) -> str:
    """Return ``str(value)``, or ``<type>`` if the type only has Python's default text."""
    if all(getattr(kind, name) is getattr(object, name) for name in ("__str__", "__repr__")):
        return _placeholder(value)
    text = str.__str__(str(value))
    return _placeholder(value) if text.startswith("<") or _ADDRESS.search(text) else text


def first_of(sentences: Sequence[str], most: int, characters: int) -> tuple[str, ...]:
    listed = [shorten(message_text(sentence), characters) for sentence in sentences[:most]]
    more = len(sentences) - len(listed)
    if more:
        listed.append(f"... and {more:,} more, {len(sentences):,} in all")
    return tuple(listed)
