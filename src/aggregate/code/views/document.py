"""Data, markup and prose, one row per heading, rule, element or key."""

from collections.abc import Sequence

from aggregate.code.syntax.definitions import Definition, Module
from aggregate.code.views.labels import counted, more_row, shortened

_AS_WRITTEN = frozenset({"block", "element", "heading", "instruction", "rule"})
_ITEM = {"array": "item"}


def document_row(definition: Definition, module: Module) -> str:
    """Return a heading, rule, element or piece of code as written, or a key with the kind and size of its value."""
    if definition.kind in _AS_WRITTEN or definition.is_embedded_code:
        return shortened("  " * definition.depth + module.signature(definition))
    sizes: list[str] = []
    if definition.items is not None:
        sizes.append(counted(definition.items, _ITEM.get(definition.kind, "key")))
    lines = definition.last_line - definition.first_line + 1
    if lines > 1:
        sizes.append(counted(lines, "line"))
    return _key_row(definition, f" ({', '.join(sizes)})" if sizes else "")


def document_digest(module: Module, most: int) -> list[str]:
    """Return at most ``most`` rows; repeated keys (of a list's tables, of documents) share one row.

    Where there are more, the deepest ones are left out first.
    """
    groups: dict[object, list[Definition]] = {}
    for definition in module.definitions:
        is_alone = definition.kind in _AS_WRITTEN or definition.is_embedded_code
        key = definition if is_alone else (definition.depth, definition.kind, definition.path)
        groups.setdefault(key, []).append(definition)
    repeats = {group[0]: len(group) for group in groups.values()}
    definitions, left_out = outermost(list(repeats), most)
    rows: list[str] = []
    for definition in definitions:
        if repeats[definition] == 1:
            rows.append(document_row(definition, module))
        else:
            rows.append(_key_row(definition, f" × {repeats[definition]}"))
    return [*rows, more_row(left_out)] if left_out else rows


def outermost(definitions: Sequence[Definition], most: int) -> tuple[Sequence[Definition], int]:
    """Return at most ``most`` definitions, and how many were left out: the deepest, then the last."""
    outer = definitions
    while len(outer) > most:
        deepest = max(definition.depth for definition in outer)
        if deepest == 0:
            break
        outer = [definition for definition in outer if definition.depth < deepest]
    outer = outer[:most]
    return outer, len(definitions) - len(outer)


def _key_row(definition: Definition, size: str) -> str:
    key = ": ".join([*definition.path[-1:], definition.kind])
    return shortened("  " * definition.depth + key) + size
