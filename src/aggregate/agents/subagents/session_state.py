"""Everything a session knows of its groups and runs, behind one lock: their ends, their timeouts, who waits for them.

A group is ``pending`` until its first result, ``partial`` until its last, then ``complete``; a spawn opens a complete
group again. With ``FailurePolicy.FAIL`` the first failure ends it as ``failed`` (rules O-40..O-56).
"""

import logging
from collections.abc import Callable, Hashable, Iterable
from concurrent.futures import Future, wait
from dataclasses import replace
from datetime import datetime
from threading import RLock
from typing import Final, Protocol

from aggregate.agents.subagents.spawn_spec import MOST_SECONDS, SpawnSpec, group_for
from aggregate.base.errors import Refusal, SpawnError
from aggregate.base.values import (
    FailurePolicy,
    Group,
    GroupStatus,
    RunRecord,
    RunStatus,
    Value,
    failure_text,
    isolated_copy,
    unawaited,
)

logger: Final = logging.getLogger(__name__)


class Timers(Protocol):
    def call_later(self, seconds: float, action: Callable[[], None]) -> Callable[[], None]: ...


class SessionState:
    """The groups and runs of one session; ``timed_out`` is told of each run that took too long."""

    def __init__(
        self,
        session_key: str,
        on_error: FailurePolicy,
        new_id: Callable[[int], str],
        clock: Callable[[], datetime],
        timers: Timers,
    ) -> None:
        self._session_key = session_key
        self._on_error = on_error
        self._new_id = new_id
        self._clock = clock
        self._timers = timers
        self.timed_out: Callable[[str], None] = lambda run_id: None
        # Again from the same thread: ``new_id``, the ``__del__`` of a forgotten output, timers that fire at once.
        self._lock = RLock()
        self._groups: dict[str, Group] = {}
        self._members: dict[str, list[str]] = {}
        self._runs: dict[str, RunRecord] = {}
        self._late: dict[str, RunRecord] = {}
        self._waiting: dict[str, Future[None]] = {}
        self._cancellations: dict[Hashable, Callable[[], None]] = {}
        self._spawned = 0
        self._ended = 0

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
                group = replace(group, spawned=group.spawned + 1)
                if group.status.final:  # it opens again and gives up its value (rule O-43)
                    group = replace(
                        group,
                        status=GroupStatus.PARTIAL if group.ended else GroupStatus.PENDING,
                        opened=group.opened + 1,
                        completed_at=None,
                        last_sequence=0,
                    )
                self._groups[name] = group
                self._members.setdefault(name, []).append(run_id)
            return run, group

    def fail(self, run_id: str, error: object) -> bool:
        return self.end(run_id, RunStatus.ERROR, failure_text(error))

    def end(self, run_id: str, status: RunStatus, result: Value) -> bool:
        """Record one end; log the one that changes nothing and return ``False`` for it (rules O-41, O-42, O-46)."""
        if refused := unawaited(result):
            result, status = refused, RunStatus.ERROR
        result = isolated_copy(result)
        with self._lock:
            became = self._record(run_id, status, self._clock(), result)
        if became != "recorded":
            logger.warning(
                "%s: this %s result is %s, the value stays as it is", run_id, status, became
            )
        if status is RunStatus.TIMEOUT:
            self.timed_out(run_id)
        return became == "recorded"

    def _record(self, run_id: str, status: RunStatus, at: datetime, result: Value) -> str:
        run = self._runs.get(run_id)
        if run is None:
            return "unknown"
        is_first = run.status is RunStatus.PENDING
        self._ended += is_first
        output, error = (result, None) if status is RunStatus.SUCCESS else (None, str(result))
        ended_run = replace(
            run,
            status=status,
            output=output,
            error=error,
            completed_at=at,
            sequence=self._ended if is_first else run.sequence,
        )
        if not is_first:
            after_timeout = run.status is RunStatus.TIMEOUT and status is not RunStatus.TIMEOUT
            if not after_timeout or run_id in self._late:
                return "duplicate"
            self._late[run_id] = ended_run
            return "late"
        self._runs[run_id] = ended_run
        self._leave(run_id)
        before = self._groups.get(run.variable_name or "")
        if before is None:
            return "recorded"
        after = _with_result(before, ended_run)
        self._groups[after.variable_name] = after
        if before.status.final:
            if status is not RunStatus.TIMEOUT:
                self._late[run_id] = ended_run
            return "late"
        if after.status.final:
            self._leave(after.variable_name)
            self._cancel((after.variable_name, after.opened))
        return "recorded"

    def _leave(self, key: str) -> None:
        """Let those go on who wait for a run or group, and time it out no longer."""
        self._cancel(key)
        if waiting := self._waiting.pop(key, None):
            waiting.set_result(None)

    # Timeouts

    def watch_run(self, run_id: str, seconds: float) -> None:
        late = f"timeout after {seconds:g} s"
        self._watch(run_id, seconds, lambda: self.end(run_id, RunStatus.TIMEOUT, late))

    def watch_group(self, group: Group, seconds: float) -> None:
        """Time out what is unfinished ``seconds`` after the group was opened (rule O-46)."""
        name, opened = group.variable_name, group.opened
        reason = f"timeout: the group was open for {seconds:g} s"

        def expire() -> None:
            with self._lock:
                group = self._groups.get(name)
                if group is None or group.opened != opened or group.status.final:
                    return
                unfinished = self.unfinished(name)
                for run_id in unfinished:
                    self._record(run_id, RunStatus.TIMEOUT, self._clock(), reason)
            for run_id in unfinished:
                self.timed_out(run_id)

        self._watch((name, opened), seconds, expire)

    def _watch(self, key: Hashable, seconds: float, action: Callable[[], object]) -> None:
        def fire() -> None:
            with self._lock:
                self._cancellations.pop(key, None)
            action()

        with self._lock:
            if key not in self._cancellations:
                self._cancellations[key] = self._timers.call_later(seconds, fire)

    def _cancel(self, key: Hashable) -> None:
        if cancel := self._cancellations.pop(key, None):
            cancel()

    # What is known, and who waits for it

    def run(self, run_id: str) -> RunRecord | None:
        with self._lock:
            run = self._runs.get(run_id)
        return run and _reader_copy(run)

    def late(self) -> tuple[RunRecord, ...]:
        with self._lock:
            late = tuple(self._late.values())
        return tuple(map(_reader_copy, late))

    def snapshot(self, name: str) -> tuple[Group, list[RunRecord]] | None:
        with self._lock:
            group = self._groups.get(name)
            runs = [self._runs[run_id] for run_id in self._members.get(name, ())]
            return (group, runs) if group else None

    def group(self, name: str) -> Group | None:
        return self._groups.get(name)

    def names(self) -> tuple[str, ...]:
        with self._lock:
            return tuple(self._groups)

    def unfinished(self, key: str) -> list[str]:
        with self._lock:
            runs = [self._runs.get(run_id) for run_id in self._members.get(key, [key])]
            return [run.run_id for run in runs if run and run.status is RunStatus.PENDING]

    def wait(self, keys: Iterable[str], timeout: float | None) -> bool:
        seconds = None if timeout is None else min(timeout, MOST_SECONDS)
        changes = []
        with self._lock:
            for key in keys:
                group = self._groups.get(key)
                if group.status.final if group else not self.unfinished(key):
                    continue
                if key not in self._waiting:
                    self._waiting[key] = Future()
                    # Many wait for it: one that gives up cannot cancel it for the others.
                    self._waiting[key].set_running_or_notify_cancel()
                changes.append(self._waiting[key])
        return not wait(changes, seconds).not_done

    # Forgetting

    def close(self, name: str) -> None:
        with self._lock:
            if name in self._groups:
                self._groups[name] = replace(self._groups[name], closed=True)

    def clear(self, name: str) -> None:
        with self._lock:
            if group := self._groups.pop(name, None):
                self._cancel((name, group.opened))
                self._leave(name)
                self._forget(self._members.pop(name))

    def clear_ungrouped(self) -> None:
        with self._lock:
            runs = [run for run in self._runs.values() if run.variable_name is None]
            self._forget(run.run_id for run in runs if run.status is not RunStatus.PENDING)

    def _forget(self, run_ids: Iterable[str]) -> None:
        for run_id in run_ids:
            del self._runs[run_id]
            self._late.pop(run_id, None)
            self._leave(run_id)


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


def _reader_copy(run: RunRecord) -> RunRecord:
    return replace(run, output=isolated_copy(run.output))
