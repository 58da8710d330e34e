"""Who waits for whom: threads that would wait for each other for ever get an error instead.

A run or a custom function may wait for another group. Where that group waits, through any number of others, for the
thread that begins to wait, none of them would ever go on. Whoever closes such a circle is refused, so that its run
or function fails and all others end. Sessions share this knowledge, because circles may lead through several.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock, get_ident
from typing import Final

from aggregate.base.errors import WaitError
from aggregate.base.values import Value

Threads = Callable[[], Iterable[int]]
"""Gives the ids of the threads that something needs at this moment."""


class WaitGraph:
    """The threads that wait, and what each of them needs."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._needs: dict[int, list[Threads]] = {}

    @contextmanager
    def waiting(self, need: Threads, name: str) -> Iterator[None]:
        """Note that this thread waits for ``need`` while the block runs.

        Raises:
            WaitError: ``need`` waits for this thread.
        """
        thread = get_ident()
        with self._lock:
            if self._leads_to(thread, need):
                raise WaitError(
                    f"{name} cannot be waited for here: what it needs waits for this very run or function in turn"
                )
            self._needs.setdefault(thread, []).append(need)
        try:
            yield
        finally:
            with self._lock:
                self._needs[thread].remove(need)
                if not self._needs[thread]:
                    del self._needs[thread]

    def _leads_to(self, thread: int, need: Threads) -> bool:
        """Return whether ``need`` waits for ``thread``, through any number of other threads."""
        pending = list(need())
        visited: set[int] = set()
        while pending:
            other = pending.pop()
            if other == thread:
                return True
            if other in visited:
                continue
            visited.add(other)
            for needed_threads in self._needs.get(other, ()):
                pending.extend(needed_threads())
        return False


WAIT_GRAPH: Final = WaitGraph()
"""The waits of this process: one graph for all sessions, because circles may lead through several."""

RunKey = tuple[int, str]
"""A session's number in this process and a run's id."""
_RUNNING: Final[dict[RunKey, int]] = {}
"""The thread of each run that is at work in this process, the innermost last.

It stands at the module's level since a task that is pickled cannot carry it. Each thread writes its own runs only, and
single operations of a dictionary are atomic: no lock is needed.
"""


@dataclass(frozen=True, slots=True)
class TrackedTask:
    """A task that notes in which thread it runs; it can be pickled where the task can."""

    task: Callable[[], Value]
    key: RunKey

    def __call__(self) -> Value:
        """Run the task."""
        _RUNNING[self.key] = get_ident()
        try:
            return self.task()
        finally:
            _RUNNING.pop(self.key, None)


def threads_of(keys: Iterable[RunKey]) -> list[int]:
    """Return the threads of this process in which runs are at work."""
    return [thread for key in keys if (thread := _RUNNING.get(key)) is not None]


def run_of_this_thread() -> RunKey | None:
    """Return the run that this thread is at work on, the innermost where an executor runs them inside each other."""
    thread = get_ident()
    return next((key for key, other in reversed(list(_RUNNING.items())) if other == thread), None)
