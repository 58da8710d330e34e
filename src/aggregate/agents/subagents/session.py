"""A session that spawns sub-agents and collects their results into variables."""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor
from dataclasses import replace
from datetime import UTC, datetime
from threading import RLock
from typing import Any, Final, Self, overload

from aggregate.agents.results import CustomFunction, LabelledOutput
from aggregate.agents.results.merge import GroupOutcome, merge_outputs
from aggregate.agents.sandbox import SandboxLimits
from aggregate.agents.subagents.runs import (
    FailurePolicy,
    Group,
    MergeOrder,
    RunRecord,
    RunStatus,
    SpawnRequest,
)
from aggregate.agents.subagents.session_state import (
    SessionState,
    Timers,
    read_failure_policy,
    read_spawn_spec,
    read_timeout,
)
from aggregate.agents.subagents.task_runner import TaskRunner, TimerThread
from aggregate.base.errors import Refusal, SpawnError
from aggregate.base.values import Value, isolated_copy
from aggregate.prompt.results import AggregatedResult, MergeStrategy, result_text


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


NOT_BEGUN: Final = "cancelled: the session ended before it began"


class RunHandle:
    """One spawned run: its id, and its record when it has ended."""

    def __init__(self, run_id: str, state: SessionState, *, refused: str | None = None) -> None:
        self.run_id = run_id
        self.refused = refused
        self._state = state

    def __repr__(self) -> str:
        return f"RunHandle({self.run_id!r})"

    def done(self) -> bool:
        """Return whether the run has ended."""
        return not self._state.unfinished(self.run_id)

    def result(self, timeout: float | None = None) -> RunRecord:
        """Wait for the end of the run and return its record, whether it succeeded or not.

        Raises:
            TimeoutError: It has not ended after ``timeout`` seconds.
        """
        if not self._state.wait((self.run_id,), timeout):
            raise TimeoutError(f"{self.run_id} has not ended after {timeout:g} s")
        cleared = RunRecord(self.run_id, "", status=RunStatus.ERROR, error="the run was cleared")
        return self._state.run(self.run_id) or cleared


class SubagentSession:
    """Spawn sub-agents, collect what they return, read it by variable.

    A host that runs its agents itself spawns texts and reports ``complete``, ``fail`` or ``time_out``; with an
    ``executor`` the session runs callables. All methods may be called from any thread.

    Args:
        session_key: Names the session; run ids begin with it.
        executor: Where callables run: a thread pool, a process pool, a cluster's. It stays the caller's to shut down.
        max_concurrency: Callables that run at one time; further ones wait their turn, none is refused (rule O-23).
        group_timeout: Seconds from the spawn that opens a group until its unfinished runs count as timed out.
        on_error: ``report`` lists a failed run, ``skip`` does not, ``fail`` ends its group.
        clock: Gives the time that is written into results; timezone-aware.
        new_id: Gives the id of the n-th run; by default ``<session_key>-<n>``.
        timers: Watches the timeouts.
        admit: Asked before each spawn; a text is the reason for a refusal (rule O-51).
        limits: What a custom function given as text may use.
    """

    def __init__(
        self,
        session_key: str = "main",
        *,
        executor: Executor | None = None,
        max_concurrency: int = 8,
        group_timeout: float | None = None,
        on_error: FailurePolicy | str = FailurePolicy.REPORT,
        clock: Callable[[], datetime] | None = None,
        new_id: Callable[[int], str] | None = None,
        timers: Timers | None = None,
        admit: Callable[[SpawnRequest], str | None] | None = None,
        limits: SandboxLimits | None = None,
    ) -> None:
        if max_concurrency < 1:
            raise SpawnError(
                f"max_concurrency must be at least 1, not {max_concurrency}",
                code=Refusal.INVALID_CONCURRENCY,
            )
        self.session_key = session_key
        self._group_timeout = read_timeout(group_timeout)
        self._admit = admit
        self._state = SessionState(
            session_key,
            read_failure_policy(on_error),
            new_id or (lambda number: f"{session_key}-{number}"),
            clock or (lambda: datetime.now(UTC)),
            timers or TimerThread(),
        )
        self._runner = TaskRunner(executor, max_concurrency, self._state) if executor else None
        self.subagent_results = SubagentResults(self._state, limits)

    # Spawning

    def spawn(
        self,
        task: object,
        *,
        label: str | None = None,
        collect_into: str | None = None,
        merge_strategy: MergeStrategy | str | None = None,
        custom_function: CustomFunction | None = None,
        timeout: float | None = None,
        order: MergeOrder | str | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> RunHandle:
        """Spawn a sub-agent and return a handle on its run.

        Args:
            task: A text for an agent that the host runs, or a callable for the executor.
            label: Its name in errors, in the text of a ``concat`` and as the key in a ``json`` merge.
            collect_into: ``$name`` of the variable; without one the run stands alone (O-1).
            merge_strategy: How the variable is merged; the first spawn decides (``concat``), later ones may leave it
                out.
            custom_function: For ``custom``: a callable, a Python lambda or expression, or a JavaScript function.
            timeout: Seconds until the run counts as timed out: from its start on the executor, else from now.
            order: ``spawn`` (default) or ``completion``: what comes first in the merge.
            options: The host's own, handed to ``admit``.

        Raises:
            SpawnError: The request is not valid or contradicts the group; nothing was spawned.
        """
        spec = read_spawn_spec(collect_into, merge_strategy, custom_function, order)
        name = (label or "").strip() or None
        seconds = read_timeout(timeout)
        if not callable(task) and not (isinstance(task, str) and task.strip()):
            raise SpawnError(
                "task must be a text that is not empty, or a callable", code=Refusal.INVALID_TASK
            )
        if callable(task) and self._runner is None:
            raise SpawnError(
                "a callable needs a session with an executor", code=Refusal.INVALID_TASK
            )
        request = SpawnRequest(task, name, spec.variable_name, dict(options or {}))
        refusal = self._admit(request) if self._admit else None
        run, group = self._state.spawn(spec, name)
        if group is not None and self._group_timeout is not None:
            self._state.watch_group(group, self._group_timeout)
        if refusal is not None:
            self.fail(run.run_id, refusal)
        elif self._runner is not None and callable(task):
            self._runner.submit(run.run_id, task, seconds)
        elif seconds is not None:
            self._state.watch_run(run.run_id, seconds)
        return RunHandle(run.run_id, self._state, refused=refusal)

    # Ends of runs, reported by the host

    def complete(self, run_id: str, output: object) -> bool:
        """Record what a run returned; ``False`` where it changes nothing: repeated, late or unknown (O-41, O-42)."""
        return self._state.end(run_id, RunStatus.SUCCESS, output)

    def fail(self, run_id: str, error: object) -> bool:
        """Record why a run failed; ``False`` where it changes nothing."""
        return self._state.fail(run_id, error)

    def time_out(self, run_id: str) -> bool:
        """Record that a run took too long; ``False`` where it changes nothing."""
        return self._state.end(run_id, RunStatus.TIMEOUT, "timeout")

    # Reading

    @overload
    def wait(self, name: str, timeout: float | None = None) -> AggregatedResult: ...
    @overload
    def wait(
        self, name: None = None, timeout: float | None = None
    ) -> dict[str, AggregatedResult]: ...
    def wait(
        self, name: str | None = None, timeout: float | None = None
    ) -> AggregatedResult | dict[str, AggregatedResult]:
        """Wait until a group, or every group, is final or ``timeout`` seconds have passed, and return what there is."""
        self._state.wait(self._state.names() if name is None else (name,), timeout)
        return dict(self.subagent_results) if name is None else self.subagent_results[name]

    def text(self, name: str, *, labels: bool = True) -> str:
        """Return the result of a group as text (see ``aggregate.prompt.results``)."""
        return result_text(self.subagent_results[name], labels=labels)

    def group(self, name: str) -> Group | None:
        """Return how a variable is merged and where it stands, without its value; ``None`` for an unknown name."""
        return self._state.group(name)

    def run(self, run_id: str) -> RunRecord | None:
        """Return what is known of a run; its output belongs to the reader."""
        return self._state.run(run_id)

    def late(self) -> tuple[RunRecord, ...]:
        """Return what came after its group was final; it is kept, the value stays as it was (O-46)."""
        return self._state.late()

    # Ending

    def close(self, name: str) -> None:
        """Let no more runs into a group."""
        self._state.close(name)

    def clear(self, name: str | None = None) -> None:
        """Forget a group and its runs, or all groups and every ended run; ends that are reported later are unknown."""
        for group_name in self._state.names() if name is None else (name,):
            unfinished = self._state.unfinished(group_name)
            self._state.clear(group_name)
            for run_id in unfinished if self._runner else ():
                self._state.timed_out(run_id)
        if name is None:
            self._state.clear_ungrouped()

    def shut_down(self) -> None:
        """End what is still queued as cancelled; what runs already goes on, with its timeouts.

        The executor is the caller's, and so are texts that were spawned.
        """
        if self._runner is not None:
            for run_id in self._runner.clear():
                self._state.end(run_id, RunStatus.CANCELLED, NOT_BEGUN)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *ended_by: object) -> None:
        self.shut_down()
