"""Requests to spawn sub-agents (O-20 to O-25, O-47)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from aggregate.agents.results import (
    VARIABLE,
    CustomFunction,
    FailurePolicy,
    Group,
    MergeOrder,
    known_member,
)
from aggregate.base.errors import Refusal, SpawnError
from aggregate.base.values import Value
from aggregate.prompt.asking.results import GroupStatus, MergeStrategy

# Thirty years; a clock cannot add any number
MOST_SECONDS: Final = 1e9


@dataclass(frozen=True, slots=True)
class SpawnRequest:
    """A valid request to spawn one sub-agent."""

    task: object  # a text for an agent of the host, or a callable for the session's executor
    label: str | None = None
    variable_name: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)  # for the host
    strategy: MergeStrategy | None = None
    custom_function: CustomFunction | None = None
    order: MergeOrder | None = None

    @classmethod
    def read(
        cls,
        task: object,
        label: str | None,
        collect_into: object,
        *,
        merge_strategy: object,
        custom_function: Value,
        order: str | None,
        options: Mapping[str, Any] | None,
    ) -> "SpawnRequest":
        """Validate a request; blanks around names are removed."""
        if not callable(task) and not (isinstance(task, str) and task.strip()):
            reason = "task must be a text that is not empty, or a callable"
            raise SpawnError(reason, code=Refusal.INVALID_TASK)
        function: CustomFunction | None = custom_function
        if isinstance(function, str):
            function = function if function.strip() else None
        elif function is not None and not callable(function):
            reason = "customFunction must be a callable or a text"
            raise SpawnError(reason, code=Refusal.INVALID_CUSTOM_FUNCTION)
        name = _variable(collect_into)
        strategy = None
        if merge_strategy is not None and str(merge_strategy).strip():
            code = Refusal.INVALID_MERGE_STRATEGY
            strategy = known_member(merge_strategy, MergeStrategy, "mergeStrategy", code)
        if name is None and (strategy or function or order):
            reason = "mergeStrategy and customFunction need collectInto"
            raise SpawnError(reason, code=Refusal.MISSING_COLLECT_INTO)
        if function is not None and strategy not in (None, MergeStrategy.CUSTOM):
            reason = f'customFunction needs mergeStrategy "custom", not "{strategy}"'
            raise SpawnError(reason, code=Refusal.INVALID_CUSTOM_FUNCTION)
        return cls(
            task,
            (label or "").strip() or None,
            name,
            dict(options or {}),
            MergeStrategy.CUSTOM if function else strategy,
            function,
            known_member(order, MergeOrder, "order", Refusal.INVALID_ORDER) if order else None,
        )

    def group(self, group: Group | None, on_error: FailurePolicy) -> Group:
        """Return the group of the variable; create it, or check that the request agrees (O-47)."""
        if group is None:
            strategy = self.strategy or MergeStrategy.CONCAT
            if strategy is MergeStrategy.CUSTOM and self.custom_function is None:
                reason = 'mergeStrategy "custom" needs customFunction'
                raise SpawnError(reason, code=Refusal.MISSING_CUSTOM_FUNCTION)
            order, name = self.order or MergeOrder.SPAWN, str(self.variable_name)
            return Group(name, strategy, self.custom_function, order=order, on_error=on_error)
        name = group.variable_name
        function = self.custom_function
        agreements = {
            "mergeStrategy": self.strategy in (None, group.strategy),
            "customFunction": function is None or _same_code(function, group.custom_function),
            "order": self.order in (None, group.order),
        }
        for parameter, agrees in agreements.items():
            if not agrees:
                reason = f"{name} already has another {parameter}: leave it out or use another name"
                raise SpawnError(reason, code=Refusal.MERGE_STRATEGY_CONFLICT)
        advice = "clear it or use another name"
        if group.closed:
            raise SpawnError(f"{name} is closed: {advice}", code=Refusal.GROUP_CLOSED)
        if group.status is GroupStatus.FAILED:
            raise SpawnError(f"{name} has failed: {advice}", code=Refusal.GROUP_FAILED)
        return group


def _variable(collect_into: object) -> str | None:
    if collect_into is None or (isinstance(collect_into, str) and not collect_into.strip()):
        return None
    if not isinstance(collect_into, str):
        reason = 'a text such as "$research"'
    elif not collect_into.strip().startswith("$"):
        code = Refusal.INVALID_COLLECT_INTO
        raise SpawnError('collectInto must start with "$" (e.g., "$research")', code=code)
    elif VARIABLE.fullmatch(collect_into.strip()):
        return collect_into.strip()
    else:
        reason = '"$" and a name of letters, digits and "_" (e.g., "$research")'
    raise SpawnError(f"collectInto must be {reason}", code=Refusal.INVALID_COLLECT_INTO)


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
        raise SpawnError(reason, code=Refusal.INVALID_TIMEOUT)
    return timeout and min(timeout, MOST_SECONDS)
