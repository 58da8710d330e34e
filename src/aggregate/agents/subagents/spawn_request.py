"""Requests to spawn sub-agents, and their validation (O-20 to O-25, O-47)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn

from aggregate.agents.results import CustomFunction, FailurePolicy, Group, MergeOrder
from aggregate.agents.results.merge import SHOWN, VARIABLE, known_strategy
from aggregate.base.errors import Refusal, SpawnError
from aggregate.base.json_forms import message_text
from aggregate.base.messages import shorten
from aggregate.base.values import Value
from aggregate.prompt.asking.results import GroupStatus, MergeStrategy

# Thirty years; a clock cannot add any number
MOST_SECONDS: Final = 1e9


@dataclass(frozen=True, slots=True)
class SpawnRequest:
    task: object  # a text for an agent of the host, or a callable for the session's executor
    label: str | None = None
    variable_name: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)  # for the host
    strategy: MergeStrategy | None = None
    custom_function: CustomFunction | None = None
    order: MergeOrder | None = None


def read_request(
    task: object,
    label: str | None,
    collect_into: object,
    *,
    merge_strategy: object,
    custom_function: Value,
    order: str | None,
    options: Mapping[str, Any] | None,
) -> SpawnRequest:
    """Validate a request to spawn a sub-agent; blanks around names are removed."""
    function: CustomFunction | None = custom_function
    if isinstance(function, str):
        function = function if function.strip() else None
    elif function is not None and not callable(function):
        _refuse("customFunction must be a callable or a text", Refusal.INVALID_CUSTOM_FUNCTION)
    name = _variable(collect_into)
    is_absent = merge_strategy is None or not str(merge_strategy).strip()
    strategy = None if is_absent else known_strategy(merge_strategy)
    if name is None and (strategy or function or order):
        _refuse("mergeStrategy and customFunction need collectInto", Refusal.MISSING_COLLECT_INTO)
    if function is not None and strategy not in (None, MergeStrategy.CUSTOM):
        reason = f'customFunction needs mergeStrategy "custom", not "{strategy}"'
        _refuse(reason, Refusal.INVALID_CUSTOM_FUNCTION)
    try:
        chosen_order = MergeOrder(order) if order else None
    except ValueError:
        shown = shorten(message_text(order), SHOWN)
        _refuse(f"order must be one of {', '.join(MergeOrder)}, not {shown}", Refusal.INVALID_ORDER)
    if not callable(task) and not (isinstance(task, str) and task.strip()):
        _refuse("task must be a text that is not empty, or a callable", Refusal.INVALID_TASK)
    return SpawnRequest(
        task,
        (label or "").strip() or None,
        name,
        dict(options or {}),
        MergeStrategy.CUSTOM if function else strategy,
        function,
        chosen_order,
    )


def _refuse(reason: str, code: Refusal) -> NoReturn:
    raise SpawnError(reason, code=code)


def _variable(collect_into: object) -> str | None:
    if collect_into is None or (isinstance(collect_into, str) and not collect_into.strip()):
        return None
    code = Refusal.INVALID_COLLECT_INTO
    if not isinstance(collect_into, str):
        _refuse('collectInto must be a text such as "$research"', code)
    name = collect_into.strip()
    if not name.startswith("$"):
        _refuse('collectInto must start with "$" (e.g., "$research")', code)
    if not VARIABLE.fullmatch(name):
        what = '"$" and a name of letters, digits and "_" (e.g., "$research")'
        _refuse(f"collectInto must be {what}", code)
    return name


def group_for(group: Group | None, request: SpawnRequest, on_error: FailurePolicy) -> Group:
    """Return the group of a variable; create it, or check that the request agrees (O-47)."""
    strategy, function, order = request.strategy, request.custom_function, request.order
    if group is None:
        strategy = strategy or MergeStrategy.CONCAT
        if strategy is MergeStrategy.CUSTOM and function is None:
            reason = 'mergeStrategy "custom" needs customFunction'
            _refuse(reason, Refusal.MISSING_CUSTOM_FUNCTION)
        order, name = order or MergeOrder.SPAWN, str(request.variable_name)
        return Group(name, strategy, function, order=order, on_error=on_error)
    name = group.variable_name
    agreements = {
        "mergeStrategy": strategy in (None, group.strategy),
        "customFunction": function is None or _same_code(function, group.custom_function),
        "order": order in (None, group.order),
    }
    for what, agrees in agreements.items():
        if not agrees:
            reason = f"{name} already has another {what}: leave it out or use another name"
            _refuse(reason, Refusal.MERGE_STRATEGY_CONFLICT)
    if group.closed:
        _refuse(f"{name} is closed: clear it or use another name", Refusal.GROUP_CLOSED)
    if group.status is GroupStatus.FAILED:
        _refuse(f"{name} has failed: clear it or use another name", Refusal.GROUP_FAILED)
    return group


def _same_code(left: Any, right: Any) -> bool:  # noqa: ANN401 - a callable of any kind, or a text
    """Return whether two functions' code and captured values are equal."""
    if isinstance(left, str) and isinstance(right, str):
        return left.strip() == right.strip()
    if not hasattr(left, "__code__") or not hasattr(right, "__code__"):
        return bool(left == right)
    parts = ("__code__", "__defaults__", "__kwdefaults__", "__closure__")
    return all(getattr(left, part, None) == getattr(right, part, None) for part in parts)


def read_timeout(timeout: float | None) -> float | None:
    if timeout is not None and not timeout > 0:
        reason = f"a timeout must be more than 0 seconds, not {timeout!r}"
        _refuse(reason, Refusal.INVALID_TIMEOUT)
    return timeout and min(timeout, MOST_SECONDS)


def read_failure_policy(value: FailurePolicy | str) -> FailurePolicy:
    try:
        return FailurePolicy(value)
    except ValueError:
        reason = f"on_error must be one of {', '.join(FailurePolicy)}, not {value!r}"
        _refuse(reason, Refusal.INVALID_ON_ERROR)
