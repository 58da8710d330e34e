"""Custom merge functions: a callable, a Python expression or lambda, or a JavaScript function."""

import ast
import re
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from aggregate.agents.results.strategies import Merged
from aggregate.agents.sandbox import SandboxLimits, run_javascript, run_python
from aggregate.agents.sandbox.limits import SOURCE_CHARACTERS
from aggregate.base.errors import Refusal, SandboxError, SpawnError
from aggregate.base.values import CustomFunction, LabelledOutput, Value, failure_text, isolated_copy

FAILED: Final = "Custom merge function failed"
"""The documented text of the failure value (rule O-9)."""
_JAVASCRIPT: Final = re.compile(r"\s*(?:async\b\s*)?(?:function\b|\(|[A-Za-z_$][\w$]*\s*=>)")


def apply_custom_function(
    function: CustomFunction | None,
    outputs: Sequence[LabelledOutput],
    *,
    limits: SandboxLimits | None = None,
    now: datetime | None = None,
) -> Merged:
    """Call ``function`` with the list of outputs; whatever goes wrong becomes the documented failure value.

    A callable is the caller's own code and runs here, on copies. A text runs in a sandbox with no file, network or
    environment, within ``limits``: JavaScript functions (``function (results) {...}``, ``(results) => ...``) in
    QuickJS, Python lambdas and expressions over ``results`` in Monty. The clock of both stands at ``now``, by default
    the time of this call.

    Raises:
        SpawnError: There is no function.
    """
    if function is None:
        raise SpawnError(
            'mergeStrategy "custom" needs customFunction', code=Refusal.MISSING_CUSTOM_FUNCTION
        )
    try:
        values = [isolated_copy(item.output) for item in outputs]
        return Merged(_call(function, values, limits or SandboxLimits(), now))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - a bad function gives the failure value, also for SystemExit (O-9)
        why = str(error) if isinstance(error, SandboxError) else failure_text(error)
        value = {"error": FAILED, "originalResults": [item.output for item in outputs]}
        return Merged(value, errors=(f"{FAILED}: {why}",))


def _call(
    function: CustomFunction, values: list[Value], limits: SandboxLimits, now: datetime | None
) -> Value:
    if not isinstance(function, str):
        return function(values)
    if len(function) > SOURCE_CHARACTERS:
        raise SandboxError(f"the function has more than {SOURCE_CHARACTERS} characters")
    tree = _python_expression(function)
    if tree is None and _JAVASCRIPT.match(function):
        return run_javascript(function, values, limits=limits, now=now)
    body = function.strip()
    called = (
        f"({body}\n)(results)" if tree is not None and isinstance(tree.body, ast.Lambda) else body
    )
    return run_python(called, {"results": values}, limits=limits, now=now).value


def _python_expression(source: str) -> ast.Expression | None:
    try:
        return ast.parse(source.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
