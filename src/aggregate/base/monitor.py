"""Timings of named scopes, readable while the pipeline runs."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from time import perf_counter
from typing import Any, Final, TypeVar

_Item = TypeVar("_Item")
_END: Final[Any] = object()


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
            self.add(name, perf_counter() - start)

    def add(self, name: str, seconds: float) -> None:
        with self._lock:
            old = self._timings.get(name, Timing(0, 0.0, 0.0))
            self._timings[name] = Timing(old.count + 1, old.total + seconds, seconds)

    def steps(self, name: str, items: Iterable[_Item]) -> Iterator[_Item]:
        """Yield items, and time how long producing them takes."""
        seconds = 0.0
        rest = iter(items)
        try:
            while True:
                start = perf_counter()
                item = next(rest, _END)
                seconds += perf_counter() - start
                if item is _END:
                    return
                yield item
        finally:
            self.add(name, seconds)

    def timings(self) -> dict[str, Timing]:
        with self._lock:
            return dict(sorted(self._timings.items()))

    def reset(self) -> None:
        with self._lock:
            self._timings.clear()


_monitor = Monitor()


def get_monitor() -> Monitor:
    """Return the monitor shared by the whole process (rule M-18)."""
    return _monitor
