"""Check what a caller asks for before anything is spawned: names, strategies, functions, and the group they go into."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from types import CodeType, FunctionType
from typing import Any, Final

from aggregate.agents.results.merge import SHOWN, known_strategy
from aggregate.base.errors import Refusal, SpawnError
from aggregate.base.text import shorten
from aggregate.base.values import (
    CustomFunction,
    FailurePolicy,
    Group,
    GroupStatus,
    MergeOrder,
    MergeStrategy,
    Value,
    message_text,
)

MOST_SECONDS: Final = 1e9
"""Thirty years: a longer timeout is as good as none, and no clock can add up any number."""
_VARIABLE: Final = re.compile(r"\$[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class SpawnSpec:
    """What one spawn says of its group; ``None`` where it says nothing."""

    variable_name: str | None = None
    strategy: MergeStrategy | None = None
    custom_function: CustomFunction | None = None
    order: MergeOrder | None = None


def read_spawn_spec(
    collect_into: str | None,
    merge_strategy: str | None,
    custom_function: Value,
    order: str | None = None,
) -> SpawnSpec:
    """Validate the group's part of a spawn; spaces around names are ignored, empty means absent (rules O-20 to O-25).

    Raises:
        SpawnError: With the code that names the parameter at fault.
    """
    function = _function(custom_function)
    name = _variable(collect_into)
    strategy = None
    if merge_strategy is not None and (type(merge_strategy) is not str or merge_strategy.strip()):
        strategy = known_strategy(merge_strategy)
    if name is None and (strategy or function or order):
        raise SpawnError(
            "mergeStrategy and customFunction need collectInto", code=Refusal.MISSING_COLLECT_INTO
        )
    if function is not None and strategy not in (None, MergeStrategy.CUSTOM):
        raise SpawnError(
            f'customFunction needs mergeStrategy "custom", not "{strategy}"',
            code=Refusal.INVALID_CUSTOM_FUNCTION,
        )
    if function is not None:
        strategy = MergeStrategy.CUSTOM
    try:
        chosen_order = MergeOrder(order) if order else None
    except ValueError:
        shown = shorten(message_text(order), SHOWN)
        raise SpawnError(
            f"order must be one of {', '.join(MergeOrder)}, not {shown}", code=Refusal.INVALID_ORDER
        ) from None
    return SpawnSpec(name, strategy, function, chosen_order)


def _variable(collect_into: object) -> str | None:
    if collect_into is None:
        return None
    if not isinstance(collect_into, str):
        raise SpawnError(
            'collectInto must be a text such as "$research"', code=Refusal.INVALID_COLLECT_INTO
        )
    name = collect_into.strip()
    if not name:
        return None
    if not name.startswith("$"):
        raise SpawnError(
            'collectInto must start with "$" (e.g., "$research")', code=Refusal.INVALID_COLLECT_INTO
        )
    if not _VARIABLE.fullmatch(name):
        reason = 'collectInto must be "$" and a name of letters, digits and "_" (e.g., "$research")'
        raise SpawnError(reason, code=Refusal.INVALID_COLLECT_INTO)
    return name


def _function(function: Value) -> CustomFunction | None:
    if isinstance(function, str):
        return function if function.strip() else None
    if function is not None and not callable(function):
        raise SpawnError(
            "customFunction must be a callable or a text", code=Refusal.INVALID_CUSTOM_FUNCTION
        )
    called: Callable[[list[Value]], Value] | None = function
    return called


def group_for(group: Group | None, spec: SpawnSpec, on_error: FailurePolicy) -> Group:
    """Return the group that the spawn goes into: a new one, or ``group`` where the spawn agrees with it (rule O-47).

    Raises:
        SpawnError: The spawn contradicts the group, the group takes no more runs, or ``custom`` has no function.
    """
    if group is None:
        strategy = spec.strategy or MergeStrategy.CONCAT
        if strategy is MergeStrategy.CUSTOM and spec.custom_function is None:
            raise SpawnError(
                'mergeStrategy "custom" needs customFunction', code=Refusal.MISSING_CUSTOM_FUNCTION
            )
        order = spec.order or MergeOrder.SPAWN
        return Group(
            str(spec.variable_name), strategy, spec.custom_function, order=order, on_error=on_error
        )
    _require_same("mergeStrategy", spec.strategy in (None, group.strategy), group)
    same_function = spec.custom_function is None or same_code(
        spec.custom_function, group.custom_function
    )
    _require_same("customFunction", same_function, group)
    _require_same("order", spec.order in (None, group.order), group)
    if group.closed:
        raise SpawnError(
            f"{group.variable_name} is closed: clear it or use another name",
            code=Refusal.GROUP_CLOSED,
        )
    if group.status is GroupStatus.FAILED:
        raise SpawnError(
            f"{group.variable_name} has failed: clear it or use another name",
            code=Refusal.GROUP_FAILED,
        )
    return group


def _require_same(what: str, agrees: bool, group: Group) -> None:
    if not agrees:
        reason = (
            f"{group.variable_name} already has another {what}: leave it out or use another name"
        )
        raise SpawnError(reason, code=Refusal.MERGE_STRATEGY_CONFLICT)


def read_timeout(timeout: float | None) -> float | None:
    """Return a timeout in seconds, bounded; ``None`` for none.

    Raises:
        SpawnError: It is not more than 0.
    """
    if timeout is None:
        return None
    if not timeout > 0:
        raise SpawnError(
            f"a timeout must be more than 0 seconds, not {timeout!r}", code=Refusal.INVALID_TIMEOUT
        )
    return min(timeout, MOST_SECONDS)


def read_failure_policy(value: FailurePolicy | str) -> FailurePolicy:
    """Return the policy of that name.

    Raises:
        SpawnError: There is none.
    """
    try:
        return FailurePolicy(value)
    except ValueError:
        raise SpawnError(
            f"on_error must be one of {', '.join(FailurePolicy)}, not {value!r}",
            code=Refusal.INVALID_ON_ERROR,
        ) from None


def same_code(left: object, right: object) -> bool:
    """Return whether two merge functions are equal, or have the same code, defaults and captured values.

    Where the code stands does not matter; functions of different modules differ, since their names mean other things.
    Texts are equal but for the space around them.
    """
    if isinstance(left, str) and isinstance(right, str):
        return left.strip() == right.strip()
    if isinstance(left, partial) and isinstance(right, partial):
        return same_code(left.func, right.func) and _equal(
            (left.args, left.keywords), (right.args, right.keywords)
        )
    if not isinstance(left, FunctionType) or not isinstance(right, FunctionType):
        return _equal(left, right)
    return (
        left.__globals__ is right.__globals__
        and _without_place(left.__code__) == _without_place(right.__code__)
        and _equal(
            (left.__defaults__, left.__kwdefaults__), (right.__defaults__, right.__kwdefaults__)
        )
        and _equal(_captured(left), _captured(right))
    )


def _without_place(code: CodeType) -> CodeType:
    constants = tuple(
        _without_place(value) if isinstance(value, CodeType) else value for value in code.co_consts
    )
    return code.replace(co_name="", co_firstlineno=1, co_linetable=b"", co_consts=constants)


def _captured(function: FunctionType) -> list[Any]:
    cells = function.__closure__ or ()
    try:
        return [cell.cell_contents for cell in cells]
    except ValueError:  # a variable that has no value yet
        return [id(cell) for cell in cells]


def _equal(left: object, right: object) -> bool:
    try:
        return bool(left == right)
    except Exception:  # noqa: BLE001 - values that cannot be compared are the same only where they are one object
        return left is right
