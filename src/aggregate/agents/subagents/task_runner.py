"""Run tasks on an executor, a bounded number at a time; the others wait in the order in which they came."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from threading import Lock, Thread, get_ident

from aggregate.agents.subagents.completions import Completions
from aggregate.agents.subagents.deadlock import TrackedTask, threads_of
from aggregate.base.values import RunStatus, Value


@dataclass(frozen=True, slots=True)
class QueuedTask:
    """A task that waits for a slot, and how long it may take from its start."""

    run_id: str
    task: Callable[[], Value]
    seconds: float | None


class TaskRunner:
    """A queue in front of an executor; a run that is at work holds one of ``max_concurrency`` slots."""

    def __init__(
        self, executor: Executor, max_concurrency: int, completions: Completions, session: int
    ) -> None:
        self._session = session
        self._executor = executor
        self._free = max_concurrency
        self._completions = completions
        self._lock = Lock()
        self._queue: deque[QueuedTask] = deque()
        self._active: dict[str, Future[Value] | None] = {}
        self._lent: set[str] = set()
        self._starting: int | None = None

    def submit(self, run_id: str, task: Callable[[], Value], seconds: float | None) -> None:
        """Start ``task``, or queue it while all slots are taken; it may take ``seconds`` from its start."""
        with self._lock:
            self._queue.append(QueuedTask(run_id, task, seconds))
        self._start_next()

    def release(self, run_id: str) -> None:
        """Give up the slot of a run that timed out; a task that has not begun is cancelled, a thread cannot be."""
        with self._lock:
            if run_id not in self._active:
                return
            future = self._active.pop(run_id)
            self._give_back(run_id)
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
                    self._starting = None

    def _claim(self) -> QueuedTask | None:
        """Take the next task and a slot; ``None`` where there is none, or another thread starts tasks."""
        with self._lock:
            if self._starting is not None or self._free <= 0 or not self._queue:
                return None
            self._starting = get_ident()
            self._free -= 1
            queued = self._queue.popleft()
            self._active[queued.run_id] = None
            return queued

    def _start(self, queued: QueuedTask) -> None:
        run_id = queued.run_id
        future = self._executor.submit(TrackedTask(queued.task, (self._session, run_id)))
        with self._lock:
            if run_id in self._active:
                self._active[run_id] = future
        future.add_done_callback(lambda done: self._done(run_id, done))

    def _done(self, run_id: str, future: "Future[Value]") -> None:
        had_slot = self._free_slot(run_id)
        if future.cancelled():
            if had_slot:
                self._completions.fail(run_id, RuntimeError("the executor cancelled the task"))
                self._start_next_elsewhere()
            return
        error = future.exception()
        if error is not None:
            self._completions.fail(run_id, error)
        else:
            self._completions.end(run_id, RunStatus.SUCCESS, future.result())
        self._start_next()

    def _start_next_elsewhere(self) -> None:
        """Go on in another thread: a pool that is shut down cancels its futures while it holds the lock of submit."""
        try:
            Thread(target=self._start_next, name="aggregate-runner", daemon=True).start()
        except RuntimeError as error:  # the program ends: no thread can be started any more
            for run_id in self.clear():
                self._completions.fail(run_id, error)

    def _free_slot(self, run_id: str) -> bool:
        with self._lock:
            had_slot = run_id in self._active
            if had_slot:
                del self._active[run_id]
                self._give_back(run_id)
            return had_slot

    def _give_back(self, run_id: str) -> None:
        """Count the slot of a run that ended as free, unless it is lent and counted already."""
        if run_id in self._lent:
            self._lent.remove(run_id)
        else:
            self._free += 1

    @contextmanager
    def lent(self, run_id: str) -> Iterator[None]:
        """Lend the slot of a run that waits: what it waits for may be queued behind it.

        When it goes on, more than the permitted number may run until the next one ends.
        """
        with self._lock:
            lends = run_id in self._active and run_id not in self._lent
            if lends:
                self._lent.add(run_id)
                self._free += 1
        self._start_next()
        try:
            yield
        finally:
            with self._lock:
                if lends and run_id in self._lent:
                    self._lent.remove(run_id)
                    self._free -= 1

    def threads(self, run_ids: Iterable[str]) -> list[int]:
        """Return the threads that pending runs need: their own, and for those queued the one that is starting runs."""
        pending = set(run_ids)
        threads = threads_of((self._session, run_id) for run_id in pending)
        with self._lock:
            if self._starting is not None and any(
                queued.run_id in pending for queued in self._queue
            ):
                threads.append(self._starting)
        return threads
