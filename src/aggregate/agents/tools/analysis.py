"""Run analysis code that a model wrote over the context's data: in a sandbox, from any thread (rules D-89 to D-93)."""

import ast
import builtins
import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from aggregate.agents.sandbox import (
    PythonRun,
    SandboxLimits,
    plain_copy,
    run_full_python,
    run_python,
)
from aggregate.agents.sandbox.limits import SOURCE_CHARACTERS
from aggregate.agents.tools.analysis_check import dangerous_pattern
from aggregate.agents.tools.analysis_hints import hint_for
from aggregate.agents.tools.calls import failure_envelope
from aggregate.base.errors import DataReferenceError, SandboxError, Stopped
from aggregate.base.values import CACHE_DIR, Value
from aggregate.prompt import load_data_reference

TIMEOUT: Final = 10.0
"""Seconds (rule D-11)."""
MEMORY: Final = 256 * 1024 * 1024
"""Bytes: many times the largest output of a tool."""
TOO_LONG: Final = f"Code has more than {SOURCE_CHARACTERS} characters"
NO_RESULT: Final = "Code must assign result to 'result' variable"
BEYOND_MONTY: Final = ("ModuleNotFoundError", "ImportError", "NotImplementedError", "SyntaxError")
"""What Monty raises for Python that it does not know, and that full Python may run."""
_NO_NAME: Final = re.compile(r"name '(?P<name>\w+)' is not defined")
_NO_ATTRIBUTE: Final = re.compile(
    r"(?:module '[\w.]+'|'(?P<type>\w+)' object) has no attribute '(?P<attribute>\w+)'"
)


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
        return failure_envelope(
            TOO_LONG,
            retry=True,
            hint="Read the values from data instead of writing them into the code.",
        )
    try:
        tree = ast.parse(python_code)
    except SyntaxError as error:
        where = f" (line {error.lineno})" if error.lineno else ""
        return failure_envelope(f"Syntax error: {error.msg}{where}", retry=True)
    except (ValueError, RecursionError, MemoryError) as error:
        reason = f"{error!s:.200}" or "nested too deeply"
        return failure_envelope(f"Syntax error: {reason}", retry=True)
    pattern = dangerous_pattern(tree)
    if pattern is not None:
        return failure_envelope(
            f"Code contains potentially dangerous pattern: {pattern}", retry=False
        )
    if not _may_assign_result(tree):
        return failure_envelope(NO_RESULT, retry=True)
    plain_data = plain_copy(data)
    limits = SandboxLimits(timeout, memory_bytes)
    try:
        run = _run(python_code, plain_data, limits, cache_dir, now or datetime.now(UTC))
    except SandboxError as error:
        return _sandbox_failure(error, plain_data, tree, timeout)
    printed = {"printed": run.printed} if run.printed else {}
    return {"success": True, "result": run.value, **printed}


def _may_assign_result(tree: ast.Module) -> bool:
    """Return whether the code names ``result``: a variable, an import, a function, a class or an exception."""
    return any("result" in _names_of(node) for node in ast.walk(tree))


def _names_of(node: ast.AST) -> tuple[str | None, ...]:
    if isinstance(node, ast.Name):
        return (node.id,)
    return getattr(node, "asname", None), getattr(node, "name", None)


def _run(
    code: str, data: Value, limits: SandboxLimits, cache_dir: str | Path, now: datetime
) -> PythonRun:
    """Run in Monty first; what it does not know goes to full Python."""

    def load(ref_id: str) -> Value:
        return load_data_reference(ref_id, cache_dir=cache_dir)

    functions = {"load_data_reference": load}
    try:
        return run_python(
            f"{code}\nresult", {"data": data}, limits=limits, functions=functions, now=now
        )
    except SandboxError as error:
        if not _beyond_monty(error):
            raise
        monty_error = error
    try:
        return run_full_python(
            code, data, limits=limits, references=_references(code, cache_dir), now=now
        )
    except SandboxError as error:
        if error.kind is Stopped.MISSING:
            text = f"{monty_error}; {error}"
            raise SandboxError(
                text, kind=monty_error.kind, exception=monty_error.exception
            ) from None
        raise


def _beyond_monty(error: SandboxError) -> bool:
    """Return whether full Python may know what Monty does not: a module, a built-in, a method of a built-in type."""
    if error.kind is Stopped.MISSING or error.exception in BEYOND_MONTY:
        return True
    if error.exception == "NameError" and (match := _NO_NAME.search(str(error))):
        return hasattr(builtins, match["name"])
    if error.exception == "AttributeError" and (match := _NO_ATTRIBUTE.search(str(error))):
        if match["attribute"].startswith("__"):
            return False
        if match["type"] is None:
            return True  # of a module
        return hasattr(getattr(builtins, match["type"], None), match["attribute"])
    return False


def _references(code: str, cache_dir: str | Path) -> Mapping[str, Value]:
    """Load the references whose ids stand in the code as texts: full Python has no way back to the host."""
    constants = [node.value for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Constant)]
    references: dict[str, Value] = {}
    for text in dict.fromkeys(constant for constant in constants if isinstance(constant, str)):
        with suppress(DataReferenceError):
            references[text] = load_data_reference(text, cache_dir=cache_dir)
    return references


def _sandbox_failure(
    error: SandboxError, data: Value, tree: ast.Module, timeout: float
) -> dict[str, Any]:
    """Return the failure for each way to stop: its words, and whether to try again (rule D-90)."""
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
    return failure_envelope(str(error), retry=retry, hint=hint_for(error, data, tree))
