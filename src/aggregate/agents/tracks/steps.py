"""The recorded steps of an attempt, with time limits."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from threading import Event
from time import monotonic
from typing import Any, TypeVar

from aggregate.agents.tracks.trees import Trees
from aggregate.base.concurrency import run_in_thread

_T = TypeVar("_T")
STOP_SECONDS = 0.25  # until a waiting attempt notices the end of its process
Action = Callable[[], dict[str, Any]]
Recorded = Callable[[str, Action], dict[str, Any]]


class WorkerStopping(BaseException):
    """The worker process stops. A BaseException, so that it is not recorded as an outcome."""


def unrecorded(_name: str, action: Action) -> dict[str, Any]:
    return action()


@dataclass(slots=True)
class Steps:
    """Records the steps of one attempt until ``stop`` is set."""

    stop: Event
    kept: Recorded = unrecorded
    trees: Trees | None = None
    seconds: float = 0.0  # of all steps, including those before a kill

    def record(self, name: str, action: Action, seconds: float) -> dict[str, Any]:
        """Run ``action`` and record its result.

        If an earlier run has recorded the step, return this record instead. After ``seconds`` the action is abandoned,
        and the record contains only ``timeout``.
        """

        def measured() -> dict[str, Any]:
            started = monotonic()
            try:
                record = within(seconds, self.stop, name, action)
            except TimeoutError:
                record = {"timeout": True}
            return record | {"seconds": round(monotonic() - started, 3)}

        record = self.kept(name, measured)
        self.seconds += record["seconds"]
        return record


def within(seconds: float, stop: Event, name: str, work: Callable[[], _T]) -> _T:
    """Return the result of ``work``; raise a ``TimeoutError`` after ``seconds``."""
    end = monotonic() + seconds
    future = run_in_thread(name, work)
    while (left := end - monotonic()) > 0:
        if stop.is_set():
            raise WorkerStopping
        with suppress(TimeoutError):
            return future.result(timeout=min(left, STOP_SECONDS))
        if future.done():  # the work raised a TimeoutError itself
            return future.result()
    raise TimeoutError
