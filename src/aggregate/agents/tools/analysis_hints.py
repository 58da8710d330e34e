"""What would help code that failed: the fields that are there, the names that exist (rule D-93)."""

import ast
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Final

from aggregate.agents.tools.analysis_check import assigned_names
from aggregate.base.errors import SandboxError
from aggregate.base.values import Value

MOST_FIELDS: Final = 12
MOST_OBJECTS: Final = 4
DEPTH: Final = 4
"""Fields named of one object, objects named in one hint, and levels that are looked at: a hint stays a few lines."""


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
    return "; ".join(islice(_objects(data), MOST_OBJECTS)) or "none (data is no object)"


def _objects(data: Value) -> Iterator[str]:
    """Yield ``expression: fields`` for each object, level by level; the first item stands for those of a list."""
    level: list[tuple[str, Value]] = [("data", data)]
    for _ in range(DEPTH):
        next_level: list[tuple[str, Value]] = []
        for expression, value in level:
            if isinstance(value, Mapping):
                yield f"{expression}: {_field_names(value)}"
                next_level += [(f"{expression}[{key!r}]", child) for key, child in value.items()]
            elif isinstance(value, list | tuple) and value:
                next_level.append((f"{expression}[0]", value[0]))
        level = next_level


def _field_names(fields: Mapping[str, Value]) -> str:
    names = [str(name) for name in islice(fields, MOST_FIELDS)]
    if len(fields) > MOST_FIELDS:
        names.append("...")
    return ", ".join(names) or "no fields"
