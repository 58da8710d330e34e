"""What a session's readers see: each group's result; custom functions run once for each time that it became final."""

from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from threading import Lock, get_ident

from aggregate.errors import WaitError
from aggregate.models.group import FailurePolicy, Group, MergeOrder, MergeStrategy, RunRecord, RunStatus
from aggregate.models.result import AggregatedResult, LabelledOutput
from aggregate.models.values import Value, isolated_copy
from aggregate.results.merge import GroupOutcome, merge_outputs
from aggregate.sandbox import SandboxLimits
from aggregate.subagents.deadlock import WAIT_GRAPH
from aggregate.subagents.session_state import SessionState, Snapshot


class SubagentResults(Mapping[str, AggregatedResult]):
    """Variable names to results; an unknown name reads as an empty result and is not ``in`` (rules O-45, O-50).

    Reading never waits and never raises. What is read belongs to the reader: changing it changes nothing here.
    """

    def __init__(self, ledger: SessionState, limits: SandboxLimits | None = None) -> None:
        self._ledger = ledger
        self._limits = limits
        self._lock = Lock()
        self._merges: dict[str, _Merge] = {}

    @property
    def bare(self) -> "BareResults":
        """The same names mapped to bare values."""
        return BareResults(self)

    def __getitem__(self, name: str) -> AggregatedResult:
        found = self._ledger.snapshot(name)
        if found is None:
            return AggregatedResult(variable_name=name)
        if not found.group.status.final:
            return _open(found)
        if found.group.strategy is not MergeStrategy.CUSTOM:
            # The runs are frozen, so this gives the same each time; a copy to be kept would double the memory.
            return _aggregate(found, self._limits)
        result = self._once(found)
        return replace(result, value=isolated_copy(result.value))

    def __contains__(self, name: object) -> bool:
        return name in self._ledger.names()

    def __iter__(self) -> Iterator[str]:
        return iter(self._ledger.names())

    def __len__(self) -> int:
        return len(self._ledger.names())

    def forget(self, name: str) -> None:
        """Drop the merged value of a group that was cleared."""
        with self._lock:
            self._merges.pop(name, None)

    def _once(self, found: Snapshot) -> AggregatedResult:
        """Merge a final group the first time that anybody reads it; other readers wait for that merge (rule O-53)."""
        name, key = found.group.variable_name, found.group.last_sequence
        with self._lock:
            known = self._merges.get(name)
            if known is not None and known.key > key:
                known, first = (
                    _Merge(key),
                    True,
                )  # the snapshot is older than what is kept: merged for this reader alone
            elif first := known is None or known.key < key:
                known = self._merges[name] = _Merge(key)
        if first:
            return self._fill(name, known, found)
        if known.thread == get_ident() and not known.result.done():
            raise WaitError(f"the custom function of {name} reads {name} itself")
        merge = known
        with WAIT_GRAPH.waiting(lambda: () if merge.result.done() else (merge.thread,), name):
            return merge.result.result()

    def _fill(self, name: str, merge: "_Merge", found: Snapshot) -> AggregatedResult:
        try:
            merge.result.set_result(_aggregate(found, self._limits))
        except BaseException as error:
            self.forget(name)
            interrupted = RuntimeError(f"the merge of {name} was interrupted")
            merge.result.set_exception(error if isinstance(error, Exception) else interrupted)
            raise
        return merge.result.result()


@dataclass(frozen=True, slots=True)
class _Merge:
    """One merge, done or under way: for which last run, and in which thread."""

    key: int
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


def _open(found: Snapshot) -> AggregatedResult:
    group = found.group
    return AggregatedResult(group.variable_name, group.strategy, count=group.ended, status=group.status)


def _aggregate(found: Snapshot, limits: SandboxLimits | None) -> AggregatedResult:
    """Merge the runs that had ended when the group became final; the others are named in a warning."""
    group = found.group
    runs = [run for run in found.runs if 0 < run.sequence <= group.last_sequence]
    if group.order is MergeOrder.COMPLETION:
        runs.sort(key=lambda run: run.sequence)
    ending = GroupOutcome(
        group.variable_name, group.status, group.completed_at, group.on_error is not FailurePolicy.SKIP
    )
    outputs = [_labelled(run) for run in runs]
    function = group.custom_function
    result = merge_outputs(outputs, group.strategy, custom_function=function, ending=ending, limits=limits)
    return replace(result, warnings=(*result.warnings, *_missing(group, found.runs)))


def _labelled(run: RunRecord) -> LabelledOutput:
    error = None if run.status is RunStatus.SUCCESS else run.error or "no reason given"
    return LabelledOutput(run.output, run.label, run.run_id, error)


def _missing(group: Group, runs: tuple[RunRecord, ...]) -> tuple[str, ...]:
    names = [run.name for run in runs if not 0 < run.sequence <= group.last_sequence]
    return (f"not waited for after the failure: {', '.join(names)}",) if names else ()
