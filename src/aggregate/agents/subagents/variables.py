"""A session's variables: the merged results of runs by name (O-44, O-45, O-50, O-53)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from threading import Lock, get_ident
from time import monotonic
from typing import Final, TypeVar

from aggregate.agents.results import Group, LabelledOutput, MergeOrder, merge_group
from aggregate.agents.subagents.runs import RunRecord, RunStatus
from aggregate.base.errors import AggregateError
from aggregate.base.values import Value, isolated_copy
from aggregate.prompt.asking.results import AggregatedResult

_T = TypeVar("_T")
MERGE_SECONDS: Final = 60.0  # of waiting for another thread's custom function
SHARE: Final = 0.8  # of the time of ``wait``: a function that waits for itself ends within it
LEAST_SECONDS: Final = 0.1  # if nothing is left of a timeout


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
