"""Run tasks on an executor, a bounded number at a time, and wait for them, in threads and in event loops."""

import asyncio
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, TimeoutError as FutureTimeoutError
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import partial
from threading import TIMEOUT_MAX, Lock
from time import monotonic
from typing import Final

from aggregate.agents.subagents.completions import Completions
from aggregate.agents.subagents.session_state import SessionState
from aggregate.base.errors import WaitError
from aggregate.base.values import RunRecord, RunStatus, Value, isolated_copy

_CURRENT: Final[ContextVar[tuple[int, str] | None]] = ContextVar("run", default=None)
"""The runner, by its id, and the run that this thread or event loop is at work on."""


@dataclass(frozen=True, slots=True)
class _TrackedTask:
    """A task that knows its run while it runs; it can be pickled where the task can."""

    task: Callable[[], Value]
    run: tuple[int, str]

    def __call__(self) -> Value:
        before = _CURRENT.set(self.run)
        try:
            return self.task()
        finally:
            _CURRENT.reset(before)


@dataclass(frozen=True, slots=True)
class _QueuedTask:
    """A task that waits for a slot, and how long it may take from its start."""

    run_id: str
    task: Callable[[], Value]
    seconds: float | None


class TaskRunner:
    """A queue in front of an executor; a run that is at work holds one of ``max_concurrency`` slots."""

    def __init__(self, executor: Executor, max_concurrency: int, completions: Completions) -> None:
        self._executor = executor
        self._free = max_concurrency
        self._completions = completions
        self._lock = Lock()
        self._queue: deque[_QueuedTask] = deque()
        self._active: dict[str, Future[Value] | None] = {}
        self._lent: set[str] = set()
        self._is_starting = False

    def submit(self, run_id: str, task: Callable[[], Value], seconds: float | None) -> None:
        """Start ``task``, or queue it while all slots are taken; it may take ``seconds`` from its start."""
        with self._lock:
            self._queue.append(_QueuedTask(run_id, task, seconds))
        self._start_next()

    def release(self, run_id: str) -> None:
        """Give up the slot of a run that timed out; a task that has not begun is cancelled, a thread cannot be."""
        with self._lock:
            future = self._active.get(run_id)
        if self._free_slot(run_id):
            if future is not None:
                future.cancel()
            self._start_next()

    def clear(self) -> tuple[str, ...]:
        """Forget what is queued and return the runs' ids."""
        with self._lock:
            run_ids = tuple(queued.run_id for queued in self._queue)
            self._queue.clear()
            return run_ids

    def _start_next(self) -> None:
        """Start queued tasks until no slot is free; a loop, because an executor may run a task in this very call."""
        while (queued := self._claim()) is not None:
            run_id = queued.run_id
            try:
                if self._completions.begin(run_id, queued.seconds, partial(self.release, run_id)):
                    self._start(queued)
                else:
                    self._free_slot(run_id)
            except BaseException as error:
                # Timers or an executor that fail make the run a failed one (rule O-51), also where the task itself
                # raised in this very call; only the user's request to stop goes on.
                self._free_slot(run_id)
                self._completions.fail(run_id, error)
                if isinstance(error, KeyboardInterrupt):
                    raise
            finally:
                with self._lock:
                    self._is_starting = False

    def _claim(self) -> _QueuedTask | None:
        """Take the next task and a slot; ``None`` where there is none, or another thread starts tasks."""
        with self._lock:
            if self._is_starting or self._free <= 0 or not self._queue:
                return None
            self._is_starting = True
            self._free -= 1
            queued = self._queue.popleft()
            self._active[queued.run_id] = None
            return queued

    def _start(self, queued: _QueuedTask) -> None:
        run_id = queued.run_id
        future = self._executor.submit(_TrackedTask(queued.task, (id(self), run_id)))
        with self._lock:
            if run_id in self._active:
                self._active[run_id] = future
        future.add_done_callback(lambda done: self._done(run_id, done))

    def _done(self, run_id: str, future: "Future[Value]") -> None:
        had_slot = self._free_slot(run_id)
        if future.cancelled():
            if had_slot:
                # A pool that is shut down cancels while it holds the lock of submit: nothing can be started here.
                error = RuntimeError("the executor cancelled the task")
                for lost in (run_id, *self.clear()):
                    self._completions.fail(lost, error)
            return
        error_of_task = future.exception()
        if error_of_task is not None:
            self._completions.fail(run_id, error_of_task)
        else:
            self._completions.end(run_id, RunStatus.SUCCESS, future.result())
        self._start_next()

    def _free_slot(self, run_id: str) -> bool:
        """Count the slot of a run that ended as free, unless it is lent and counted already."""
        with self._lock:
            if run_id not in self._active:
                return False
            del self._active[run_id]
            if run_id in self._lent:
                self._lent.remove(run_id)
            else:
                self._free += 1
            return True

    @property
    def current_run(self) -> str | None:
        """The run of this session that is waiting here, ``None`` elsewhere."""
        runner, run_id = _CURRENT.get() or (0, None)
        return run_id if runner == id(self) else None

    @contextmanager
    def lent_slot(self) -> Iterator[None]:
        """Lend the slot of the run that waits here: what it waits for may be queued behind it.

        When it goes on, more than the permitted number may run until the next one ends.
        """
        run_id = self.current_run
        with self._lock:
            lends = run_id in self._active and run_id not in self._lent
            if run_id is not None and lends:
                self._lent.add(run_id)
                self._free += 1
        if lends:
            self._start_next()
        try:
            yield
        finally:
            with self._lock:
                if run_id is not None and lends and run_id in self._lent:
                    self._lent.remove(run_id)
                    self._free -= 1


class Waiter:
    """Waits until runs or groups have ended; keys are run ids and variable names."""

    def __init__(self, state: SessionState, runner: TaskRunner | None) -> None:
        self._state = state
        self._runner = runner
        self._process = os.getpid()

    def require_own_process(self) -> None:
        """Refuse to wait in a forked child, where the threads that would end the runs do not exist.

        Raises:
            WaitError: This is another process than the one that made the session.
        """
        if os.getpid() != self._process:
            raise WaitError(
                "the session belongs to the process that made it: make another one in a forked child"
            )

    def wait(self, keys: Iterable[str], timeout: float | None) -> bool:
        """Block until all have ended and return ``True``, or ``False`` after ``timeout`` seconds.

        Raises:
            WaitError: A run waits for itself, or this is a forked child.
        """
        deadline = _deadline(timeout)
        for key in keys:
            while (change := self._change(key, timeout)) is not None:
                try:
                    with self._lent_slot():
                        change.result(_remaining(deadline))
                except FutureTimeoutError:
                    return False
                finally:
                    change.cancel()
        return True

    async def wait_async(self, keys: Iterable[str], timeout: float | None) -> bool:
        """Do what ``wait`` does, without blocking the event loop."""
        deadline = _deadline(timeout)
        for key in keys:
            while (change := self._change(key, timeout)) is not None:
                try:
                    with self._lent_slot():
                        await asyncio.wait_for(asyncio.wrap_future(change), _remaining(deadline))
                except TimeoutError:
                    return False
                finally:
                    change.cancel()
        return True

    def _change(self, key: str, timeout: float | None) -> "Future[None] | None":
        self.require_own_process()
        waiting = self._runner and self._runner.current_run
        if waiting and timeout is None and waiting in self._state.pending(key):
            raise WaitError(f"{key} cannot be waited for here: it waits for this very run")
        return self._state.change(key)

    @contextmanager
    def _lent_slot(self) -> Iterator[None]:
        if self._runner is None:
            yield
        else:
            with self._runner.lent_slot():
                yield

    def run(self, run_id: str) -> RunRecord:
        """Return a run's record; a run that was cleared reads as failed."""
        cleared = RunRecord(run_id, "", status=RunStatus.ERROR, error="the run was cleared")
        return record_copy(self._state.run(run_id) or cleared)


def record_copy(run: RunRecord) -> RunRecord:
    """Return a record whose output is the reader's: changing it changes no result."""
    return replace(run, output=isolated_copy(run.output))


def _deadline(timeout: float | None) -> float | None:
    return None if timeout is None else monotonic() + timeout


def _remaining(deadline: float | None) -> float | None:
    return None if deadline is None else min(max(0.0, deadline - monotonic()), TIMEOUT_MAX)


class RunHandle:
    """One spawned run: its id, and its record when it has ended."""

    def __init__(self, run_id: str, waiter: Waiter, *, refused: str | None = None) -> None:
        self.run_id = run_id
        self.refused = refused
        self._waiter = waiter

    def __repr__(self) -> str:
        return f"RunHandle({self.run_id!r})"

    def done(self) -> bool:
        """Return whether the run has ended."""
        return self._waiter.run(self.run_id).status is not RunStatus.PENDING

    def result(self, timeout: float | None = None) -> RunRecord:
        """Wait for the end of the run and return its record, whether it succeeded or not.

        Raises:
            TimeoutError: It has not ended after ``timeout`` seconds.
        """
        if not self._waiter.wait((self.run_id,), timeout):
            raise TimeoutError(f"{self.run_id} has not ended after {timeout:g} s")
        return self._waiter.run(self.run_id)

    async def result_async(self, timeout: float | None = None) -> RunRecord:
        """Do what ``result`` does, without blocking the event loop."""
        if not await self._waiter.wait_async((self.run_id,), timeout):
            raise TimeoutError(f"{self.run_id} has not ended after {timeout:g} s")
        return self._waiter.run(self.run_id)
