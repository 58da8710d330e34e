"""Run code that a model wrote over what earlier steps gave, in a sandbox, from any thread (rules D-86 to D-93)."""

import ast
import json
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, Final

from aggregate.agents.sandbox import SOURCE_CHARACTERS, SandboxLimits, run_python
from aggregate.agents.tools.registry import ToolRegistry, failure_envelope
from aggregate.agents.tools.tool import Permission, ToolContext, make_tool
from aggregate.base.errors import SandboxError, Stopped
from aggregate.base.json_forms import JsonCopy
from aggregate.base.values import CACHE_DIR, Value
from aggregate.prompt.references import load_data_reference

ANALYSIS: Final = "executeDataAnalysis"
TIMEOUT: Final = 10.0  # seconds (rule D-11)
MEMORY: Final = 256 * 1024 * 1024  # bytes: many times the largest output of a tool
TOO_LONG: Final = f"Code has more than {SOURCE_CHARACTERS} characters"
NO_RESULT: Final = "Code must assign result to 'result' variable"


def syntax_error(python: str) -> str:
    try:
        ast.parse(python)
    except SyntaxError as error:
        return f"{error.msg} (line {error.lineno})" if error.lineno else str(error.msg)
    except (ValueError, RecursionError, MemoryError) as error:
        return f"{error!s:.200}" or "nested too deeply"
    return ""


def execute_data_analysis(
    python_code: str,
    data: Value,
    *,
    timeout: float = TIMEOUT,
    memory_bytes: int = MEMORY,
    cache_dir: str | Path = CACHE_DIR,
) -> dict[str, Any]:
    """Run ``python_code`` with ``data`` and return what it assigned to ``result``.

    The code runs in Monty, which knows most of Python and few of its libraries. It sees a copy of ``data`` and
    ``load_data_reference(ref_id)``, and no file, network or environment.

    Args:
        python_code: Statements; the last word is what stands in ``result``.
        data: The context, as JSON holds it: tuples become lists, dates and anything else texts.
        timeout: Seconds of wall time.
        memory_bytes: What the code's values may take.
        cache_dir: Where compacted values are.

    Returns:
        ``{"success": True, "result": ...}``, with ``printed`` where the code printed something, or ``{"success":
        False, "error": text, "retry": bool}``, with a ``hint`` where one helps. ``retry`` is false where the same code
        cannot succeed. Never raises for the code's mistakes.
    """
    if len(python_code) > SOURCE_CHARACTERS:
        return failure_envelope(
            TOO_LONG,
            retry=True,
            hint="Read the values from data instead of writing them into the code.",
        )
    if error := syntax_error(python_code):
        return failure_envelope(f"Syntax error: {error}", retry=True)
    tree = ast.parse(python_code)
    pattern = _dangerous_pattern(tree)
    if pattern is not None:
        return failure_envelope(
            f"Code contains potentially dangerous pattern: {pattern}", retry=False
        )
    # A variable, an import, a function, a class or an exception.
    names = ("id", "asname", "name")
    if not any(getattr(node, name, None) == "result" for node in ast.walk(tree) for name in names):
        return failure_envelope(NO_RESULT, retry=True)
    copy = json.dumps(JsonCopy(stored=True).of(data), ensure_ascii=False)
    plain_data = json.loads(copy.encode("utf-8", "replace"))
    try:
        run = run_python(
            f"{python_code}\nresult",
            {"data": plain_data},
            limits=SandboxLimits(timeout, memory_bytes),
            functions={
                "load_data_reference": lambda ref: load_data_reference(ref, cache_dir=cache_dir)
            },
        )
    except SandboxError as stopped:
        return _sandbox_failure(stopped, plain_data, tree, timeout)
    printed = {"printed": run.printed} if run.printed else {}
    return {"success": True, "result": run.value, **printed}


def _sandbox_failure(
    error: SandboxError, data: Value, tree: ast.Module, timeout: float
) -> dict[str, Any]:
    if error.kind is Stopped.TIMEOUT:
        text = f"Code execution exceeded {timeout:g} second timeout"
        return failure_envelope(
            text,
            retry=True,
            hint="Work on fewer items, or without nested loops over the same list.",
        )
    if error.kind is Stopped.MEMORY:
        return failure_envelope(
            str(error), retry=True, hint="Keep only the fields that are needed."
        )
    if error.exception == "NameError" and "'result'" in str(error):
        return failure_envelope(NO_RESULT, retry=True)
    if error.kind is Stopped.SYNTAX:
        return failure_envelope(f"Syntax error: {error}", retry=True)
    retry = error.kind is not Stopped.MISSING
    return failure_envelope(str(error), retry=retry, hint=_hint_for(error, data, tree))


def add_analysis_tool(registry: ToolRegistry) -> None:
    registry.add(make_tool(executeDataAnalysis, permissions=Permission.READ))


def executeDataAnalysis(python_code: str, context: ToolContext) -> dict[str, Any]:  # noqa: N802 - tools are camelCase (D-80)
    """Run Python code over earlier results: filter, count, sum, sort, group, compare, select, format or show them.

    Args:
        python_code: Statements that read data (and load_data_reference) and assign result.
        context: The data.
    """
    seconds = min(context.seconds, TIMEOUT)
    return execute_data_analysis(
        python_code, dict(context.data), timeout=seconds, cache_dir=context.cache_dir
    )


MODULES: Final = frozenset(
    {"os", "sys", "subprocess", "socket", "shutil", "ctypes", "importlib", "builtins", "multiprocessing", "threading",
     "signal", "pty", "resource", "pathlib", "inspect", "gc", "pickle", "code", "runpy"}
)  # fmt: skip
_DUNDER: Final = re.compile(r"__(?:.*__)?", re.DOTALL)
CALLS: Final = frozenset({"eval", "exec", "open", "file", "compile", "input", "breakpoint"})


def _dangerous_pattern(tree: ast.AST) -> str | None:
    """Return the first forbidden thing in reading order (``import os``, ``open(``, ``.__class__``), or ``None``."""
    own = _assigned_names(tree)
    patterns: list[tuple[int, int, str]] = []
    for node in ast.walk(tree):
        found: list[str] = []
        match node:
            case ast.Import():
                packages = [alias.name.split(".")[0] for alias in node.names]
                found = [f"import {package}" for package in packages if package in MODULES]
            case ast.ImportFrom():
                package = (node.module or "").split(".")[0]
                if node.level or package in MODULES:
                    found = [f"import {package or '.'}"]
            # A name that the code assigns itself (``for file in ...``) is its own.
            case ast.Name() if node.id in CALLS and node.id not in own:
                found = [f"{node.id}("]
            case ast.Name() if _DUNDER.fullmatch(node.id):
                found = [node.id]
            case ast.Attribute() if _DUNDER.fullmatch(node.attr):
                found = [f".{node.attr}"]
        place = getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
        patterns += [(*place, pattern) for pattern in found]
    return min(patterns)[2] if patterns else None


def _assigned_names(tree: ast.AST) -> frozenset[str]:
    return frozenset(
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )


MOST_FIELDS: Final = 12
MOST_OBJECTS: Final = 4
# Fields named of one object, objects named in one hint, and levels that are looked at: a hint stays a few lines.
DEPTH: Final = 4


def _hint_for(error: SandboxError, data: Value, tree: ast.Module) -> str | None:
    if error.exception == "KeyError":
        return f"Available fields: {_available_fields(data)}. Use .get() for a field that may be missing."
    name = re.search(r"name '([^']+)' is not defined", str(error))
    if error.exception == "NameError" and name:
        known = ", ".join(sorted({"data", "load_data_reference", *_assigned_names(tree)}))
        return f"'{name.group(1)}' is not defined; defined are {known}. Available fields: {_available_fields(data)}."
    return None


def _available_fields(data: Value) -> str:
    return "; ".join(islice(_objects(data), MOST_OBJECTS)) or "none (data is no object)"


def _objects(data: Value) -> Iterator[str]:
    """Yield ``expression: fields`` for each object, level by level; the first item stands for those of a list."""
    level: list[tuple[str, Value]] = [("data", data)]
    for _ in range(DEPTH):
        next_level: list[tuple[str, Value]] = []
        for expression, value in level:
            if isinstance(value, Mapping):
                names = [str(name) for name in islice(value, MOST_FIELDS)]
                names += ["..."] * (len(value) > MOST_FIELDS)
                yield f"{expression}: {', '.join(names) or 'no fields'}"
                next_level += [(f"{expression}[{key!r}]", child) for key, child in value.items()]
            elif isinstance(value, list | tuple) and value:
                next_level.append((f"{expression}[0]", value[0]))
        level = next_level
