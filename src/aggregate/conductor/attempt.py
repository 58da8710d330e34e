"""One attempt at an assignment, within its time; whatever goes wrong becomes a value."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from queue import Empty, SimpleQueue
from threading import Event, Thread
from time import monotonic

from aggregate.conductor.assignment import Assignment, TicketOutcome
from aggregate.conductor.worker import Worker
from aggregate.errors import WorkerError
from aggregate.models.group import RunStatus

STOP_SECONDS = 0.25
"""How soon a waiting attempt sees that its process is to end."""
BACKOFF_SECONDS = 1.0
MAX_BACKOFF_SECONDS = 8.0


@dataclass(frozen=True, slots=True)
class Attempt:
    """How one attempt ended.

    Attributes:
        status: ``success``, ``error`` or ``timeout``.
        text: The answer, or why there is none.
        tokens: What it has cost.
        again: Whether another attempt may help.
        warning: What is doubtful about the answer.
    """

    status: RunStatus
    text: str
    tokens: int = 0
    again: bool = False
    warning: str = ""


class WorkerStopping(BaseException):
    """This process is to end, and its attempts with it; no ``Exception``, which would be recorded as their outcome."""


def attempt_assignment(
    worker: Worker,
    assignment: Assignment,
    number: int,
    *,
    begun: Callable[[], None] = lambda: None,
    stop: Event | None = None,
) -> Attempt:
    """Ask ``worker`` once and wait at most the assignment's time.

    A thread cannot be stopped: what a worker gives after its time is dropped when it comes, and its thread ends then.

    Raises:
        Stopping: ``stop`` was set meanwhile.
    """
    numbered = replace(assignment, attempt=number)
    ends: SimpleQueue[Attempt] = SimpleQueue()
    Thread(
        target=lambda: ends.put(_ask(worker, numbered, begun)), name=f"worker-{assignment.ticket}", daemon=True
    ).start()
    end = monotonic() + assignment.timeout
    while (left := end - monotonic()) > 0:
        if stop is not None and stop.is_set():
            raise WorkerStopping
        try:
            return ends.get(timeout=min(left, STOP_SECONDS))
        except Empty:
            continue
    return Attempt(RunStatus.TIMEOUT, f"timeout after {assignment.timeout:g} s", again=True)


def _ask(worker: Worker, assignment: Assignment, begun: Callable[[], None]) -> Attempt:
    try:
        reply = worker.work(assignment, begun)
        return Attempt(RunStatus.SUCCESS, _writable(reply.text), int(reply.tokens), warning=_writable(reply.warning))
    except WorkerError as error:
        return Attempt(RunStatus.ERROR, _writable(str(error)), again=error.again)
    except Exception as error:  # noqa: BLE001 - a worker's failure is the ticket's, never the run's
        return Attempt(RunStatus.ERROR, _writable(f"{type(error).__name__}: {error}"), again=True)


def _writable(text: str) -> str:
    """Return ``text`` without halves of surrogate pairs, which models write and no file can hold."""
    return text.encode("utf-8", "replace").decode("utf-8")


def retry_delay(number: int) -> float:
    """Return the seconds to wait after the ``number``-th failed attempt: doubling, at most eight."""
    return float(min(BACKOFF_SECONDS * 2 ** (number - 1), MAX_BACKOFF_SECONDS))


def outcome_of(assignment: Assignment, attempts: list[Attempt]) -> TicketOutcome:
    """Return how a ticket ended after ``attempts``; the last one decides."""
    last = attempts[-1]
    errors = tuple(one.text for one in attempts if one.status is not RunStatus.SUCCESS)
    text = last.text if last.status is RunStatus.SUCCESS else ""
    return TicketOutcome(assignment.ticket, last.status, text, last.tokens, errors, last.warning)
