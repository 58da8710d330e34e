"""What a session's readers see: each group's result; custom functions run once for each time that it became final."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from threading import RLock

from aggregate.agents.results.merge import GroupOutcome, merge_outputs
from aggregate.agents.sandbox import SandboxLimits
from aggregate.agents.subagents.session_state import SessionState
from aggregate.base.values import (
    AggregatedResult,
    FailurePolicy,
    Group,
    LabelledOutput,
    MergeOrder,
    MergeStrategy,
    RunRecord,
    RunStatus,
    Value,
    isolated_copy,
)


class SubagentResults(Mapping[str, AggregatedResult]):
    """Variable names to results; an unknown name reads as an empty result and is not ``in`` (rules O-45, O-50).

    Reading never waits for runs and never raises. What is read belongs to the reader: changing it changes nothing here.
    """

    def __init__(self, state: SessionState, limits: SandboxLimits | None = None) -> None:
        self._state = state
        self._limits = limits
        self._lock = RLock()
        self._merged: dict[str, tuple[int, AggregatedResult]] = {}

    @property
    def bare(self) -> "BareResults":
        """The same names mapped to bare values."""
        return BareResults(self)

    def __getitem__(self, name: str) -> AggregatedResult:
        snapshot = self._state.snapshot(name)
        if snapshot is None:
            return AggregatedResult(variable_name=name)
        group, runs = snapshot
        if not group.status.final:
            return AggregatedResult(name, group.strategy, count=group.ended, status=group.status)
        if group.strategy is not MergeStrategy.CUSTOM:
            # The runs are frozen, so this gives the same each time; a copy to be kept would double the memory.
            return _aggregate(group, runs, self._limits)
        with self._lock:  # other readers wait for the merge (rule O-53)
            sequence, result = self._merged.get(name, (0, None))
            if result is None or sequence != group.last_sequence:
                result = _aggregate(group, runs, self._limits)
                self._merged[name] = group.last_sequence, result
        return replace(result, value=isolated_copy(result.value))

    def __contains__(self, name: object) -> bool:
        return name in self._state.names()

    def __iter__(self) -> Iterator[str]:
        return iter(self._state.names())

    def __len__(self) -> int:
        return len(self._state.names())


class BareResults(Mapping[str, Value]):
    """Variable names to bare values; ``None`` for an open group and for an unknown name."""

    def __init__(self, results: SubagentResults) -> None:
        self._results = results

    def __getitem__(self, name: str) -> Value:
        return self._results[name].value

    def __contains__(self, name: object) -> bool:
        return name in self._results

    def __iter__(self) -> Iterator[str]:
        return iter(self._results)

    def __len__(self) -> int:
        return len(self._results)


def _aggregate(
    group: Group, runs: list[RunRecord], limits: SandboxLimits | None
) -> AggregatedResult:
    merged = [run for run in runs if 0 < run.sequence <= group.last_sequence]
    left_out = [run.name for run in runs if not 0 < run.sequence <= group.last_sequence]
    if group.order is MergeOrder.COMPLETION:
        merged.sort(key=lambda run: run.sequence)
    outputs = []
    for run in merged:
        error = None if run.status is RunStatus.SUCCESS else run.error or "no reason given"
        outputs.append(LabelledOutput(run.output, run.label, run.run_id, error))
    lists_failures = group.on_error is not FailurePolicy.SKIP
    result = merge_outputs(
        outputs,
        group.strategy,
        custom_function=group.custom_function,
        ending=GroupOutcome(group.variable_name, group.status, group.completed_at, lists_failures),
        limits=limits,
    )
    if not left_out:
        return result
    warning = f"not waited for after the failure: {', '.join(left_out)}"
    return replace(result, warnings=(*result.warnings, warning))
