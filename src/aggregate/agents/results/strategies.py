"""The five built-in merge strategies: outputs in, one value and its warnings out (rule O-3).

Texts may be JSON: bare, or inside one markdown fence with or without words around it.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from aggregate.base.text import shorten
from aggregate.base.values import (
    LabelledOutput,
    MergeStrategy,
    Value,
    behaves_as,
    extent,
    free_key,
    isolated_copy,
    json_text,
    jsonable,
    message_text,
    type_name,
)

_FENCE = re.compile(r"(`{3,50}|~{3,50})[ \t]*([\w+-]*)\s*")
_JSON = ("", "json", "json5", "jsonc")


class NotJson(ValueError):  # noqa: N818 - an answer to a question, not a fault
    """The text holds no JSON object or array, or more than one."""


def parse_json_text(text: str) -> tuple[Value, str]:
    """Return the object or array that ``text`` is, or that stands in its one JSON fence, and the words around that.

    Bare scalars stay text: an agent that answers ``42`` or ``true`` has written words.
    """
    body = text.strip()
    if body.startswith(("{", "[")):
        try:
            return _DECODER.decode(body), ""
        except (ValueError, RecursionError) as error:
            raise NotJson(str(error)) from None
    blocks = []
    position = 0
    while opening := _FENCE.search(body, position):
        value, after = None, opening.end()
        if opening[2].lower() in _JSON and body.startswith(("{", "["), after):
            try:
                # By value and not up to the next run of backticks: a text inside the JSON may hold one.
                value, after = _DECODER.raw_decode(body, after)
            except (ValueError, RecursionError):
                value = None
        if value is not None and (closing := re.compile(rf"\s*{opening[1]}").match(body, after)):
            blocks.append((value, f"{body[: opening.start()]} {body[closing.end() :]}".strip()))
        else:
            closing = re.compile(rf"(?<=\n)[ \t]*{opening[1]}").search(body, opening.end())
        if closing is None:
            break
        position = closing.end()
    if not blocks:
        raise NotJson("the text does not begin as JSON")
    if len(blocks) > 1:
        raise NotJson(f"the text holds {len(blocks)} JSON blocks, not one")
    return blocks[0]


def _refuse(constant: str) -> Value:
    raise NotJson(f"{constant} is no JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse)


# Levels of nesting that are merged, with a call for each: no real data has more
MAX_DEPTH = 100
# Keys or outputs that a warning names; it counts the others
SHOWN_KEYS = 5
KEY_CHARACTERS = 100
# Around a JSON fence up to which json takes a text for the JSON in it: more is a report of its own
AROUND_CHARACTERS = 500


@dataclass(frozen=True, slots=True)
class Merged:
    """A merged value that is nobody else's, what was left out of it or replaced in it, and the labels of its items."""

    value: Value
    warnings: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()


def concat(outputs: Sequence[LabelledOutput]) -> Merged:
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
        value = isolated_copy(item.output)
        if type(value) is str:
            try:
                parsed, around = parse_json_text(value)
                if len(around) <= AROUND_CHARACTERS:
                    value = parsed
                    worded += [item.name] if around else []
            except NotJson:
                pass
        keyed[free_key(keyed, item.label or str(position), last_numbers)] = value
    return Merged(keyed, _left_out(worded))


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
            value, around = _object(item.output)
        except NotJson as error:
            warnings.append(f"{item.name}: not merged: {error}")
            continue
        merged = _merge(merged, value, (), replaced)
        worded += [item.name] if around else []
    if replaced:
        paths = list(replaced)[: SHOWN_KEYS + 1]
        keys = _names(
            [".".join(shorten(message_text(key), KEY_CHARACTERS) for key in path) for path in paths]
        )
        warnings.append(
            f"merge: {len(replaced)} keys had more than one value, the last one stands: {keys}"
        )
    return Merged(merged, (*warnings, *_left_out(worded)))


def _object(output: Value) -> tuple[dict[Value, Value], str]:
    value, around = output, ""
    if type(output) is str:
        value, around = parse_json_text(output)
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
    return value, around


def _merge(
    older: dict[Value, Value],
    newer: dict[Value, Value],
    path: tuple[Value, ...],
    replaced: dict[tuple[Value, ...], None],
) -> dict[Value, Value]:
    """Return both merged, as they lie at ``path``; ``replaced`` gets the paths of what had another value before."""
    merged = dict(older)
    for key, value in newer.items():
        present = merged.get(key)
        if isinstance(present, dict) and isinstance(value, dict):
            merged[key] = _merge(present, value, (*path, key), replaced)
            continue
        if key in merged and json_text(present) != json_text(value):
            replaced[*path, key] = None
        merged[key] = value
    return merged


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


def first(outputs: Sequence[LabelledOutput]) -> Merged:
    return Merged(isolated_copy(outputs[0].output) if outputs else None)


def last(outputs: Sequence[LabelledOutput]) -> Merged:
    return first(outputs[-1:])


BUILT_IN: Mapping[MergeStrategy, Callable[[Sequence[LabelledOutput]], Merged]] = {
    MergeStrategy.CONCAT: concat,
    MergeStrategy.JSON: by_key,
    MergeStrategy.MERGE: deep_merge,
    MergeStrategy.FIRST: first,
    MergeStrategy.LAST: last,
}
