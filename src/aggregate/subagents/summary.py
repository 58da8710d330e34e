"""Say in a few words what a large value holds, without a model: how many, of what, with which fields (rule X-2)."""

import json
from collections.abc import Mapping
from typing import Any, Final

from aggregate.models.plain import Value

FIELDS: Final = 5
SAMPLES: Final = 3
SAMPLE_CHARACTERS: Final = 500


def summarise(data: Value) -> str:
    """Return the count and the field names of the longest list in ``data``, and its first items.

    ``63 activities with fields: name, distance, moving_time...`` for ``{"activities": [63 objects]}``.
    """
    if isinstance(data, str):
        return f"Text of {len(data)} characters: {data[:SAMPLE_CHARACTERS]}"
    if isinstance(data, Mapping):
        lists = {str(key): value for key, value in data.items() if isinstance(value, list)}
        if not lists:
            return f"Object with keys: {_names(list(data))}"
        key = max(lists, key=lambda name: len(lists[name]))
        return _list_summary(lists[key], key)
    if isinstance(data, list | tuple | set | frozenset):
        return _list_summary(list(data), "items")
    return f"{type(data).__name__}: {str(data)[:SAMPLE_CHARACTERS]}"


def _list_summary(items: list[Any], noun: str) -> str:
    fields = list(dict.fromkeys(str(key) for item in items if isinstance(item, Mapping) for key in item))
    of_what = f" with fields: {_names(fields)}" if fields else _types(items)
    shown = min(SAMPLES, len(items))
    if not shown:
        return f"0 {noun}"
    sample = json.dumps(items[:shown], default=str)
    cut = sample[:SAMPLE_CHARACTERS] + ("..." if len(sample) > SAMPLE_CHARACTERS else "")
    return f"{len(items)} {noun}{of_what}\nFirst {shown} {'item' if shown == 1 else 'items'}: {cut}"


def _types(items: list[Any]) -> str:
    names = sorted({type(item).__name__ for item in items})
    return f" of {', '.join(names)}" if names else ""


def _names(names: list[Any]) -> str:
    shown = ", ".join(map(str, names[:FIELDS]))
    return f"{shown}..." if len(names) > FIELDS else shown
