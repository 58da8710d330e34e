"""What a session's readers see: each group's result; custom functions run once for each time that it became final."""

from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from threading import Lock, get_ident

from aggregate.agents.results.merge import GroupOutcome, merge_outputs
from aggregate.agents.sandbox import SandboxLimits
from aggregate.agents.subagents.session_state import SessionState, Snapshot
from aggregate.base.errors import WaitError
from aggregate.base.values import (
    AggregatedResult,
    FailurePolicy,
    LabelledOutput,
    MergeOrder,
    MergeStrategy,
    RunStatus,
    Value,
    isolated_copy,
)


class SubagentResults(Mapping[str, AggregatedResult]):
    """Variable names to results; an unknown name reads as an empty result and is not ``in`` (rules O-45, O-50).

    Reading never waits and never raises. What is read belongs to the reader: changing it changes nothing here.
    """

    def __init__(self, state: SessionState, limits: SandboxLimits | None = None) -> None:
        self._state = state
        self._limits = limits
        self._lock = Lock()
        self._merges: dict[tuple[str, int], _Merge] = {}

    @property
    def bare(self) -> "BareResults":
        """The same names mapped to bare values."""
        return BareResults(self)

    def __getitem__(self, name: str) -> AggregatedResult:
        snapshot = self._state.snapshot(name)
        if snapshot is None:
            return AggregatedResult(variable_name=name)
        group = snapshot.group
        if not group.status.final:
            return AggregatedResult(name, group.strategy, count=group.ended, status=group.status)
        if group.strategy is not MergeStrategy.CUSTOM:
            # The runs are frozen, so this gives the same each time; a copy to be kept would double the memory.
            return _aggregate(snapshot, self._limits)
        result = self._merge_once(snapshot)
        return replace(result, value=isolated_copy(result.value))

    def __contains__(self, name: object) -> bool:
        return name in self._state.names()

    def __iter__(self) -> Iterator[str]:
        return iter(self._state.names())

    def __len__(self) -> int:
        return len(self._state.names())

    def forget(self, name: str) -> None:
        """Drop the merged value of a group that was cleared."""
        with self._lock:
            self._merges = {key: merge for key, merge in self._merges.items() if key[0] != name}

    def _merge_once(self, snapshot: Snapshot) -> AggregatedResult:
        """Merge a final group the first time that anybody reads it; other readers wait for that merge (rule O-53)."""
        name = snapshot.group.variable_name
        own = _Merge()
        with self._lock:
            merge = self._merges.setdefault((name, snapshot.group.last_sequence), own)
        if merge is not own:
            if merge.thread == get_ident() and not merge.result.done():
                raise WaitError(f"the custom function of {name} reads {name} itself")
            return merge.result.result()
        try:
            own.result.set_result(_aggregate(snapshot, self._limits))
        except BaseException as error:
            self.forget(name)
            interrupted = RuntimeError(f"the merge of {name} was interrupted")
            own.result.set_exception(error if isinstance(error, Exception) else interrupted)
            raise
        return own.result.result()


@dataclass(frozen=True, slots=True, eq=False)
class _Merge:
    """One merge, done or under way, and its thread."""

    result: "Future[AggregatedResult]" = field(default_factory=Future)
    thread: int = field(default_factory=get_ident)


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


def _aggregate(snapshot: Snapshot, limits: SandboxLimits | None) -> AggregatedResult:
    group = snapshot.group
    merged = [run for run in snapshot.runs if 0 < run.sequence <= group.last_sequence]
    left_out = [run.name for run in snapshot.runs if not 0 < run.sequence <= group.last_sequence]
    if group.order is MergeOrder.COMPLETION:
        merged.sort(key=lambda run: run.sequence)
    lists_failures = group.on_error is not FailurePolicy.SKIP
    outputs = []
    for run in merged:
        error = None if run.status is RunStatus.SUCCESS else run.error or "no reason given"
        outputs.append(LabelledOutput(run.output, run.label, run.run_id, error))
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
