"""Run analysis code that a model wrote over the context's data: in a sandbox, from any thread (rules D-89 to D-93)."""

import ast
import builtins
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from aggregate.errors import DataReferenceError, SandboxError, Stopped
from aggregate.models.reference import CACHE_DIR
from aggregate.models.values import Value
from aggregate.results.references import load_data_reference
from aggregate.sandbox import PythonRun, SandboxLimits, plain_copy, run_full_python, run_python
from aggregate.sandbox.limits import SOURCE_CHARACTERS
from aggregate.tools.analysis_check import dangerous_pattern
from aggregate.tools.analysis_hints import hint_for

TIMEOUT: Final = 10.0
"""Seconds (rule D-11)."""
MEMORY: Final = 256 * 1024 * 1024
TOO_LONG: Final = f"Code has more than {SOURCE_CHARACTERS} characters"
NO_RESULT: Final = "Code must assign result to 'result' variable"
BEYOND_MONTY: Final = ("ModuleNotFoundError", "ImportError", "NotImplementedError", "SyntaxError")
"""What Monty raises for Python that it does not know, and that full Python may run."""
_NO_NAME: Final = re.compile(r"name '(\w+)' is not defined")
_NO_ATTRIBUTE: Final = re.compile(r"(?:module '[\w.]+'|'(\w+)' object) has no attribute '(\w+)'")


def execute_data_analysis(
    python_code: str,
    data: Value,
    *,
    timeout: float = TIMEOUT,
    memory_bytes: int = MEMORY,
    cache_dir: str | Path = CACHE_DIR,
    now: datetime | None = None,
) -> dict[str, Any]:
    """Run ``python_code`` with ``data`` and return what it assigned to ``result``.

    The code runs in Monty; code that needs more of Python (``statistics``, pandas) runs in bubblewrap where that is
    installed. It sees copies of ``data`` and ``load_data_reference(ref_id)``, and no file, network or environment.

    Args:
        python_code: Statements; the last word is what stands in ``result``.
        data: The context: what JSON holds, also tuples, sets and dates; anything else becomes its ``str()``.
        timeout: Seconds of wall time.
        memory_bytes: What the code's values may take.
        cache_dir: Where compacted values are.
        now: What the clock shows to the code, by default the time of this call; it stands still.

    Returns:
        ``{"success": True, "result": ...}``, with ``printed`` where the code printed something, or ``{"success":
        False, "error": text, "retry": bool}``, with a ``hint`` where one helps. ``retry`` is false where the same code
        cannot succeed. Never raises for the code's mistakes.
    """
    if len(python_code) > SOURCE_CHARACTERS:
        return _failure(TOO_LONG, retry=True, hint="Read the values from data instead of writing them into the code.")
    try:
        tree = ast.parse(python_code)
    except SyntaxError as error:
        where = f" (line {error.lineno})" if error.lineno else ""
        return _failure(f"Syntax error: {error.msg}{where}", retry=True)
    except (ValueError, RecursionError, MemoryError) as error:
        return _failure(
            f"Syntax error: {error!s:.200}" if str(error) else "Syntax error: nested too deeply", retry=True
        )
    pattern = dangerous_pattern(tree)
    if pattern is not None:
        return _failure(f"Code contains potentially dangerous pattern: {pattern}", retry=False)
    if not _may_assign_result(tree):
        return _failure(NO_RESULT, retry=True)
    plain, limits = plain_copy(data), SandboxLimits(timeout, memory_bytes)
    try:
        run = _run(python_code, plain, limits, cache_dir, now or datetime.now(UTC))
    except SandboxError as error:
        return _stopped(error, plain, tree, timeout)
    return {"success": True, "result": run.value, **({"printed": run.printed} if run.printed else {})}


def _may_assign_result(tree: ast.Module) -> bool:
    names = (node for node in ast.walk(tree) if isinstance(node, ast.Name | ast.alias))
    bound = (node.id if isinstance(node, ast.Name) else node.asname or node.name for node in names)
    return "result" in bound or any(getattr(node, "name", None) == "result" for node in ast.walk(tree))


def _run(code: str, data: Value, limits: SandboxLimits, cache_dir: str | Path, now: datetime) -> PythonRun:
    """Run in Monty first; what it does not know goes to full Python."""

    def load(ref_id: str) -> Value:
        return load_data_reference(ref_id, cache_dir=cache_dir)

    try:
        functions = {"load_data_reference": load}
        return run_python(f"{code}\nresult", {"data": data}, limits=limits, functions=functions, now=now)
    except SandboxError as error:
        if not _beyond_monty(error):
            raise
        beyond = error
    try:
        return run_full_python(code, data, limits=limits, references=_references(code, cache_dir), now=now)
    except SandboxError as error:
        if error.kind is Stopped.MISSING:
            raise SandboxError(f"{beyond}; {error}", kind=beyond.kind, exception=beyond.exception) from None
        raise


def _beyond_monty(error: SandboxError) -> bool:
    """Return whether full Python may know what Monty does not: a module, a built-in, a method of a built-in type."""
    if error.kind is Stopped.MISSING or error.exception in BEYOND_MONTY:
        return True
    if error.exception == "NameError" and (name := _NO_NAME.search(str(error))):
        return hasattr(builtins, name.group(1))
    if error.exception == "AttributeError" and (found := _NO_ATTRIBUTE.search(str(error))):
        if found.group(2).startswith("__"):
            return False
        return found.group(1) is None or hasattr(getattr(builtins, found.group(1), None), found.group(2))
    return False


def _references(code: str, cache_dir: str | Path) -> Mapping[str, Value]:
    """Load the references whose ids stand in the code as texts: full Python has no way back to the host."""
    found: dict[str, Value] = {}
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value not in found:
            try:
                found[node.value] = load_data_reference(node.value, cache_dir=cache_dir)
            except DataReferenceError:
                continue
    return found


def _stopped(error: SandboxError, data: Value, tree: ast.Module, timeout: float) -> dict[str, Any]:
    """Return the failure of rule D-90 for each way to stop."""
    if error.kind is Stopped.TIMEOUT:
        text = f"Code execution exceeded {timeout:g} second timeout"
        return _failure(text, retry=True, hint="Work on fewer items, or without nested loops over the same list.")
    if error.kind is Stopped.MEMORY:
        return _failure(str(error), retry=True, hint="Keep only the fields that are needed.")
    if error.exception == "NameError" and "'result'" in str(error):
        return _failure(NO_RESULT, retry=True)
    if error.kind is Stopped.SYNTAX:
        return _failure(f"Syntax error: {error}", retry=True)
    retry = error.kind is not Stopped.MISSING
    return _failure(str(error), retry=retry, hint=hint_for(error, data, tree))


def _failure(error: str, *, retry: bool, hint: str | None = None) -> dict[str, Any]:
    return {"success": False, "error": error, "retry": retry, **({"hint": hint} if hint else {})}
