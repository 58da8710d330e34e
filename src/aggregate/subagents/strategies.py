"""The five built-in merge strategies: outputs in, one value and its warnings out (rule 2.4)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from deepmerge import Merger

from aggregate.models.plain import Value, isolated
from aggregate.models.result import LabelledOutput
from aggregate.subagents.json_text import NotJson, parsed

MAX_DEPTH: Final = 100
"""Levels of nesting that are merged; deepmerge recurses about three frames a level."""
JSON_TYPES: Final = (str, int, float, type(None), list, dict)
SHOWN_KEYS: Final = 5
"""Conflicting keys that a warning names; it counts the others."""


@dataclass(frozen=True, slots=True)
class Merged:
    """A merged value, what was left out of it or replaced in it, and the labels of its items."""

    value: Value
    warnings: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()


def concat(outputs: Sequence[LabelledOutput]) -> Merged:
    """Return all outputs as a list, in order."""
    labels = tuple(item.label or "" for item in outputs)
    return Merged([item.output for item in outputs], labels=labels)


def by_key(outputs: Sequence[LabelledOutput]) -> Merged:
    """Return an object of all outputs by label, or by position where one has no label; nothing is overwritten.

    A key that is taken gets ``-2``, ``-3``, ... Texts that are JSON objects or arrays are parsed, others stay text.
    """
    keyed: dict[str, Value] = {}
    tries: dict[str, int] = {}
    for position, item in enumerate(outputs):
        keyed[_free_key(keyed, tries, item.label or str(position))] = _as_json(item.output)
    return Merged(keyed)


def _free_key(taken: dict[str, Value], tries: dict[str, int], wanted: str) -> str:
    key, number = wanted, tries.get(wanted, 1)
    while key in taken:
        number += 1
        key = f"{wanted}-{number}"
    tries[wanted] = number
    return key


def _as_json(output: Value) -> Value:
    if not isinstance(output, str):
        return output
    try:
        return parsed(output)
    except NotJson:
        return output


def deep_merge(outputs: Sequence[LabelledOutput]) -> Merged:
    """Return all objects merged key by key: the last one wins, lists and scalars are replaced.

    An output that is no object is left out and named in a warning, as are the keys that had more than one value.
    """
    merged: dict[Value, Value] = {}
    warnings: list[str] = []
    replaced: dict[str, None] = {}
    merger = _merger(replaced)
    for item in outputs:
        try:
            merger.merge(merged, _object(item.output))
        except NotJson as error:
            warnings.append(f"{item.name}: not merged: {error}")
    if replaced:
        shown = ", ".join(list(replaced)[:SHOWN_KEYS]) + (", ..." if len(replaced) > SHOWN_KEYS else "")
        warnings.append(f"merge: {len(replaced)} keys had more than one value, the last one stands: {shown}")
    return Merged(merged, tuple(warnings))


def _object(output: Value) -> dict[Value, Value]:
    """Return ``output`` as a dictionary of its own, or raise ``NotJson`` saying why it is none."""
    value = parsed(output) if isinstance(output, str) else isolated(output)
    if not isinstance(value, dict):
        raise NotJson(f"a {type(value).__name__} is no object")
    if _deeper_than(value, MAX_DEPTH):
        raise NotJson(f"nested deeper than {MAX_DEPTH} levels")
    return value


def _deeper_than(value: Value, limit: int) -> bool:
    level = [value]
    for _ in range(limit):
        level = [child for item in level for child in _children(item) if isinstance(child, dict | list)]
        if not level:
            return False
    return True


def _children(item: Value) -> Value:
    return item.values() if isinstance(item, dict) else item


def _merger(replaced: dict[str, None]) -> Merger:
    """Return the merge policy: objects key by key, anything else replaced and noted in ``replaced`` by its path."""

    def replace(_config: Merger, path: list[Value], base: Value, nxt: Value) -> Value:
        if _differ(base, nxt):
            replaced[".".join(map(str, path))] = None
        return nxt

    return Merger([(dict, "merge"), (list, replace)], [replace], [replace])


def _differ(base: Value, nxt: Value) -> bool:
    """Compare JSON values; anything else may compare in ways of its own and counts as different."""
    return type(base) is not type(nxt) or not isinstance(base, JSON_TYPES) or base != nxt


def first(outputs: Sequence[LabelledOutput]) -> Merged:
    """Return the first output, ``None`` where there is none."""
    return Merged(outputs[0].output if outputs else None)


def last(outputs: Sequence[LabelledOutput]) -> Merged:
    """Return the last output, ``None`` where there is none."""
    return Merged(outputs[-1].output if outputs else None)
