"""Timings of named scopes, readable while the pipeline runs."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from time import perf_counter


@dataclass(frozen=True, slots=True)
class Timing:
    count: int
    total: float
    last: float


class Monitor:
    """Thread-safe timer of named scopes. Timings never enter a prompt."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._timings: dict[str, Timing] = {}

    @contextmanager
    def scope(self, name: str) -> Iterator[None]:
        start = perf_counter()
        try:
            yield
        finally:
            seconds = perf_counter() - start
            with self._lock:
                old = self._timings.get(name, Timing(0, 0.0, 0.0))
                self._timings[name] = Timing(old.count + 1, old.total + seconds, seconds)

    def timings(self) -> dict[str, Timing]:
        with self._lock:
            return dict(sorted(self._timings.items()))

    def reset(self) -> None:
        with self._lock:
            self._timings.clear()


_monitor = Monitor()
timed = _monitor.scope  # for a ``with`` block or a function


def get_monitor() -> Monitor:
    """Return the monitor shared by the whole process (rule M-18)."""
    return _monitor
