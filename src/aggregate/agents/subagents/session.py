"""Sessions of sub-agents, with results by variable (O-40 to O-56)."""

import logging
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from concurrent.futures import Executor
from dataclasses import replace
from datetime import UTC, datetime
from threading import Condition, Lock, get_ident
from time import monotonic
from typing import Any, Final, Self, TypeVar, overload

from aggregate.agents.results import (
    CustomFunction,
    FailurePolicy,
    Group,
    LabelledOutput,
    MergeOrder,
    merge_group,
)
from aggregate.agents.subagents.runs import RunRecord, RunStatus, TaskRunner, Timers, TimerThread
from aggregate.agents.subagents.spawn_request import (
    MOST_SECONDS,
    SpawnRequest,
    group_for,
    read_failure_policy,
    read_request,
    read_timeout,
)
from aggregate.base.errors import AggregateError, Refusal, SpawnError
from aggregate.base.json_forms import failure_text
from aggregate.base.values import Value, isolated_copy, unawaited
from aggregate.prompt.asking.results import AggregatedResult, MergeStrategy, result_text

logger: Final = logging.getLogger(__name__)
_T = TypeVar("_T")
NOT_BEGUN: Final = "cancelled: the session ended before it began"
_MERGE_SECONDS: Final = 60.0  # of waiting for another thread's custom function
# Share of the time of ``wait``: a function that reads its own variable in another thread fails within it.
_OF_WAIT: Final = 0.8
_LEAST_WAIT: Final = 0.1


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


class RunHandle:
    """A handle on a spawned run: its id, and after its end its record."""

    def __init__(
        self, run_id: str, session: "SubagentSession", *, refused: str | None = None
    ) -> None:
        self.run_id = run_id
        self.refused = refused
        self._session = session

    def __repr__(self) -> str:
        return f"RunHandle({self.run_id!r})"

    def done(self) -> bool:
        """Return whether the run has ended."""
        return self._session.is_over(self.run_id)

    def result(self, timeout: float | None = None) -> RunRecord:
        """Wait for the run and return its record, or raise a ``TimeoutError``."""
        if not self._session.wait_for((self.run_id,), timeout):
            raise TimeoutError(f"{self.run_id} has not ended after {timeout:g} s")
        cleared = RunRecord(self.run_id, "", status=RunStatus.ERROR, error="the run was cleared")
        return self._session.run(self.run_id) or cleared


class SubagentSession:
    """Spawns sub-agents, collects their outputs, and merges them by variable.

    A host with its own agents spawns texts and reports ``complete``, ``fail`` or ``time_out``; with an ``executor`` the
    session runs callables. All methods may be called from any thread.

    Args:
        session_key: The beginning of all run ids.
        executor: A pool that runs callables; the caller shuts it down.
        max_concurrency: Callables that run at once; further ones wait (rule O-23).
        group_timeout: Seconds from the opening of a group until its unfinished runs time out.
        on_error: ``report`` lists failed runs, ``skip`` does not, ``fail`` makes their group fail.
        clock: Returns the current time, with a time zone, for results.
        timers: Calls back after timeouts.
        admit: Called before each spawn; a returned text refuses the spawn for that reason (rule O-51).
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
        timers: Timers | None = None,
        admit: Callable[[SpawnRequest], str | None] | None = None,
    ) -> None:
        if max_concurrency < 1:
            raise SpawnError(
                f"max_concurrency must be at least 1, not {max_concurrency}",
                code=Refusal.INVALID_CONCURRENCY,
            )
        self.session_key = session_key
        self._group_timeout = read_timeout(group_timeout)
        self._on_error = read_failure_policy(on_error)
        self._clock = clock or (lambda: datetime.now(UTC))
        self._timers = timers or TimerThread()
        self._admit = admit
        self._runner = (
            TaskRunner(executor, max_concurrency, self._begin, self._end) if executor else None
        )
        self.subagent_results = SubagentResults(self._names, self._result)
        # Reentrant: the ``__del__`` of a forgotten output and timers may call from the same thread.
        self._changed = Condition()
        self._groups: dict[str, Group] = {}
        self._members: dict[str, list[str]] = {}
        self._runs: dict[str, RunRecord] = {}
        self._late: dict[str, RunRecord] = {}
        self._call_off: dict[Hashable, Callable[[], None]] = {}  # timeouts by run or group
        self._spawned = self._ended = 0
        # By variable with a custom function: the lock, its owner and deadline, the result
        self._merge_locks: dict[str, Lock] = {}
        self._merging: dict[str, tuple[int, float]] = {}
        self._merged: dict[str, tuple[int, AggregatedResult]] = {}

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
            task: A text for an agent of the host, or a callable for the executor.
            label: The run's name in errors and texts, and its key in a ``json`` merge.
            collect_into: ``$name`` of the variable that collects the output, if any (O-1).
            merge_strategy: How the variable is merged; by default as in its first spawn, else ``concat``.
            custom_function: For strategy ``custom``: a callable, or a Python lambda or expression as text.
            timeout: Seconds from the start on the executor, or without an executor from now.
            order: The order of merging: ``spawn`` (default) or ``completion``.
            options: Further values for ``admit``.

        Raises:
            SpawnError: The request is invalid or contradicts the group; nothing was spawned.
        """
        request = read_request(
            task,
            label,
            collect_into,
            merge_strategy=merge_strategy,
            custom_function=custom_function,
            order=order,
            options=options,
        )
        seconds = read_timeout(timeout)
        if callable(task) and self._runner is None:
            raise SpawnError(
                "a callable needs a session with an executor", code=Refusal.INVALID_TASK
            )
        refusal = self._admit(request) if self._admit else None
        run_id, group = self._add(request)
        if group is not None and self._group_timeout is not None:
            self._watch_group(group, self._group_timeout)
        if refusal is not None:
            self.fail(run_id, refusal)
        elif self._runner is not None and callable(task):
            self._runner.submit(run_id, task, seconds)
        else:
            self._begin(run_id, seconds)
        return RunHandle(run_id, self, refused=refusal)

    def _add(self, request: SpawnRequest) -> tuple[str, Group | None]:
        """Add a run; return its id and the group of its variable (O-47)."""
        with self._changed:
            name = request.variable_name
            group = group_for(self._groups.get(name), request, self._on_error) if name else None
            self._spawned += 1
            run_id = f"{self.session_key}-{self._spawned}"
            self._runs[run_id] = RunRecord(run_id, self.session_key, name, request.label)
            if name and group:
                group = self._groups[name] = group.with_run()
                self._members.setdefault(name, []).append(run_id)
            return run_id, group

    def _begin(self, run_id: str, seconds: float | None) -> bool:
        """Start a run's timeout; return whether the run is pending."""
        if self.is_over(run_id):
            return False
        if seconds is not None:
            reason = f"timeout after {seconds:g} s"
            self._watch(run_id, seconds, lambda: self._end(run_id, RunStatus.TIMEOUT, reason))
        return True

    # Ends of runs, reported by the host

    def complete(self, run_id: str, output: object) -> bool:
        """Record a run's output; return ``False`` if too late or repeated (O-41, O-42)."""
        return self._end(run_id, RunStatus.SUCCESS, output)

    def fail(self, run_id: str, error: object) -> bool:
        """Record a run's failure; return ``False`` if too late or repeated."""
        return self._end(run_id, RunStatus.ERROR, error)

    def time_out(self, run_id: str) -> bool:
        """Record a run's timeout; return ``False`` if too late or repeated."""
        return self._end(run_id, RunStatus.TIMEOUT, "timeout")

    def _end(self, run_id: str, status: RunStatus, result: Value) -> bool:
        """Record a run's end; log an end without effect and return ``False`` (O-41, O-42, O-46)."""
        if refused := unawaited(result):
            result, status = refused, RunStatus.ERROR
        result = isolated_copy(result) if status is RunStatus.SUCCESS else failure_text(result)
        with self._changed:
            fault = self._record(run_id, status, result)
        if fault:
            logger.warning(
                "%s: this %s result is %s, the value is unchanged", run_id, status, fault
            )
        if status is RunStatus.TIMEOUT:
            self._release([run_id])
        return not fault

    def _record(self, run_id: str, status: RunStatus, result: Value) -> str:
        """Record a run's end; return why the record has no effect, or ``""``."""
        run = self._runs.get(run_id)
        if run is None:
            return "unknown"
        is_first = run.status is RunStatus.PENDING
        self._ended += is_first
        output, error = (result, None) if status is RunStatus.SUCCESS else (None, result)
        at, sequence = self._clock(), self._ended if is_first else run.sequence
        ended = replace(
            run, status=status, output=output, error=error, completed_at=at, sequence=sequence
        )
        if not is_first:
            after_timeout = run.status is RunStatus.TIMEOUT and status is not RunStatus.TIMEOUT
            if not after_timeout or run_id in self._late:
                return "duplicate"
            self._late[run_id] = ended
            return "late"
        self._runs[run_id] = ended
        self._settle(run_id)
        group = self._groups.get(run.variable_name or "")
        if group is None:
            return ""
        is_late = group.status.final
        has_failed = status is not RunStatus.SUCCESS
        group = group.with_end(at, sequence, has_failed=has_failed)
        self._groups[group.variable_name] = group
        if is_late:
            if status is not RunStatus.TIMEOUT:
                self._late[run_id] = ended
            return "late"
        if group.status.final:
            self._settle((group.variable_name, group.opened))
        return ""

    def _settle(self, key: Hashable) -> None:
        """Wake the threads that wait for a run or group, and cancel its timeout."""
        if call_off := self._call_off.pop(key, None):
            call_off()
        self._changed.notify_all()

    # Timeouts

    def _watch_group(self, group: Group, seconds: float) -> None:
        """Time out a group's unfinished runs ``seconds`` after it was opened (O-46)."""
        name, opened = group.variable_name, group.opened
        reason = f"timeout: the group was open for {seconds:g} s"

        def expire() -> None:
            with self._changed:
                group = self._groups.get(name)
                if group is None or group.opened != opened or group.status.final:
                    return
                members = self._members[name]
                unfinished = [run_id for run_id in members if not self.is_over(run_id)]
                for run_id in unfinished:
                    self._record(run_id, RunStatus.TIMEOUT, reason)
            self._release(unfinished)

        self._watch((name, opened), seconds, expire)

    def _watch(self, key: Hashable, seconds: float, action: Callable[[], object]) -> None:
        def fire() -> None:
            with self._changed:
                self._call_off.pop(key, None)
            action()

        with self._changed:
            if key not in self._call_off:
                self._call_off[key] = self._timers.call_later(seconds, fire)

    def _release(self, run_ids: Iterable[str]) -> None:
        if self._runner is not None:
            for run_id in run_ids:
                self._runner.release(run_id)

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
        """Wait for runs and return their merged results.

        Wait for the runs of the variable ``name``, by default for all runs.
        """
        end = None if timeout is None else monotonic() + min(timeout, MOST_SECONDS)
        self.wait_for(self._names() if name is None else (name,), timeout)
        if name is not None:
            return self._result(name, end)
        return {name: self._result(name, end) for name in self._names()}

    def wait_for(self, keys: Iterable[str], timeout: float | None) -> bool:
        """Wait until runs or groups end; return whether all did."""
        open_keys = list(keys)

        def over() -> bool:
            while open_keys and self.is_over(open_keys[-1]):
                open_keys.pop()
            return not open_keys

        with self._changed:
            return self._changed.wait_for(over, timeout and min(timeout, MOST_SECONDS))

    def is_over(self, key: str) -> bool:
        """Return whether a run or group has ended, or is unknown."""
        with self._changed:
            if group := self._groups.get(key):
                return group.status.final
            run = self._runs.get(key)
            return run is None or run.status is not RunStatus.PENDING

    def text(self, name: str, *, labels: bool = True) -> str:
        """Return the merged result of a variable as text."""
        return result_text(self.subagent_results[name], labels=labels)

    def group(self, name: str) -> Group | None:
        """Return the state of a variable's group, None for an unknown name."""
        return self._groups.get(name)

    def run(self, run_id: str) -> RunRecord | None:
        """Return a copy of a run's record."""
        run = self._runs.get(run_id)
        return run and replace(run, output=isolated_copy(run.output))

    def late(self) -> tuple[RunRecord, ...]:
        """Return the runs that ended after their result was final (O-46)."""
        with self._changed:
            late = tuple(self._late.values())
        return tuple(replace(run, output=isolated_copy(run.output)) for run in late)

    def _names(self) -> tuple[str, ...]:
        with self._changed:
            return tuple(self._groups)

    def _result(self, name: str, end: float | None = None) -> AggregatedResult:
        """Return the merged result of a variable; a custom function runs only once (O-53)."""
        with self._changed:
            group = self._groups.get(name)
            runs = [self._runs[run_id] for run_id in self._members.get(name, ())]
        if group is None:
            return AggregatedResult(variable_name=name)
        if not group.status.final:
            return AggregatedResult(name, group.strategy, count=group.ended, status=group.status)
        if group.strategy is not MergeStrategy.CUSTOM:
            # The runs are frozen, so this gives the same each time; a copy to be kept would double the memory.
            return _aggregate(group, runs)
        lock = self._merge_locks.setdefault(name, Lock())
        owner, until = self._merging.get(name, (0, monotonic() + _MERGE_SECONDS))
        # Bounded: the function may wait for this thread.
        if owner == get_ident() or not lock.acquire(timeout=max(until - monotonic(), 0)):
            raise AggregateError(
                f"the custom function of {name} has not ended: if it reads {name} itself, use its argument"
            )
        try:
            sequence, result = self._merged.get(name, (0, None))
            if result is None or sequence != group.last_sequence:
                now = monotonic()
                seconds = (end or now + _MERGE_SECONDS) - now
                self._merging[name] = get_ident(), now + max(seconds * _OF_WAIT, _LEAST_WAIT)
                result = _aggregate(group, runs)
                self._merged[name] = group.last_sequence, result
        finally:
            self._merging.pop(name, None)
            lock.release()
        return replace(result, value=isolated_copy(result.value))

    # Ending

    def close(self, name: str) -> None:
        """Refuse further runs for a variable."""
        with self._changed:
            if name in self._groups:
                self._groups[name] = replace(self._groups[name], closed=True)

    def clear(self, name: str | None = None) -> None:
        """Delete the group of a variable with its runs, or all groups and ended runs."""
        unfinished: list[str] = []
        with self._changed:
            for group_name in self._names() if name is None else (name,):
                group = self._groups.pop(group_name, None)
                members = self._members.pop(group_name, [])
                unfinished += [run_id for run_id in members if not self.is_over(run_id)]
                if group:
                    self._settle((group_name, group.opened))
                self._forget(members)
            if name is None:
                self._forget([run_id for run_id in self._runs if self.is_over(run_id)])
        self._release(unfinished)

    def _forget(self, run_ids: Iterable[str]) -> None:
        for run_id in run_ids:
            del self._runs[run_id]
            self._late.pop(run_id, None)
            self._settle(run_id)

    def shut_down(self) -> None:
        """Cancel the queued runs; running ones continue."""
        for run_id in self._runner.clear() if self._runner else ():
            self._end(run_id, RunStatus.CANCELLED, NOT_BEGUN)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *ended_by: object) -> None:
        self.shut_down()


def _aggregate(group: Group, runs: list[RunRecord]) -> AggregatedResult:
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
