"""What would help code that failed: the fields that are there, the names that exist (rule D-93)."""

import ast
import re
from collections.abc import Iterator, Mapping
from typing import Final

from aggregate.errors import SandboxError
from aggregate.models.values import Value
from aggregate.tools.analysis_check import assigned_names

SHOWN: Final = 12
"""Fields named of one object, and objects named in one hint."""
PLACES: Final = 4
DEPTH: Final = 4


def hint_for(error: SandboxError, data: Value, tree: ast.Module) -> str | None:
    """Return advice for a ``KeyError`` or ``NameError``, ``None`` for anything else."""
    if error.exception == "KeyError":
        return f"Available fields: {available_fields(data)}. Use .get() for a field that may be missing."
    name = re.search(r"name '([^']+)' is not defined", str(error))
    if error.exception == "NameError" and name:
        known = ", ".join(sorted({"data", "load_data_reference", *assigned_names(tree)}))
        return f"'{name.group(1)}' is not defined; defined are {known}. Available fields: {available_fields(data)}."
    return None


def available_fields(data: Value) -> str:
    """Return the keys of the objects in ``data``, with the way to each, the outermost first."""
    return "; ".join(_limited(_places(data, "data", DEPTH))) or "none (data is no object)"


def _limited(places: Iterator[str]) -> list[str]:
    return [place for _, place in zip(range(PLACES), places, strict=False)]


def _places(value: Value, way: str, depth: int) -> Iterator[str]:
    """Yield ``way: keys`` for each object, level by level."""
    level = [(way, value)]
    for _ in range(depth):
        following: list[tuple[str, Value]] = []
        for place, item in level:
            if isinstance(item, Mapping):
                keys = ", ".join(map(str, list(item)[:SHOWN])) + (", ..." if len(item) > SHOWN else "")
                yield f"{place}: {keys}" if keys else f"{place}: no fields"
                following.extend((f"{place}[{key!r}]", child) for key, child in item.items())
            elif isinstance(item, list | tuple) and item:
                following.append((f"{place}[0]", item[0]))
        level = following
