"""Say in a few words what a large value holds, without a model: how many, of what, with which fields (rule X-2)."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from aggregate.base.text import shorten
from aggregate.base.values import Value, escape_surrogates, json_text, jsonable, members, type_name

FIELDS: Final = 5
SAMPLES: Final = 3
SAMPLE_CHARACTERS: Final = 500
DESCRIBED: Final = 12
"""Fields whose types and ranges are given."""
NAME_CHARACTERS: Final = 80
ALIKE: Final = 3
"""Entries from which an object counts as a group of like things, as the merge strategy ``json`` makes one."""
_DATE: Final = re.compile(
    r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?"
)

_DATE_CHARACTERS: Final = len("2026-01-31T10:30:00.000000+00:00")


def summarise(data: Value) -> str:
    """Return the count and the field names of the longest list in ``data``, and its first items.

    ``63 activities with fields: name, distance, moving_time...`` for ``{"activities": [63 objects]}``. An object whose
    entries are alike is told of as a group: count, keys, the type and range of each field, and three samples.
    """
    if issubclass(type(data), str):
        data = str.__str__(data)
        return f"Text of {len(data)} characters: {escape_surrogates(data[:SAMPLE_CHARACTERS])}"
    copy = jsonable(data)
    if isinstance(copy, dict):
        return _object_summary(copy)
    if isinstance(copy, list):
        originals = list(members(data)) if issubclass(type(data), list | tuple) else copy
        return _list_summary(copy, originals, "items")
    return f"{type_name(data)}: {json_text(copy)[:SAMPLE_CHARACTERS]}"


def _object_summary(data: dict[str, Value]) -> str:
    if len(data) >= ALIKE and (kind := _kind_of_all(list(data.values()))):
        return _group_summary(data, kind)
    lists = {key: value for key, value in data.items() if isinstance(value, list)}
    if not lists:
        return "\n".join([f"Object with keys: {_names(list(data))}", *_large_entries(data)])
    key = max(lists, key=lambda name: len(lists[name]))
    return _list_summary(lists[key], lists[key], shorten(key, NAME_CHARACTERS))


def _list_summary(items: list[Value], originals: Sequence[Value], noun: str) -> str:
    fields = list(dict.fromkeys(key for item in items if isinstance(item, Mapping) for key in item))
    of_what = f" with fields: {_names(fields)}" if fields else _types(originals)
    if not items:
        return f"0 {noun}"
    samples = items[:SAMPLES]
    text = json_text(samples)
    if len(text) > SAMPLE_CHARACTERS:
        text = f"{text[:SAMPLE_CHARACTERS]}..."
    count = f"First {len(samples)} {'item' if len(samples) == 1 else 'items'}"
    return f"{len(items)} {noun}{of_what}\n{count}: {text}"


def _types(items: Sequence[Value]) -> str:
    names = sorted({type_name(item) for item in items})
    return f" of {_names(names)}" if names else ""


def _names(names: Sequence[str]) -> str:
    listed = ", ".join(_field_name(name) for name in names[:FIELDS])
    return f"{listed}..." if len(names) > FIELDS else listed


def _field_name(name: str) -> str:
    return shorten(escape_surrogates(name), NAME_CHARACTERS)


# Groups of like entries


def _kind_of_all(values: Sequence[Value]) -> str:
    """Return what most of ``values`` are, at least nine in ten: ``object``, ``list`` or ``text``; else ``""``."""
    kinds = [_kind(value) for value in values]
    for kind in ("object", "list", "text"):
        if kinds.count(kind) * 10 >= len(kinds) * 9:
            return kind
    return ""


def _group_summary(data: Mapping[str, Value], kind: str) -> str:
    """Return ``200 entries with fields: ...``, a line for each field, the most common ones first, and samples."""
    fields: dict[str, list[Value]] = {}
    objects = (
        [entry for entry in data.values() if isinstance(entry, dict)] if kind == "object" else []
    )
    for entry in objects:
        for field, value in entry.items():
            fields.setdefault(field, []).append(value)
    common = sorted(fields, key=lambda field: -len(fields[field]))
    of_what = f" with fields: {_names(common)}" if fields else f": {_range(list(data.values()))}"
    lines = [f"{len(data):,} entries{of_what}", f"Keys: {_names(list(data))}"]
    for field in common[:DESCRIBED]:
        count = len(fields[field])
        missing = f", in {count:,} of {len(data):,}" if count < len(data) else ""
        lines.append(f"{_field_name(field)}: {_range(fields[field])}{missing}")
    if len(common) > DESCRIBED:
        lines.append(f"and {len(common) - DESCRIBED:,} more fields")
    samples = list(data)[:SAMPLES]
    lines.append(f"First {len(samples)} entries:")
    lines += [
        f"{_field_name(key)}: {shorten(json_text(data[key]), SAMPLE_CHARACTERS // SAMPLES)}"
        for key in samples
    ]
    return "\n".join(lines)


def _large_entries(data: Mapping[str, Value]) -> list[str]:
    """Describe the entries of an object that are more than a word; nothing where none is."""
    if not any(_is_large(value) for value in data.values()):
        return []
    return [f"{_field_name(key)}: {_range([data[key]])}" for key in list(data)[:DESCRIBED]]


def _is_large(value: Value) -> bool:
    if isinstance(value, str):
        return len(value) > NAME_CHARACTERS
    return isinstance(value, dict | list) and bool(value)


def _kind(value: Value) -> str:
    if isinstance(value, bool):
        return "truth value"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        is_date = len(value) <= _DATE_CHARACTERS and _DATE.fullmatch(value)
        return "date" if is_date else "text"
    if isinstance(value, dict):
        return "object"
    return "list" if isinstance(value, list) else "null"


def _range(values: Sequence[Value]) -> str:
    """Return the types of ``values`` with their ranges: ``number from 1 to 9``, ``text of 3 to 80 characters``."""
    by_kind: dict[str, list[Any]] = {}
    for value in values:
        by_kind.setdefault(_kind(value), []).append(value)
    return " or ".join(_kind_range(kind, same) for kind, same in by_kind.items())


def _kind_range(kind: str, values: Sequence[Any]) -> str:
    if kind in ("number", "date"):
        low, high = min(values), max(values)
        return f"{kind} {low}" if low == high else f"{kind} from {low} to {high}"
    unit = {"text": "characters", "list": "items", "object": "fields"}.get(kind)
    if unit is None:
        return kind
    low, high = min(map(len, values)), max(map(len, values))
    if low == high:
        noun = unit.removesuffix("s") if low == 1 else unit
        return f"{kind} of {low:,} {noun}"
    return f"{kind} of {low:,} to {high:,} {unit}"
