"""Merge labelled outputs into one result, also by a custom function: the whole of a merge, with no session around."""

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from aggregate.agents.results.strategies import BUILT_IN, Merged
from aggregate.agents.sandbox import SOURCE_CHARACTERS, SandboxLimits, run_javascript, run_python
from aggregate.base.errors import Refusal, SandboxError, SpawnError
from aggregate.base.text import shorten
from aggregate.base.values import (
    AggregatedResult,
    CustomFunction,
    GroupStatus,
    LabelledOutput,
    MergeStrategy,
    Value,
    failure_text,
    isolated_copy,
    message_text,
    unawaited,
)

# The documented text of the failure value (rule O-9)
FAILED = "Custom merge function failed"
_JAVASCRIPT = re.compile(r"\s*(?:async\b\s*)?(?:function\b|\(|[A-Za-z_$][\w$]*\s*=>)")


def _custom(
    function: CustomFunction | None,
    outputs: Sequence[LabelledOutput],
    limits: SandboxLimits,
    now: datetime | None,
) -> Merged:
    """Call ``function`` with the list of outputs; whatever goes wrong becomes the documented failure value.

    A callable is the caller's own code and runs here, on copies. A text runs in a sandbox with no file, network or
    environment, within ``limits``: JavaScript functions (``function (results) {...}``, ``(results) => ...``) in
    QuickJS, Python lambdas and expressions over ``results`` in Monty. The clock of both stands at ``now``.
    """
    if function is None:
        raise SpawnError(
            'mergeStrategy "custom" needs customFunction', code=Refusal.MISSING_CUSTOM_FUNCTION
        )
    values = [isolated_copy(item.output) for item in outputs]
    try:
        value = _call(function, values, limits, now)
        why = unawaited(value)
        if not why:
            return Merged(isolated_copy(value))
    except Exception as error:  # noqa: BLE001 - a bad function gives the failure value (rule O-9)
        why = str(error) if isinstance(error, SandboxError) else failure_text(error)
    failure = {"error": FAILED, "originalResults": [item.output for item in outputs]}
    return Merged(isolated_copy(failure), errors=(f"{FAILED}: {why}",))


def _call(
    function: CustomFunction, values: list[Value], limits: SandboxLimits, now: datetime | None
) -> Value:
    if not isinstance(function, str):
        return function(values)
    if len(function) > SOURCE_CHARACTERS:
        raise SandboxError(f"the function has more than {SOURCE_CHARACTERS} characters")
    body = function.strip()
    try:
        expression = ast.parse(body, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        expression = None
    if expression is None and _JAVASCRIPT.match(function):
        return run_javascript(function, values, limits=limits, now=now)
    if isinstance(expression, ast.Lambda):
        body = f"({body}\n)(results)"
    return run_python(body, {"results": values}, limits=limits, now=now).value


# Characters of a wrong parameter that a message repeats
SHOWN = 100


@dataclass(frozen=True, slots=True)
class GroupOutcome:
    """How a group ended, for the envelope: its name, status and time, and whether failures are listed."""

    variable_name: str = "$results"
    status: GroupStatus = GroupStatus.COMPLETE
    completed_at: datetime | None = None
    list_errors: bool = True


def merge_outputs(
    outputs: Sequence[LabelledOutput],
    strategy: MergeStrategy | str = MergeStrategy.CONCAT,
    *,
    custom_function: CustomFunction | None = None,
    ending: GroupOutcome | None = None,
    limits: SandboxLimits | None = None,
) -> AggregatedResult:
    """Merge ``outputs`` in their order; nothing given is changed, and the value shares nothing with it.

    Args:
        outputs: Successful and failed ones (``error`` set); failed ones are counted and listed, not merged. A
            coroutine that nobody awaited is a failed one.
        strategy: One of the six.
        custom_function: For ``custom``: a callable, a Python lambda or expression, or a JavaScript function.
        ending: What to write into the envelope; by default a complete group named ``$results``.
        limits: What a custom function given as text may use.

    Raises:
        SpawnError: The strategy is unknown, or ``custom`` came without a function.
    """
    chosen = known_strategy(strategy)
    end = ending or GroupOutcome()
    good, failures, empty = [], [], []
    for item in outputs:
        error = item.error if item.error is not None else unawaited(item.output) or None
        if error is not None:
            failures.append(f"{item.name} failed: {error}")
            continue
        good.append(item)
        if item.output is None or (type(item.output) is str and not item.output):
            empty.append(f"{item.name}: the output is empty")
    if chosen is MergeStrategy.CUSTOM:
        limits = limits or SandboxLimits()
        merged = _custom(custom_function, good, limits, end.completed_at)
    else:
        merged = BUILT_IN[chosen](good)
    return AggregatedResult(
        variable_name=end.variable_name,
        strategy=chosen,
        value=merged.value,
        errors=(*(failures if end.list_errors else ()), *merged.errors),
        warnings=(*empty, *merged.warnings),
        completed_at=end.completed_at,
        count=len(outputs),
        status=end.status,
        labels=merged.labels,
        failed=len(failures),
    )


def known_strategy(value: object) -> MergeStrategy:
    if type(value) is MergeStrategy:
        return value
    try:
        return MergeStrategy(value.strip() if isinstance(value, str) else "")
    except ValueError:
        names = ", ".join(MergeStrategy)
        shown = shorten(repr(value) if type(value) is str else message_text(value), SHOWN)
        raise SpawnError(
            f"mergeStrategy must be one of {names}, not {shown}",
            code=Refusal.INVALID_MERGE_STRATEGY,
        ) from None
