"""Call something later: one thread for any number of deadlines, none while there are no deadlines."""

import heapq
import logging
from collections.abc import Callable, Hashable
from threading import Condition, RLock, Thread
from time import monotonic
from typing import Final, Protocol

logger: Final = logging.getLogger(__name__)

LONGEST: Final = 3600.0
"""Seconds of one wait: a thread cannot wait for a time without end, so later deadlines are looked at in steps."""


class Timers(Protocol):
    """What a session needs of a clock that ticks."""

    def call_later(self, seconds: float, action: Callable[[], None]) -> Callable[[], None]:
        """Call ``action`` after ``seconds``, from any thread, and return a function that cancels it."""
        ...


class TimerThread:
    """Timers on one daemon thread, which ends when nothing is left to wait for."""

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
                self._start()
            elif self._heap[0][1] == number:
                self._changed.notify()
        return lambda: self._cancel(number)

    def _start(self) -> None:
        self._thread = Thread(target=self._run, name="aggregate-deadlines", daemon=True)
        try:
            self._thread.start()
        except RuntimeError:  # the machine has no thread left; the next deadline tries again
            self._thread = None
            raise

    def _cancel(self, number: int) -> None:
        with self._changed:
            if self._actions.pop(number, None) is not None and not self._actions:
                self._heap.clear()
                self._changed.notify()

    def _run(self) -> None:
        while (action := self._next()) is not None:
            try:
                action()
            except (
                BaseException
            ):  # also SystemExit, which would end this thread and with it every other timeout
                logger.exception("A timeout could not be recorded; the other timeouts go on")

    def _next(self) -> Callable[[], None] | None:
        """Wait for the next deadline that was not cancelled; ``None`` ends the thread."""
        with self._changed:
            while self._actions:
                due, number = self._heap[0]
                if number not in self._actions:
                    heapq.heappop(self._heap)
                elif due <= (now := monotonic()):
                    heapq.heappop(self._heap)
                    return self._actions.pop(number)
                else:
                    self._changed.wait(min(due - now, LONGEST))
            self._heap.clear()
            self._thread = None
            return None


class Timeouts:
    """Timeouts by key: at most one for each, which can be cancelled by that key."""

    def __init__(self, timers: Timers) -> None:
        self._timers = timers
        self._lock = RLock()  # timers may call the action before they return
        self._cancellations: dict[Hashable, Callable[[], None]] = {}

    def begin(self, key: Hashable, seconds: float, action: Callable[[], None]) -> None:
        """Call ``action`` after ``seconds``, unless ``key`` is watched already."""
        with self._lock:
            if key in self._cancellations:
                return
            self._cancellations[key] = lambda: None
            try:
                cancel = self._timers.call_later(seconds, lambda: self._fire(key, action))
            except BaseException:
                self._cancellations.pop(key, None)
                raise
            if key in self._cancellations:
                self._cancellations[key] = cancel

    def _fire(self, key: Hashable, action: Callable[[], None]) -> None:
        with self._lock:
            self._cancellations.pop(key, None)
        action()

    def cancel(self, key: Hashable) -> None:
        """Watch ``key`` no longer."""
        with self._lock:
            cancel = self._cancellations.pop(key, None)
        if cancel is not None:
            cancel()
