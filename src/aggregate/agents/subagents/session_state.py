"""Everything a session knows of its groups and runs, behind one lock: their ends, their timeouts, who waits for them.

A group is ``pending`` until its first result, ``partial`` until its last, then ``complete``; a spawn opens a complete
group again. With ``FailurePolicy.FAIL`` the first failure ends it as ``failed`` (rules O-40..O-56). What a caller asks
for is checked before anything is spawned: names, strategies, functions, and the group that they go into.
"""

import logging
from collections.abc import Callable, Hashable, Iterable
from concurrent.futures import Future, wait
from dataclasses import dataclass, replace
from datetime import datetime
from threading import RLock
from typing import Any, Final, NoReturn, Protocol

from aggregate.agents.results import CustomFunction
from aggregate.agents.results.merge import SHOWN, VARIABLE, known_strategy
from aggregate.agents.subagents.runs import FailurePolicy, Group, MergeOrder, RunRecord, RunStatus
from aggregate.base.errors import Refusal, SpawnError
from aggregate.base.json_forms import failure_text, message_text
from aggregate.base.messages import shorten
from aggregate.base.values import Value, isolated_copy, unawaited
from aggregate.prompt.results import GroupStatus, MergeStrategy

# Thirty years: a longer timeout is as good as none, and no clock can add up any number
MOST_SECONDS: Final = 1e9


@dataclass(frozen=True, slots=True)
class SpawnSpec:
    variable_name: str | None = None
    strategy: MergeStrategy | None = None
    custom_function: CustomFunction | None = None
    order: MergeOrder | None = None


def read_spawn_spec(
    collect_into: object, merge_strategy: object, custom_function: Value, order: str | None = None
) -> SpawnSpec:
    """Validate the group's part of a spawn; spaces around names are ignored, empty means absent (rules O-20 to O-25).

    Raises:
        SpawnError: With the code that names the parameter at fault.
    """
    function: CustomFunction | None = custom_function
    if isinstance(function, str):
        function = function if function.strip() else None
    elif function is not None and not callable(function):
        _refuse("customFunction must be a callable or a text", Refusal.INVALID_CUSTOM_FUNCTION)
    name = _variable(collect_into)
    is_absent = merge_strategy is None or not str(merge_strategy).strip()
    strategy = None if is_absent else known_strategy(merge_strategy)
    if name is None and (strategy or function or order):
        _refuse("mergeStrategy and customFunction need collectInto", Refusal.MISSING_COLLECT_INTO)
    if function is not None and strategy not in (None, MergeStrategy.CUSTOM):
        reason = f'customFunction needs mergeStrategy "custom", not "{strategy}"'
        _refuse(reason, Refusal.INVALID_CUSTOM_FUNCTION)
    try:
        chosen_order = MergeOrder(order) if order else None
    except ValueError:
        shown = shorten(message_text(order), SHOWN)
        _refuse(f"order must be one of {', '.join(MergeOrder)}, not {shown}", Refusal.INVALID_ORDER)
    return SpawnSpec(name, MergeStrategy.CUSTOM if function else strategy, function, chosen_order)


def _refuse(reason: str, code: Refusal) -> NoReturn:
    raise SpawnError(reason, code=code)


def _variable(collect_into: object) -> str | None:
    if collect_into is None or (isinstance(collect_into, str) and not collect_into.strip()):
        return None
    code = Refusal.INVALID_COLLECT_INTO
    if not isinstance(collect_into, str):
        _refuse('collectInto must be a text such as "$research"', code)
    name = collect_into.strip()
    if not name.startswith("$"):
        _refuse('collectInto must start with "$" (e.g., "$research")', code)
    if not VARIABLE.fullmatch(name):
        what = '"$" and a name of letters, digits and "_" (e.g., "$research")'
        _refuse(f"collectInto must be {what}", code)
    return name


def group_for(group: Group | None, spec: SpawnSpec, on_error: FailurePolicy) -> Group:
    """Return the group that the spawn goes into: a new one, or ``group`` where the spawn agrees with it (rule O-47)."""
    function = spec.custom_function
    if group is None:
        strategy = spec.strategy or MergeStrategy.CONCAT
        if strategy is MergeStrategy.CUSTOM and function is None:
            reason = 'mergeStrategy "custom" needs customFunction'
            _refuse(reason, Refusal.MISSING_CUSTOM_FUNCTION)
        order = spec.order or MergeOrder.SPAWN
        return Group(str(spec.variable_name), strategy, function, order=order, on_error=on_error)
    name = group.variable_name
    agreements = {
        "mergeStrategy": spec.strategy in (None, group.strategy),
        "customFunction": function is None or same_code(function, group.custom_function),
        "order": spec.order in (None, group.order),
    }
    for what, agrees in agreements.items():
        if not agrees:
            reason = f"{name} already has another {what}: leave it out or use another name"
            _refuse(reason, Refusal.MERGE_STRATEGY_CONFLICT)
    if group.closed:
        _refuse(f"{name} is closed: clear it or use another name", Refusal.GROUP_CLOSED)
    if group.status is GroupStatus.FAILED:
        _refuse(f"{name} has failed: clear it or use another name", Refusal.GROUP_FAILED)
    return group


def same_code(left: Any, right: Any) -> bool:  # noqa: ANN401 - a callable of any kind, or a text
    """Return whether two functions are equal, or made by the same lambda or ``def`` with the same captured values."""
    if isinstance(left, str) and isinstance(right, str):
        return left.strip() == right.strip()
    if not hasattr(left, "__code__") or not hasattr(right, "__code__"):
        return bool(left == right)
    parts = ("__code__", "__defaults__", "__kwdefaults__", "__closure__")
    return all(getattr(left, part, None) == getattr(right, part, None) for part in parts)


def read_timeout(timeout: float | None) -> float | None:
    if timeout is not None and not timeout > 0:
        reason = f"a timeout must be more than 0 seconds, not {timeout!r}"
        _refuse(reason, Refusal.INVALID_TIMEOUT)
    return timeout and min(timeout, MOST_SECONDS)


def read_failure_policy(value: FailurePolicy | str) -> FailurePolicy:
    try:
        return FailurePolicy(value)
    except ValueError:
        reason = f"on_error must be one of {', '.join(FailurePolicy)}, not {value!r}"
        _refuse(reason, Refusal.INVALID_ON_ERROR)


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
