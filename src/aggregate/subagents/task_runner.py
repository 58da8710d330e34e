"""Run tasks on an executor, a bounded number at a time; the others wait in the order in which they came."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from threading import Lock, Thread, get_ident
from typing import Protocol

from aggregate.models.values import Value
from aggregate.subagents.deadlock import TrackedTask, threads_of


class RunEvents(Protocol):
    """Who is told of the runs."""

    def started(self, run_id: str) -> bool:
        """Hear that a run is about to start, and say whether it still should."""
        ...

    def finished(self, run_id: str, output: Value) -> None:
        """Hear that a run gave ``output``."""
        ...

    def broke(self, run_id: str, error: BaseException) -> None:
        """Hear that a run raised, or could not be started."""
        ...


class TaskRunner:
    """A queue in front of an executor."""

    def __init__(self, executor: Executor, max_concurrency: int, events: RunEvents, session: int) -> None:
        self._session = session
        self._executor = executor
        self._free = max_concurrency
        self._events = events
        self._lock = Lock()
        self._queue: deque[tuple[str, Callable[[], Value]]] = deque()
        self._active: dict[str, Future[Value] | None] = {}
        self._lent: set[str] = set()
        self._starting: int | None = None

    def submit(self, run_id: str, task: Callable[[], Value]) -> None:
        """Start ``task``, or queue it while all places are taken."""
        with self._lock:
            self._queue.append((run_id, task))
        self._start_next()

    def release(self, run_id: str) -> None:
        """Give up the place of a run that timed out; a task that has not begun is cancelled, a thread cannot be."""
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
            queued = tuple(run_id for run_id, _ in self._queue)
            self._queue.clear()
            return queued

    def _start_next(self) -> None:
        """Start queued tasks until no place is free; a loop, because an executor may run a task in this very call."""
        while (found := self._claim()) is not None:
            run_id, task = found
            try:
                if self._events.started(run_id):
                    self._start(run_id, task)
                else:
                    self._release_place(run_id)
            except BaseException as error:
                # Timers or an executor that fail make the run a failed one (rule O-51), also where the task itself
                # raised in this very call; only the user's wish to stop goes on.
                self._release_place(run_id)
                self._events.broke(run_id, error)
                if isinstance(error, KeyboardInterrupt):
                    raise
            finally:
                with self._lock:
                    self._starting = None

    def _claim(self) -> tuple[str, Callable[[], Value]] | None:
        with self._lock:
            if self._starting is not None or self._free <= 0 or not self._queue:
                return None
            self._starting = get_ident()
            self._free -= 1
            run_id, task = self._queue.popleft()
            self._active[run_id] = None
            return run_id, task

    def _start(self, run_id: str, task: Callable[[], Value]) -> None:
        future = self._executor.submit(TrackedTask(task, (self._session, run_id)))
        with self._lock:
            if run_id in self._active:
                self._active[run_id] = future
        future.add_done_callback(lambda done: self._done(run_id, done))

    def _done(self, run_id: str, future: "Future[Value]") -> None:
        had_place = self._release_place(run_id)
        if future.cancelled():
            if had_place:
                self._events.broke(run_id, RuntimeError("the executor cancelled the task"))
                self._start_next_elsewhere()
            return
        if (error := future.exception()) is not None:
            self._events.broke(run_id, error)
        else:
            self._events.finished(run_id, future.result())
        self._start_next()

    def _start_next_elsewhere(self) -> None:
        """Go on in another thread: a pool that is shut down cancels its futures while it holds the lock of submit."""
        try:
            Thread(target=self._start_next, name="aggregate-runner", daemon=True).start()
        except RuntimeError as error:  # the program ends: no thread can be started any more
            for run_id in self.clear():
                self._events.broke(run_id, error)

    def _release_place(self, run_id: str) -> bool:
        with self._lock:
            had_place = run_id in self._active
            if had_place:
                del self._active[run_id]
                self._give_back(run_id)
            return had_place

    def _give_back(self, run_id: str) -> None:
        """Count the place of a run that ended as free, unless it is lent and counted already."""
        if run_id in self._lent:
            self._lent.remove(run_id)
        else:
            self._free += 1

    @contextmanager
    def lent(self, run_id: str) -> Iterator[None]:
        """Lend the place of a run that waits: what it waits for may be queued behind it.

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
        wanted = set(run_ids)
        threads = threads_of((self._session, run_id) for run_id in wanted)
        with self._lock:
            if self._starting is not None and any(run_id in wanted for run_id, _ in self._queue):
                threads.append(self._starting)
        return threads
