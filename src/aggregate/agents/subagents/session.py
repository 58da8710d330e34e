"""Sessions of sub-agents, with results by variable (O-40 to O-56).

No thread watches the timeouts: each call first ends the runs and groups whose time is over.
"""

import logging
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor, Future
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from heapq import heappop, heappush
from math import inf
from threading import TIMEOUT_MAX, Condition
from time import monotonic
from typing import Any, Final, Self, overload

from aggregate.agents.results import CustomFunction, FailurePolicy, Group, MergeOrder, known_member
from aggregate.agents.subagents.spawned_runs import (
    MOST_SECONDS,
    CustomMerge,
    RunRecord,
    RunStatus,
    SpawnRequest,
    SubagentResults,
    merged_runs,
    read_timeout,
)
from aggregate.base.errors import Refusal, SpawnError
from aggregate.base.json_forms import failure_text
from aggregate.base.values import Value, isolated_copy, unawaited
from aggregate.prompt.asking.results import AggregatedResult, MergeStrategy, result_text

logger: Final = logging.getLogger(__name__)
NOT_BEGUN: Final = "cancelled before it began"


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
        executor: A pool of threads for callables, which limits how many run at once; the caller shuts it down.
        group_timeout: Seconds from the opening of a group until its unfinished runs time out.
        on_error: ``report`` lists failed runs, ``skip`` does not, ``fail`` makes their group fail.
        clock: Returns the current time, with a time zone, for results.
        timer: Returns monotonic seconds, for timeouts.
        admit: Called before each spawn; a returned text refuses the spawn for that reason (rule O-51).
    """

    def __init__(
        self,
        session_key: str = "main",
        *,
        executor: Executor | None = None,
        group_timeout: float | None = None,
        on_error: FailurePolicy | str = FailurePolicy.REPORT,
        clock: Callable[[], datetime] | None = None,
        timer: Callable[[], float] = monotonic,
        admit: Callable[[SpawnRequest], str | None] | None = None,
    ) -> None:
        self.session_key = session_key
        self._group_timeout = read_timeout(group_timeout)
        self._on_error = known_member(on_error, FailurePolicy, "on_error", Refusal.INVALID_ON_ERROR)
        self._clock = clock or (lambda: datetime.now(UTC))
        self._timer = timer
        self._admit = admit
        self.subagent_results = SubagentResults(self._names, self._result)
        # Reentrant: the ``__del__`` of a forgotten output may call from the same thread.
        self._changed = Condition()
        self._groups: dict[str, Group] = {}
        self._members: dict[str, list[str]] = {}
        self._runs: dict[str, RunRecord] = {}
        self._late: dict[str, RunRecord] = {}
        self._merges: dict[str, CustomMerge] = {}
        self._spawned = self._ended = 0
        # A heap: time, number, run id or variable, reason
        self._deadlines: list[tuple[float, int, str, str]] = []
        self._deadlines_set = 0
        self._group_deadlines: dict[str, int] = {}  # numbers, of open groups
        self._executor = executor
        self._futures: dict[str, Future[None]] = {}  # of callables until they end

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
        request = SpawnRequest.read(
            task,
            label,
            collect_into,
            merge_strategy=merge_strategy,
            custom_function=custom_function,
            order=order,
            options=options,
        )
        seconds = read_timeout(timeout)
        if callable(task) and self._executor is None:
            reason = "a callable needs a session with an executor"
            raise SpawnError(reason, code=Refusal.INVALID_TASK)
        refusal = self._admit(request) if self._admit else None
        self._expire()
        run_id = self._add(request)
        if refusal is not None:
            self.fail(run_id, refusal)
        elif callable(task) and self._executor is not None:
            self._submit(self._executor, run_id, task, seconds)
        elif seconds is not None:
            self._set_deadline(run_id, seconds, f"timeout after {seconds:g} s")
        return RunHandle(run_id, self, refused=refusal)

    def _add(self, request: SpawnRequest) -> str:
        """Add a run to the session and to the group of its variable; return its id."""
        with self._changed:
            name = request.variable_name
            group = request.group(self._groups.get(name), self._on_error) if name else None
            self._spawned += 1
            run_id = f"{self.session_key}-{self._spawned}"
            self._runs[run_id] = RunRecord(run_id, self.session_key, name, request.label)
            if group is None or name is None:
                return run_id
            self._groups[name] = group.with_run()
            self._members.setdefault(name, []).append(run_id)
            if name not in self._group_deadlines and (seconds := self._group_timeout):
                reason = f"timeout: the group was open for {seconds:g} s"
                self._group_deadlines[name] = self._set_deadline(name, seconds, reason)
            return run_id

    def _submit(
        self, executor: Executor, run_id: str, task: Callable[[], Value], seconds: float | None
    ) -> None:
        try:
            future = executor.submit(self._run, run_id, task, seconds)
        except Exception as error:  # noqa: BLE001 - a refusal by the executor fails the run (O-51)
            self._end(run_id, RunStatus.ERROR, error)
            return
        with self._changed:
            self._futures[run_id] = future
        future.add_done_callback(partial(self._forget_future, run_id))

    def _run(self, run_id: str, task: Callable[[], Value], seconds: float | None) -> None:
        """Run a callable, unless it has ended with its group."""
        if self.is_over(run_id):
            return
        if seconds is not None:
            self._set_deadline(run_id, seconds, f"timeout after {seconds:g} s")
        try:
            output = task()
        except BaseException as error:
            self._end(run_id, RunStatus.ERROR, error)
            raise  # the executor keeps it, or ends its thread
        self._end(run_id, RunStatus.SUCCESS, output)

    def _forget_future(self, run_id: str, future: "Future[None]") -> None:
        with self._changed:
            self._futures.pop(run_id, None)
        if future.cancelled():
            self._end(run_id, RunStatus.CANCELLED, NOT_BEGUN)

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
        self._expire()
        with self._changed:
            fault = self._record(run_id, status, result, self._clock())
        if fault:
            logger.warning(
                "%s: this %s result is %s, the value is unchanged", run_id, status, fault
            )
        return not fault

    def _record(self, run_id: str, status: RunStatus, result: Value, at: datetime) -> str:
        """Record a run's end; return why the record has no effect, or ``""``."""
        run = self._runs.get(run_id)
        if run is None:
            return "unknown"
        is_first = run.status is RunStatus.PENDING
        self._ended += is_first
        output, error = (result, None) if status is RunStatus.SUCCESS else (None, result)
        sequence = self._ended if is_first else run.sequence
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
        self._changed.notify_all()
        group = self._groups.get(run.variable_name or "")
        if group is None:
            return ""
        is_late = group.status.final
        has_failed = status is not RunStatus.SUCCESS
        group = group.with_end(at, sequence, has_failed=has_failed)
        self._groups[group.variable_name] = group
        if group.status.final:
            self._group_deadlines.pop(group.variable_name, None)
        if is_late and status is not RunStatus.TIMEOUT:
            self._late[run_id] = ended
        return "late" if is_late else ""

    # Timeouts

    def _set_deadline(self, key: str, seconds: float, reason: str) -> int:
        """Set the deadline of a run or group; return its number."""
        with self._changed:
            self._deadlines_set += 1
            due = self._timer() + seconds
            heappush(self._deadlines, (due, self._deadlines_set, key, reason))
            self._changed.notify_all()
            return self._deadlines_set

    def _expire(self) -> None:
        """End the unfinished runs whose time, or whose group's time, is over (O-46)."""
        with self._changed:
            now = self._timer()
            while self._deadlines and self._deadlines[0][0] <= now:
                due, number, key, reason = heappop(self._deadlines)
                members = [key]
                if self._group_deadlines.get(key) == number:
                    members = self._members[key]
                at = self._clock() - timedelta(seconds=now - due)
                for run_id in members:
                    if not self._is_over(run_id):
                        self._record(run_id, RunStatus.TIMEOUT, reason, at)

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
        end = inf if timeout is None else monotonic() + min(timeout, MOST_SECONDS)
        while True:
            self._expire()
            with self._changed:
                while open_keys and self._is_over(open_keys[-1]):
                    open_keys.pop()
                left = end - monotonic()
                if not open_keys or left <= 0:
                    return not open_keys
                if self._deadlines:
                    left = min(left, self._deadlines[0][0] - self._timer())
                self._changed.wait(min(left, TIMEOUT_MAX))

    def is_over(self, key: str) -> bool:
        """Return whether a run or group has ended, or is unknown."""
        self._expire()
        return self._is_over(key)

    def _is_over(self, key: str) -> bool:
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
        self._expire()
        return self._groups.get(name)

    def run(self, run_id: str) -> RunRecord | None:
        """Return a copy of a run's record."""
        self._expire()
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
        """Return the merged result of a variable; ``end`` is the monotonic time of the caller's timeout."""
        self._expire()
        with self._changed:
            group = self._groups.get(name)
            runs = [self._runs[run_id] for run_id in self._members.get(name, ())]
            merge = self._merges.setdefault(name, CustomMerge())
        if group is None:
            return AggregatedResult(variable_name=name)
        if not group.status.final:
            return AggregatedResult(name, group.strategy, count=group.ended, status=group.status)
        if group.strategy is MergeStrategy.CUSTOM:
            return merge.result(group, runs, end)
        # The runs are frozen, so this gives the same each time; a copy to be kept would double the memory.
        return merged_runs(group, runs)

    # Ending

    def close(self, name: str) -> None:
        """Refuse further runs for a variable."""
        with self._changed:
            if name in self._groups:
                self._groups[name] = replace(self._groups[name], closed=True)

    def clear(self, name: str | None = None) -> None:
        """Delete the group of a variable with its runs, or all groups and ended runs."""
        self._expire()
        with self._changed:
            cleared: list[str] = []
            for group_name in self._names() if name is None else (name,):
                self._groups.pop(group_name, None)
                self._group_deadlines.pop(group_name, None)
                cleared += self._members.pop(group_name, [])
            if name is None:
                ended = [run_id for run_id in self._runs if self._is_over(run_id)]
                cleared = list(dict.fromkeys((*cleared, *ended)))
            for run_id in cleared:
                del self._runs[run_id]
                self._late.pop(run_id, None)
            self._changed.notify_all()

    def shut_down(self) -> None:
        """Cancel the callables that have not begun; running ones continue."""
        with self._changed:
            futures = list(self._futures.values())
        for future in futures:
            future.cancel()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *ended_by: object) -> None:
        self.shut_down()


# The ``sessions_spawn`` protocol: requests and responses in camelCase (O-1, O-11, O-12)

_OWN: Final = ("task", "label", "collectInto", "mergeStrategy", "customFunction", "order")
_TIMEOUTS: Final = ("runTimeoutSeconds", "timeoutSeconds")
# Parameters for the host, handed to ``admit``
_HOST: Final = ("agentId", "model", "thinking", "cleanup", "skills", "sharedContext")
_NOTE: Final = "The result of each run is delivered on its own."


def sessions_spawn(session: SubagentSession, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Spawn the sub-agent of a request, and return the response.

    The response is ``{status, childSessionKey, runId, note, aggregationGroup}`` with status ``accepted`` or
    ``forbidden``; the note lists unknown parameters. Invalid parameters never raise: the response is ``{status:
    "error", error, code}``, and nothing is spawned.
    """
    seconds = next((parameters[key] for key in _TIMEOUTS if parameters.get(key) is not None), None)
    try:
        if isinstance(seconds, bool) or not isinstance(seconds, int | float | None):
            raise SpawnError("runTimeoutSeconds must be a number", code=Refusal.INVALID_TIMEOUT)
        handle = session.spawn(
            parameters.get("task"),
            label=_text(parameters, "label"),
            collect_into=parameters.get("collectInto"),
            merge_strategy=parameters.get("mergeStrategy"),
            custom_function=parameters.get("customFunction"),
            timeout=seconds or None,
            order=_text(parameters, "order"),
            options={key: parameters[key] for key in _HOST if key in parameters},
        )
    except SpawnError as error:
        return {"status": "error", "error": str(error), "code": error.code.value}
    response: dict[str, Any] = {
        "status": "accepted" if handle.refused is None else "forbidden",
        "childSessionKey": f"{session.session_key}:subagent:{handle.run_id}",
        "runId": handle.run_id,
        "note": _NOTE,
    }
    if handle.refused is not None:
        response["error"] = handle.refused
    if group := session.group(str(parameters.get("collectInto") or "").strip()):
        names = {"variableName": group.variable_name, "mergeStrategy": str(group.strategy)}
        response["aggregationGroup"] = names
    if ignored := [key for key in parameters if key not in (*_OWN, *_TIMEOUTS, *_HOST)]:
        response["note"] = f"{_NOTE} Not supported and ignored: {', '.join(ignored)}."
    return response


def _text(parameters: Mapping[str, Any], key: str) -> str | None:
    value = parameters.get(key)
    if value is not None and not isinstance(value, str):
        raise SpawnError(f"{key} must be a text", code=Refusal.INVALID_PARAMETER)
    return value
