"""Runs of sub-agents: records, queue before an executor, timeouts."""

import heapq
import logging
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import partial
from threading import TIMEOUT_MAX, Condition, Lock, Thread
from time import monotonic
from typing import Any, Protocol

from aggregate.base.values import Value

logger = logging.getLogger(__name__)


class RunStatus(StrEnum):
    """The state of one sub-agent's run."""

    PENDING = "pending"
    SUCCESS = "success"
    ERROR = "error"
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One sub-agent's run, with its output or error."""

    run_id: str  # unique within its session
    session_key: str  # the parent session
    variable_name: str | None = None  # its group, if any
    label: str | None = None
    status: RunStatus = RunStatus.PENDING
    output: Any = None  # ``None`` unless it succeeded
    error: str | None = None  # ``None`` unless it failed
    completed_at: datetime | None = None
    sequence: int = 0  # its position among the session's ended runs, from 1; 0 while it is pending

    @property
    def name(self) -> str:
        return self.label or self.run_id


class TaskRunner:
    """Passes queued tasks to an executor, ``most`` at a time.

    ``begin`` is called before a task starts and returns whether the task should run; ``end`` records its end.
    """

    def __init__(
        self,
        executor: Executor,
        most: int,
        begin: Callable[[str, float | None], bool],
        end: Callable[[str, RunStatus, Value], object],
    ) -> None:
        self._executor = executor
        self._most = most
        self._begin = begin
        self._end = end
        self._lock = Lock()
        self._queue: deque[tuple[str, Callable[[], Value], float | None]] = deque()
        self._active: dict[str, Future[Value] | None] = {}
        self._is_starting = False

    def submit(self, run_id: str, task: Callable[[], Value], seconds: float | None) -> None:
        """Start or queue a task; its timeout of ``seconds`` counts from its start."""
        with self._lock:
            self._queue.append((run_id, task, seconds))
        self._start_next()

    def release(self, run_id: str) -> None:
        """Stop counting a run as running, and cancel its task if that has not started."""
        with self._lock:
            if run_id not in self._active:
                return
            future = self._active.pop(run_id)
        if future is not None:
            future.cancel()
        self._start_next()

    def clear(self) -> list[str]:
        with self._lock:
            run_ids = [run_id for run_id, _, _ in self._queue]
            self._queue.clear()
            return run_ids

    def _start_next(self) -> None:
        """Start queued tasks up to the limit.

        They start in a loop, since an executor may run a task at once.
        """
        while True:
            with self._lock:
                if self._is_starting or len(self._active) >= self._most or not self._queue:
                    return
                self._is_starting = True
                run_id, task, seconds = self._queue.popleft()
                self._active[run_id] = None
            try:
                self._start(run_id, task, seconds)
            except Exception as error:  # noqa: BLE001 - a refusal by the executor fails the run (O-51)
                with self._lock:
                    self._active.pop(run_id, None)
                self._end(run_id, RunStatus.ERROR, error)
            finally:
                with self._lock:
                    self._is_starting = False

    def _start(self, run_id: str, task: Callable[[], Value], seconds: float | None) -> None:
        if not self._begin(run_id, seconds):
            with self._lock:
                self._active.pop(run_id, None)
            return
        future = self._executor.submit(task)
        with self._lock:
            if run_id in self._active:
                self._active[run_id] = future
        future.add_done_callback(partial(self._done, run_id))

    def _done(self, run_id: str, future: "Future[Value]") -> None:
        with self._lock:
            was_active = run_id in self._active
            self._active.pop(run_id, None)
        if future.cancelled():
            # A closing pool cancels under the lock of submit: nothing can start here.
            for lost in (run_id, *self.clear()) if was_active else ():
                reason = RuntimeError("the executor cancelled the task")
                self._end(lost, RunStatus.ERROR, reason)
            return
        if (error := future.exception()) is not None:
            self._end(run_id, RunStatus.ERROR, error)
        else:
            self._end(run_id, RunStatus.SUCCESS, future.result())
        self._start_next()


class Timers(Protocol):
    def call_later(self, seconds: float, action: Callable[[], None]) -> Callable[[], None]: ...


class TimerThread:
    """Timers in one daemon thread, which ends without timers."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._heap: list[tuple[float, int]] = []
        self._actions: dict[int, Callable[[], None]] = {}
        self._last_number = 0
        self._thread: Thread | None = None

    def call_later(self, seconds: float, action: Callable[[], None]) -> Callable[[], None]:
        with self._changed:
            self._last_number += 1
            number = self._last_number
            self._actions[number] = action
            heapq.heappush(self._heap, (monotonic() + seconds, number))
            if self._thread is None:
                self._thread = Thread(target=self._run, name="aggregate-deadlines", daemon=True)
                self._thread.start()
            elif self._heap[0][1] == number:
                self._changed.notify()
        return partial(self._cancel, number)

    def _cancel(self, number: int) -> None:
        with self._changed:
            self._actions.pop(number, None)
            if not self._actions:
                self._changed.notify()

    def _run(self) -> None:
        while (action := self._next()) is not None:
            try:
                action()
            except Exception:
                logger.exception("A timeout could not be recorded; other timeouts continue")

    def _next(self) -> Callable[[], None] | None:
        with self._changed:
            while self._actions:
                due, number = self._heap[0]
                if number in self._actions and due > (now := monotonic()):
                    self._changed.wait(min(due - now, TIMEOUT_MAX))
                    continue
                heapq.heappop(self._heap)
                if number in self._actions:
                    return self._actions.pop(number)
            self._heap.clear()
            self._thread = None
            return None
