"""The tool that runs a model's Python code over earlier results (D-86 to D-93)."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from aggregate.agents.sandbox import SOURCE_CHARACTERS, SandboxLimits, run_python
from aggregate.agents.tools.registry import ToolRegistry, failure_envelope
from aggregate.agents.tools.tool import Permission, ToolContext, make_tool
from aggregate.base.errors import SandboxError, Stopped
from aggregate.base.json_forms import JsonCopy
from aggregate.base.values import CACHE_DIR, Value
from aggregate.prompt.output.references import load_data_reference

ANALYSIS: Final = "executeDataAnalysis"
TIMEOUT: Final = 10.0  # seconds (rule D-11)
MEMORY: Final = 256 * 1024 * 1024  # many times the largest output of a tool
TOO_LONG: Final = f"Code has more than {SOURCE_CHARACTERS} characters"
NO_RESULT: Final = "Code must assign result to 'result' variable"
MODULES: Final = frozenset(
    {"os", "sys", "subprocess", "socket", "shutil", "ctypes", "importlib", "builtins", "multiprocessing", "threading",
     "signal", "pty", "resource", "pathlib", "inspect", "gc", "pickle", "code", "runpy"}
)  # fmt: skip
CALLS: Final = frozenset({"eval", "exec", "open", "file", "compile", "input", "breakpoint"})
_DUNDER: Final = re.compile(r"__(?:.*__)?", re.DOTALL)


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


def execute_data_analysis(
    python_code: str,
    data: Value,
    *,
    timeout: float = TIMEOUT,
    memory_bytes: int = MEMORY,
    cache_dir: str | Path = CACHE_DIR,
) -> dict[str, Any]:
    """Run ``python_code`` and return the value of its variable ``result``.

    The code runs in Monty, which has most of Python's language and little of its library. It can use a copy of ``data``
    and ``load_data_reference(ref_id)``, but no file, network or environment.

    Args:
        python_code: Statements that assign ``result``.
        data: The value of the variable ``data``, copied as JSON: tuples become lists, dates and other values texts.
        timeout: Seconds of wall time.
        memory_bytes: Memory limit of the code's values.
        cache_dir: The folder of values moved to files.

    Returns:
        ``{"success": True, "result": ..., "printed"?}`` or ``{"success": False, "error", "retry", "hint"?}``;
        ``retry`` is false if no change of the code can help. Mistakes in the code never raise.
    """
    if len(python_code) > SOURCE_CHARACTERS:
        hint = "Read the values from data instead of writing them into the code."
        return failure_envelope(TOO_LONG, retry=True, hint=hint)
    if error := syntax_error(python_code):
        return failure_envelope(f"Syntax error: {error}", retry=True)
    tree = ast.parse(python_code)
    if pattern := _dangerous_pattern(tree):
        error = f"Code contains potentially dangerous pattern: {pattern}"
        return failure_envelope(error, retry=False)
    # A variable, an import, a function, a class or an exception.
    names = ("id", "asname", "name")
    if not any(getattr(node, name, None) == "result" for node in ast.walk(tree) for name in names):
        return failure_envelope(NO_RESULT, retry=True)
    copy = json.dumps(JsonCopy(stored=True).of(data), ensure_ascii=False)
    inputs = {"data": json.loads(copy.encode("utf-8", "replace"))}
    functions = {"load_data_reference": lambda ref: load_data_reference(ref, cache_dir=cache_dir)}
    limits = SandboxLimits(timeout, memory_bytes)
    try:
        run = run_python(f"{python_code}\nresult", inputs, limits=limits, functions=functions)
    except SandboxError as stopped:
        return _sandbox_failure(stopped, timeout)
    printed = {"printed": run.printed} if run.printed else {}
    return {"success": True, "result": run.value, **printed}


def syntax_error(python: str) -> str:
    """Return why a text is not Python, ``""`` if it is."""
    try:
        ast.parse(python)
    except SyntaxError as error:
        return f"{error.msg} (line {error.lineno})" if error.lineno else str(error.msg)
    except (ValueError, RecursionError, MemoryError) as error:
        return f"{error!s:.200}" or "nested too deeply"
    return ""


def _sandbox_failure(error: SandboxError, timeout: float) -> dict[str, Any]:
    if error.kind is Stopped.TIMEOUT:
        text = f"Code execution exceeded {timeout:g} second timeout"
        hint = "Work on fewer items, or without nested loops over the same list."
        return failure_envelope(text, retry=True, hint=hint)
    if error.kind is Stopped.MEMORY:
        hint = "Keep only the fields that are needed."
        return failure_envelope(str(error), retry=True, hint=hint)
    if error.exception == "NameError" and "'result'" in str(error):
        return failure_envelope(NO_RESULT, retry=True)
    if error.kind is Stopped.SYNTAX:
        return failure_envelope(f"Syntax error: {error}", retry=True)
    advice = (
        "Use .get() for a field that may be missing." if error.exception == "KeyError" else None
    )
    return failure_envelope(str(error), retry=error.kind is not Stopped.MISSING, hint=advice)


def _dangerous_pattern(tree: ast.AST) -> str | None:
    """Return the first forbidden pattern, such as ``open(``."""
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    assigned = frozenset(node.id for node in names if isinstance(node.ctx, ast.Store))
    patterns: list[tuple[int, int, str]] = []
    for node in ast.walk(tree):
        for pattern in _patterns(node, assigned):
            patterns.append((getattr(node, "lineno", 0), getattr(node, "col_offset", 0), pattern))
    return min(patterns)[2] if patterns else None


def _patterns(node: ast.AST, assigned: frozenset[str]) -> Iterator[str]:
    match node:
        case ast.Import():
            packages = [alias.name.split(".")[0] for alias in node.names]
            yield from (f"import {package}" for package in packages if package in MODULES)
        case ast.ImportFrom():
            package = (node.module or "").split(".")[0]
            if node.level or package in MODULES:
                yield f"import {package or '.'}"
        # The code may assign such a name: ``for file in ...``.
        case ast.Name() if node.id in CALLS and node.id not in assigned:
            yield f"{node.id}("
        case ast.Name() if _DUNDER.fullmatch(node.id):
            yield node.id
        case ast.Attribute() if _DUNDER.fullmatch(node.attr):
            yield f".{node.attr}"
