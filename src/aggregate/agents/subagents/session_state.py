"""Everything a session knows of its groups and runs, behind one lock; waiters hear when something ends.

A group is ``pending`` until its first result, ``partial`` until its last, then ``complete``; a spawn opens a complete
group again. With ``FailurePolicy.FAIL`` the first failure ends it as ``failed`` (rules O-40..O-56).
"""

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum
from threading import RLock

from aggregate.agents.subagents.spawn_spec import SpawnSpec, group_for
from aggregate.base.errors import Refusal, SpawnError
from aggregate.base.values import (
    FailurePolicy,
    Group,
    GroupStatus,
    RunRecord,
    RunStatus,
    Value,
)


class CompletionStatus(Enum):
    """What became of a reported end of a run."""

    RECORDED = "recorded"
    LATE = "late"
    DUPLICATE = "duplicate"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A group and its runs in spawn order, at one moment."""

    group: Group
    runs: tuple[RunRecord, ...]


class SessionState:
    """The groups and runs of one session."""

    def __init__(
        self, session_key: str, on_error: FailurePolicy, new_id: Callable[[int], str]
    ) -> None:
        self._session_key = session_key
        self._on_error = on_error
        self._new_id = new_id
        # ``new_id`` and the ``__del__`` of a forgotten output run while it is held, and may call the session again.
        self._lock = RLock()
        self._groups: dict[str, Group] = {}
        self._members: dict[str, list[str]] = {}
        self._runs: dict[str, RunRecord] = {}
        self._late: dict[str, RunRecord] = {}
        self._waiters: dict[str, list[Future[None]]] = {}
        self._spawned = 0
        self._ended = 0

    @contextmanager
    def _ending_runs(self) -> "Iterator[list[Future[None]]]":
        """Hold the lock; the futures that are put into the list are set when it is free again."""
        waiters: list[Future[None]] = []
        with self._lock:
            yield waiters
        for future in waiters:
            if future.set_running_or_notify_cancel():
                future.set_result(None)

    def spawn(self, spec: SpawnSpec, label: str | None) -> tuple[RunRecord, Group | None]:
        """Add a run and return it with its group; nothing changes where the spawn is refused (rule O-47)."""
        with self._lock:
            name = spec.variable_name
            group = group_for(self._groups.get(name), spec, self._on_error) if name else None
            run_id = self._new_id(self._spawned + 1)
            if run_id in self._runs or run_id.startswith("$"):
                raise SpawnError(
                    f"{run_id} is taken: make run ids unique, without a leading $",
                    code=Refusal.INVALID_RUN_ID,
                )
            self._spawned += 1
            run = RunRecord(run_id, self._session_key, name, label)
            self._runs[run_id] = run
            if name and group:
                group = _with_run(group)
                self._groups[name] = group
                self._members.setdefault(name, []).append(run_id)
            return run, group

    def end(
        self, run_id: str, status: RunStatus, at: datetime, *, result: Value
    ) -> tuple[CompletionStatus, Group | None]:
        """Record the end of a run and return its group: the first end counts, one after a timeout is late (O-41)."""
        with self._ending_runs() as waiters:
            run = self._runs.get(run_id)
            if run is None:
                return CompletionStatus.UNKNOWN, None
            if run.status is RunStatus.PENDING:
                completion = self._record(run, status, at, result, waiters)
            else:
                completion = self._record_again(run, status, at, result)
            return completion, self._groups.get(run.variable_name or "")

    def expire(self, name: str, opened: int, at: datetime, *, reason: str) -> tuple[str, ...]:
        """End all pending runs of a group as timed out, if it is still as it was opened; return their ids (O-46)."""
        with self._ending_runs() as waiters:
            group = self._groups.get(name)
            if group is None or group.opened != opened or group.status.final:
                return ()
            runs = [self._runs[run_id] for run_id in self._members[name]]
            pending = [run for run in runs if run.status is RunStatus.PENDING]
            for run in pending:
                self._record(run, RunStatus.TIMEOUT, at, reason, waiters)
            return tuple(run.run_id for run in pending)

    def _record(
        self,
        run: RunRecord,
        status: RunStatus,
        at: datetime,
        result: Value,
        waiters: list["Future[None]"],
    ) -> CompletionStatus:
        """Record the first end of a run, and put whoever waits for it into ``waiters``."""
        self._ended += 1
        ended_run = _ended_run(run, status, at, self._ended, result)
        self._runs[run.run_id] = ended_run
        waiters.extend(self._waiters.pop(run.run_id, []))
        if run.variable_name is None:
            return CompletionStatus.RECORDED
        before = self._groups[run.variable_name]
        after = _with_result(before, ended_run)
        self._groups[run.variable_name] = after
        if before.status.final:
            if status is not RunStatus.TIMEOUT:
                self._late[run.run_id] = ended_run
            return CompletionStatus.LATE
        if after.status.final:
            waiters.extend(self._waiters.pop(run.variable_name, []))
        return CompletionStatus.RECORDED

    def _record_again(
        self, run: RunRecord, status: RunStatus, at: datetime, result: Value
    ) -> CompletionStatus:
        """Keep a result that comes after the run's timeout; any other second end changes nothing."""
        if (
            run.status is not RunStatus.TIMEOUT
            or status is RunStatus.TIMEOUT
            or run.run_id in self._late
        ):
            return CompletionStatus.DUPLICATE
        self._late[run.run_id] = _ended_run(run, status, at, run.sequence, result)
        return CompletionStatus.LATE

    def run(self, run_id: str) -> RunRecord | None:
        """Return what is known of a run."""
        with self._lock:
            return self._runs.get(run_id)

    def snapshot(self, name: str) -> Snapshot | None:
        """Return a group with its runs, ``None`` for a name that nothing was spawned into."""
        with self._lock:
            group = self._groups.get(name)
            if group is None:
                return None
            return Snapshot(group, tuple(self._runs[run_id] for run_id in self._members[name]))

    def group(self, name: str) -> Group | None:
        """Return a group without its runs."""
        with self._lock:
            return self._groups.get(name)

    def names(self) -> tuple[str, ...]:
        """Return the groups' names in the order in which they were opened first."""
        with self._lock:
            return tuple(self._groups)

    def late(self) -> tuple[RunRecord, ...]:
        """Return what arrived after its group, or its run, was over."""
        with self._lock:
            return tuple(self._late.values())

    def close(self, name: str) -> None:
        """Let no more runs into a group."""
        with self._lock:
            if name in self._groups:
                self._groups[name] = replace(self._groups[name], closed=True)

    def clear(self, name: str) -> None:
        """Forget a group and its runs; whoever waits for them goes on."""
        with self._ending_runs() as waiters:
            self._groups.pop(name, None)
            waiters.extend(self._waiters.pop(name, []))
            for run_id in self._members.pop(name, []):
                waiters.extend(self._forget(run_id))

    def clear_ungrouped(self) -> None:
        """Forget the ended runs that belong to no group."""
        with self._ending_runs() as waiters:
            for run in list(self._runs.values()):
                if run.variable_name is None and run.status is not RunStatus.PENDING:
                    waiters.extend(self._forget(run.run_id))

    def _forget(self, run_id: str) -> list["Future[None]"]:
        self._runs.pop(run_id)
        self._late.pop(run_id, None)
        return self._waiters.pop(run_id, [])

    def pending(self, key: str) -> tuple[str, ...]:
        """Return the ids of the unfinished runs that the run or group ``key`` waits for."""
        with self._lock:
            runs = [self._runs.get(run_id) for run_id in self._members.get(key, [key])]
            return tuple(
                run.run_id for run in runs if run is not None and run.status is RunStatus.PENDING
            )

    def change(self, key: str) -> "Future[None] | None":
        """Return a future that is set when the run or group ``key`` ends; ``None`` where nothing is awaited."""
        with self._lock:
            run, group = self._runs.get(key), self._groups.get(key)
            open_run = run is not None and run.status is RunStatus.PENDING
            if not open_run and (group is None or group.status.final):
                return None
            future: Future[None] = Future()
            waiting = [other for other in self._waiters.get(key, ()) if not other.cancelled()]
            self._waiters[key] = [*waiting, future]
            return future


def _with_run(group: Group) -> Group:
    """Return ``group`` with one run more; a complete group opens again and gives up its value (rule O-43)."""
    spawned = group.spawned + 1
    if not group.status.final:
        return replace(group, spawned=spawned)
    return replace(
        group,
        status=GroupStatus.PARTIAL if group.ended else GroupStatus.PENDING,
        spawned=spawned,
        opened=group.opened + 1,
        completed_at=None,
        last_sequence=0,
    )


def _with_result(group: Group, run: RunRecord) -> Group:
    """Return ``group`` after one of its runs has ended; a failed group only counts on (rules O-48, O-54)."""
    ended = group.ended + 1
    if group.status is GroupStatus.FAILED:
        return replace(group, ended=ended)
    fails = group.on_error is FailurePolicy.FAIL and run.status is not RunStatus.SUCCESS
    if not fails and ended < group.spawned:
        return replace(group, status=GroupStatus.PARTIAL, ended=ended)
    return replace(
        group,
        status=GroupStatus.FAILED if fails else GroupStatus.COMPLETE,
        ended=ended,
        completed_at=run.completed_at,
        last_sequence=run.sequence,
    )


def _ended_run(
    run: RunRecord, status: RunStatus, at: datetime, sequence: int, result: Value
) -> RunRecord:
    """Return ``run`` after its end; ``sequence`` is its place among the session's ended runs."""
    output, error = (result, None) if status is RunStatus.SUCCESS else (None, str(result))
    return replace(
        run, status=status, output=output, error=error, completed_at=at, sequence=sequence
    )
