"""Ends of runs: reported by the host, by the executor or by a timeout, all recorded in one way."""

import heapq
import logging
from collections.abc import Callable, Hashable
from datetime import UTC, datetime
from threading import TIMEOUT_MAX, Condition, RLock, Thread
from time import monotonic
from typing import Final, Protocol

from aggregate.agents.subagents.session_state import CompletionStatus, SessionState
from aggregate.base.values import Group, RunStatus, Value, failure_text, isolated_copy, unawaited

logger: Final = logging.getLogger(__name__)


class Timers(Protocol):
    """What a session needs of a clock that ticks."""

    def call_later(self, seconds: float, action: Callable[[], None]) -> Callable[[], None]:
        """Call ``action`` after ``seconds``, from any thread, and return a function that cancels it."""
        ...


class Completions:
    """Records ends with their time and keeps the timeouts of one session, each by its key."""

    def __init__(self, state: SessionState, clock: Callable[[], datetime], timers: Timers) -> None:
        self._state = state
        self._clock = clock
        self._timers = timers
        self._lock = RLock()  # timers may call the action before they return
        self._cancellations: dict[Hashable, Callable[[], None]] = {}

    def begin(self, run_id: str, seconds: float | None, expired: Callable[[], None]) -> bool:
        """Begin the timeout of a run that was queued; one that has ended meanwhile does not start: ``False``."""
        run = self._state.run(run_id)
        if run is None or run.status is not RunStatus.PENDING:
            return False
        if seconds is not None:
            self.watch_run(run_id, seconds, expired)
        return True

    def fail(self, run_id: str, error: object) -> bool:
        """Record why a run failed; ``False`` where it changes nothing."""
        return self.end(run_id, RunStatus.ERROR, failure_text(error))

    def end(self, run_id: str, status: RunStatus, result: Value) -> bool:
        """Record one end; log the one that changes nothing and return ``False`` for it (rules O-41, O-42, O-46)."""
        if refused := unawaited(result):
            result, status = refused, RunStatus.ERROR
        try:
            result = isolated_copy(result)
        except BaseException as error:  # noqa: BLE001 - foreign code runs here, and the run has to end
            status, result = RunStatus.ERROR, f"the output cannot be copied: {failure_text(error)}"
        became, group = self._state.end(run_id, status, self._now(), result=result)
        self._cancel(run_id)
        if group is not None and group.status.final:
            self.unwatch(group)
        if became is not CompletionStatus.RECORDED:
            logger.warning(
                "%s: this %s result is %s, the value stays as it is", run_id, status, became.value
            )
        return became is CompletionStatus.RECORDED

    def _now(self) -> datetime:
        """Return the host's time; a clock that fails must not keep a run from ending."""
        try:
            return self._clock()
        except BaseException as error:  # noqa: BLE001 - foreign code
            logger.warning(
                "the session's clock failed, the system's is used: %s", failure_text(error)
            )
            return datetime.now(UTC)

    def watch_run(
        self, run_id: str, seconds: float, expired: Callable[[], None] | None = None
    ) -> None:
        """Time a run out after ``seconds`` and then call ``expired``."""

        def expire() -> None:
            self.end(run_id, RunStatus.TIMEOUT, f"timeout after {seconds:g} s")
            if expired is not None:
                expired()

        self._watch(run_id, seconds, expire)

    def watch_group(
        self, group: Group, seconds: float, expired: Callable[[tuple[str, ...]], None]
    ) -> None:
        """Time out what is unfinished ``seconds`` after the group was opened and tell ``expired`` the runs' ids."""
        name, opened = group.variable_name, group.opened

        def expire() -> None:
            late = f"timeout: the group was open for {seconds:g} s"
            run_ids = self._state.expire(name, opened, self._now(), reason=late)
            for run_id in run_ids:
                self._cancel(run_id)
            expired(run_ids)

        self._watch((name, opened), seconds, expire)

    def unwatch(self, group: Group, run_ids: tuple[str, ...] = ()) -> None:
        """Watch a group, and these of its runs, no longer."""
        for key in ((group.variable_name, group.opened), *run_ids):
            self._cancel(key)

    def _watch(self, key: Hashable, seconds: float, action: Callable[[], None]) -> None:

        def fire() -> None:
            with self._lock:
                self._cancellations.pop(key, None)
            action()

        with self._lock:
            if key not in self._cancellations:
                self._cancellations[key] = self._timers.call_later(seconds, fire)

    def _cancel(self, key: Hashable) -> None:
        with self._lock:
            cancel = self._cancellations.pop(key, None)
        if cancel is not None:
            cancel()


class TimerThread:
    """Timers on one daemon thread for any number of deadlines; it ends when nothing is left to wait for."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._heap: list[tuple[float, int]] = []
        self._actions: dict[int, Callable[[], None]] = {}
        self._last_number = 0
        self._thread: Thread | None = None

    def call_later(self, seconds: float, action: Callable[[], None]) -> Callable[[], None]:
        """Call ``action`` after ``seconds`` and return a function that cancels it."""
        with self._changed:
            self._last_number += 1
            number = self._last_number
            self._actions[number] = action
            heapq.heappush(self._heap, (monotonic() + seconds, number))
            if self._thread is None:
                thread = Thread(target=self._run, name="aggregate-deadlines", daemon=True)
                thread.start()
                self._thread = thread
            elif self._heap[0][1] == number:
                self._changed.notify()
        return lambda: self._cancel(number)

    def _cancel(self, number: int) -> None:
        with self._changed:
            if self._actions.pop(number, None) is not None and not self._actions:
                self._heap.clear()
                self._changed.notify()

    def _run(self) -> None:
        while (action := self._next()) is not None:
            try:
                action()
            except BaseException:
                # Also SystemExit, which would end this thread and with it every other timeout.
                logger.exception("A timeout could not be recorded; the other timeouts go on")

    def _next(self) -> Callable[[], None] | None:
        with self._changed:
            while self._actions:
                due, number = self._heap[0]
                if number not in self._actions:
                    heapq.heappop(self._heap)
                elif due <= (now := monotonic()):
                    heapq.heappop(self._heap)
                    return self._actions.pop(number)
                else:
                    self._changed.wait(min(due - now, TIMEOUT_MAX))
            self._heap.clear()
            self._thread = None
            return None
