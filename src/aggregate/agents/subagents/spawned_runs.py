"""Spawned runs: requests, records, and merged results by variable (O-20 to O-25, O-44 to O-53)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from math import inf
from threading import Lock, get_ident
from time import monotonic
from typing import Any, Final, TypeVar

from aggregate.agents.results import (
    VARIABLE,
    CustomFunction,
    FailurePolicy,
    Group,
    LabelledOutput,
    MergeOrder,
    known_member,
    merge_group,
)
from aggregate.base.errors import AggregateError, Refusal, SpawnError
from aggregate.base.values import Value, isolated_copy
from aggregate.prompt.asking.results import AggregatedResult, GroupStatus, MergeStrategy

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


_T = TypeVar("_T")
MERGE_SECONDS: Final = 60.0  # of waiting for another thread's custom function
SHARE: Final = 0.8  # of the time of ``wait``: a function that waits for itself ends within it
LEAST_SECONDS: Final = 0.1  # if nothing is left of a timeout


class RunStatus(StrEnum):
    """The state of one sub-agent's run."""

    PENDING = "pending"
    SUCCESS = "success"
    ERROR = "error"
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One sub-agent's run, with its output or error."""

    run_id: str  # unique within its session
    session_key: str  # the parent session
    variable_name: str | None = None  # its group, if any
    label: str | None = None
    status: RunStatus = RunStatus.PENDING
    output: Any = None  # ``None`` unless it succeeded
    error: str | None = None  # ``None`` unless it failed
    completed_at: datetime | None = None
    sequence: int = 0  # its position among the session's ended runs, from 1; 0 while it is pending

    @property
    def name(self) -> str:
        return self.label or self.run_id


class ByVariable(Mapping[str, _T]):
    """Read-only view of a session's variables (O-45, O-50).

    Unknown names have an empty value. Values are copies. Reading never waits for runs and never raises.
    """

    def __init__(self, names: Callable[[], tuple[str, ...]], read: Callable[[str], _T]) -> None:
        self._names = names
        self._read = read

    def __getitem__(self, name: str) -> _T:
        return self._read(name)

    def __contains__(self, name: object) -> bool:
        return name in self._names()

    def __iter__(self) -> Iterator[str]:
        return iter(self._names())

    def __len__(self) -> int:
        return len(self._names())


class SubagentResults(ByVariable[AggregatedResult]):
    @property
    def bare(self) -> Mapping[str, Value]:
        """The merged values alone; ``None`` for unfinished and unknown groups."""
        return ByVariable(self._names, lambda name: self[name].value)


def merged_runs(group: Group, runs: Sequence[RunRecord]) -> AggregatedResult:
    """Merge the outputs of the runs that ended before their group did."""
    merged = [run for run in runs if 0 < run.sequence <= group.last_sequence]
    left_out = [run.name for run in runs if not 0 < run.sequence <= group.last_sequence]
    if group.order is MergeOrder.COMPLETION:
        merged.sort(key=lambda run: run.sequence)
    outputs = []
    for run in merged:
        error = None if run.status is RunStatus.SUCCESS else run.error or "no reason given"
        outputs.append(LabelledOutput(run.output, run.label, run.run_id, error))
    result = merge_group(group, outputs)
    if not left_out:
        return result
    warning = f"not included, since the group failed before they ended: {', '.join(left_out)}"
    return replace(result, warnings=(*result.warnings, warning))


@dataclass(slots=True)
class CustomMerge:
    """The one call of a variable's custom function, and its result (O-53)."""

    _lock: Lock = field(default_factory=Lock)
    _owner: int = 0  # the thread in the function, 0 outside of it
    _until: float = inf  # when other threads stop waiting for it
    _sequence: int = 0  # of the last merged run
    _result: AggregatedResult | None = None

    def result(
        self, group: Group, runs: Sequence[RunRecord], end: float | None = None
    ) -> AggregatedResult:
        """Return a copy of the result; call the function if it has not seen these runs.

        ``end`` is the monotonic time when the caller's timeout is over. A function that reads its own variable in
        another thread, and waits for it, gets an error before that.
        """
        now = monotonic()
        seconds = MERGE_SECONDS if end is None else max(end - now, LEAST_SECONDS)
        left = max(min(self._until - now, seconds), 0)
        if self._owner == get_ident() or not self._lock.acquire(timeout=left):
            name = group.variable_name
            raise AggregateError(
                f"the custom function of {name} has not ended: if it reads {name} itself, use its argument"
            )
        try:
            result = self._result
            if result is None or self._sequence != group.last_sequence:
                self._until = monotonic() + seconds * SHARE
                self._owner = get_ident()
                result = self._result = merged_runs(group, runs)
                self._sequence = group.last_sequence
        finally:
            self._owner, self._until = 0, inf
            self._lock.release()
        return replace(result, value=isolated_copy(result.value))
