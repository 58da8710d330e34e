"""Data, markup and prose, one row per heading, rule, element or key."""

from collections.abc import Sequence

from aggregate.syntax.definitions import Definition, Module
from aggregate.views.labels import counted, more_row, shortened

_AS_WRITTEN = frozenset({"heading", "element", "rule"})
_ITEM = {"array": "item"}


def document_row(one: Definition, module: Module) -> str:
    """Return a heading, rule or element as written, or a key with the kind and size of what it holds."""
    if one.kind in _AS_WRITTEN:
        return shortened("  " * one.depth + module.signature(one))
    lines = one.last_line - one.first_line + 1
    sizes = [counted(one.items, _ITEM.get(one.kind, "key"))] if one.items is not None else []
    sizes += [counted(lines, "line")] if lines > 1 else []
    return _keyed(one, f" ({', '.join(sizes)})" if sizes else "")


def document_digest(module: Module, most: int) -> list[str]:
    """Return at most ``most`` rows, repeated keys (tables of a list, keys of many documents) in one row each.

    Where there are more, the deepest ones are left out first.
    """
    groups: dict[object, list[Definition]] = {}
    for one in module.definitions:
        key = one if one.kind in _AS_WRITTEN else (one.depth, one.kind, one.path)
        groups.setdefault(key, []).append(one)
    firsts, left_out = fitting([group[0] for group in groups.values()], most)
    times = {group[0]: len(group) for group in groups.values()}
    rows = [document_row(one, module) if times[one] == 1 else _keyed(one, f" × {times[one]}") for one in firsts]
    return [*rows, more_row(left_out)] if left_out else rows


def fitting(definitions: Sequence[Definition], most: int) -> tuple[Sequence[Definition], int]:
    """Return at most ``most`` definitions and how many were left out: the deepest first, then the last ones."""
    kept = definitions
    while len(kept) > most and (deepest := max(one.depth for one in kept)):
        kept = [one for one in kept if one.depth < deepest]
    kept = kept[:most]
    return kept, len(definitions) - len(kept)


def _keyed(one: Definition, size: str) -> str:
    return shortened("  " * one.depth + ": ".join([*one.path[-1:], one.kind])) + size
