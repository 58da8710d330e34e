"""The five built-in merge strategies: outputs in, one value and its warnings out (rule O-3)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from aggregate.agents.results.json_text import NotJson, parse_json_text
from aggregate.base.text import shorten
from aggregate.base.values import (
    LabelledOutput,
    Value,
    behaves_as,
    extent,
    free_key,
    isolated_copy,
    jsonable,
    message_text,
    type_name,
)

MAX_DEPTH: Final = 100
"""Levels of nesting that are merged, with a call for each: no real data has more."""
JSON_TYPES: Final = (str, int, float, bool, type(None), list, dict)
SHOWN_KEYS: Final = 5
"""Keys or outputs that a warning names; it counts the others."""
KEY_CHARACTERS: Final = 100
AROUND_CHARACTERS: Final = 500
"""Around a JSON fence up to which ``json`` takes a text for the JSON in it: more is a report of its own."""


@dataclass(frozen=True, slots=True)
class Merged:
    """A merged value that is nobody else's, what was left out of it or replaced in it, and the labels of its items."""

    value: Value
    warnings: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()


def concat(outputs: Sequence[LabelledOutput]) -> Merged:
    """Return all outputs as a list, in order."""
    labels = tuple(item.label or "" for item in outputs)
    return Merged([isolated_copy(item.output) for item in outputs], labels=labels)


def by_key(outputs: Sequence[LabelledOutput]) -> Merged:
    """Return an object of all outputs by label, or by position where one has no label; nothing is overwritten.

    A key that is taken gets ``-2``, ``-3``, ... Texts that are JSON objects or arrays are parsed, also in a fence with
    a few words around it; others stay text.
    """
    keyed: dict[str, Value] = {}
    last_numbers: dict[str, int] = {}
    worded: list[str] = []
    for position, item in enumerate(outputs):
        key = free_key(keyed, item.label or str(position), last_numbers)
        keyed[key] = _as_json(item, worded)
    return Merged(keyed, _left_out(worded))


def _as_json(item: LabelledOutput, worded: list[str]) -> Value:
    """Return an output parsed where it is JSON; ``worded`` gets its name where words around it are left out."""
    if not issubclass(type(item.output), str):
        return isolated_copy(item.output)
    try:
        parsed = parse_json_text(item.output)
    except NotJson:
        return item.output
    if len(parsed.around) > AROUND_CHARACTERS:
        return item.output
    if parsed.around:
        worded.append(item.name)
    return parsed.value


def _left_out(worded: Sequence[str]) -> tuple[str, ...]:
    if not worded:
        return ()
    outputs = "output" if len(worded) == 1 else f"{len(worded)} outputs"
    return (f"the words around the JSON of {outputs} are left out: {_names(worded)}",)


def _names(names: Sequence[str]) -> str:
    listed = ", ".join(
        shorten(name, KEY_CHARACTERS) or "one without a name" for name in names[:SHOWN_KEYS]
    )
    return f"{listed}, ..." if len(names) > SHOWN_KEYS else listed


def deep_merge(outputs: Sequence[LabelledOutput]) -> Merged:
    """Return all objects merged key by key: the last one wins, lists and scalars are replaced.

    An output that is no object is left out and named in a warning, as are the keys that had more than one value.
    """
    merged: dict[Value, Value] = {}
    warnings: list[str] = []
    worded: list[str] = []
    replaced: dict[tuple[Value, ...], None] = {}
    for item in outputs:
        try:
            _merge_into(merged, _object(item, worded), (), replaced)
        except NotJson as error:
            warnings.append(f"{item.name}: not merged: {error}")
        except Exception as error:  # noqa: BLE001 - keys that cannot be compared or hashed; the others are merged
            warnings.append(
                f"{item.name}: not merged whole: {shorten(message_text(error), KEY_CHARACTERS)}"
            )
    if replaced:
        paths = list(replaced)[: SHOWN_KEYS + 1]
        keys = _names(
            [".".join(shorten(message_text(key), KEY_CHARACTERS) for key in path) for path in paths]
        )
        warnings.append(
            f"merge: {len(replaced)} keys had more than one value, the last one stands: {keys}"
        )
    return Merged(merged, (*warnings, *_left_out(worded)))


def _object(item: LabelledOutput, worded: list[str]) -> dict[Value, Value]:
    """Return an output as a dictionary of its own, or raise ``NotJson`` saying why it is none."""
    output, around = item.output, ""
    if issubclass(type(output), str):
        parsed = parse_json_text(output)
        value, around = parsed.value, parsed.around
    elif type(output) is not dict and behaves_as(output, Mapping):
        value = jsonable(output)
    else:
        value = isolated_copy(output)
    if type(value) is not dict:
        raise NotJson(f"a {type_name(value)} is no object")
    size = extent(value)
    if size.levels > MAX_DEPTH:
        raise NotJson(f"nested deeper than {MAX_DEPTH} levels")
    if size.too_often:
        raise NotJson("it holds the same parts too often")
    # A key that is merged into must not change another one.
    whole: dict[Value, Value] = _written_out(value) if size.repeated else value
    if around:
        worded.append(item.name)
    return whole


def _written_out(value: Value) -> Value:
    if type(value) is dict:
        return {key: _written_out(item) for key, item in value.items()}
    if type(value) is list:
        return [_written_out(item) for item in value]
    return value


def _merge_into(
    merged: dict[Value, Value],
    newer: dict[Value, Value],
    path: tuple[Value, ...],
    replaced: dict[tuple[Value, ...], None],
) -> None:
    """Merge ``newer`` into ``merged``, which lies at ``path``; ``replaced`` gets the paths of what it had otherwise."""
    for key, value in newer.items():
        if key not in merged:
            merged[key] = value
            continue
        present = merged[key]
        if isinstance(present, dict) and isinstance(value, dict):
            _merge_into(present, value, (*path, key), replaced)
            continue
        if _differ(present, value):
            replaced[*path, key] = None
        merged[key] = value


def _differ(present: Value, newer: Value) -> bool:
    """Compare JSON values; anything else may compare in ways of its own and counts as different."""
    if type(present) is not type(newer) or type(present) not in JSON_TYPES:
        return True
    try:
        return bool(present != newer)
    except Exception:  # noqa: BLE001 - what is inside compares in a way of its own, or is too deep
        return True


def first(outputs: Sequence[LabelledOutput]) -> Merged:
    """Return the first output, ``None`` where there is none."""
    return Merged(isolated_copy(outputs[0].output) if outputs else None)


def last(outputs: Sequence[LabelledOutput]) -> Merged:
    """Return the last output, ``None`` where there is none."""
    return Merged(isolated_copy(outputs[-1].output) if outputs else None)
