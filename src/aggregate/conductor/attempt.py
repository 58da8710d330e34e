"""One attempt at an assignment, within its time; whatever goes wrong becomes a value."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from threading import Event
from time import monotonic

from aggregate.concurrency.threads import run_in_thread
from aggregate.conductor.assignment import Assignment, TicketOutcome, WorkerReply
from aggregate.conductor.worker import Worker
from aggregate.errors import WorkerError
from aggregate.models.group import RunStatus
from aggregate.models.jsonable import failure_text
from aggregate.text.shorten import shorten

STOP_SECONDS = 0.25
"""How soon a waiting attempt sees that its process is to end."""
ANSWER_CHARACTERS = 2_000_000
"""Several times the longest answer that any model gives; a larger one would be refused when the
database is read."""
REASON_CHARACTERS = 10_000
"""Of a failure or a warning: a person reads it, in a report that has one for each attempt."""


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

    A thread cannot be stopped: what a worker gives after its time is dropped when it comes, and
    its thread ends then.

    Args:
        worker: Who answers.
        assignment: What it is asked.
        number: Which attempt this is, from 1.
        begun: Called, in the worker's thread, when the answer begins to come.
        stop: Set when this process is to end.

    Raises:
        WorkerStopping: ``stop`` was set meanwhile.
    """
    numbered = replace(assignment, attempt=number)
    attempt = run_in_thread(f"worker-{assignment.ticket}", lambda: _ask(worker, numbered, begun))
    end = monotonic() + assignment.timeout
    while (remaining := end - monotonic()) > 0:
        if stop is not None and stop.is_set():
            raise WorkerStopping
        with suppress(TimeoutError):
            return attempt.result(timeout=min(remaining, STOP_SECONDS))
    return Attempt(RunStatus.TIMEOUT, f"timeout after {assignment.timeout:g} s", again=True)


def _ask(worker: Worker, assignment: Assignment, begun: Callable[[], None]) -> Attempt:
    try:
        return _success(worker.work(assignment, begun))
    except WorkerError as error:
        return Attempt(RunStatus.ERROR, _shortened(str(error)), error.tokens, again=error.again)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a worker's failure is the ticket's, never the run's
        return Attempt(RunStatus.ERROR, _shortened(failure_text(error)), again=True)


def _success(reply: WorkerReply) -> Attempt:
    """Return the attempt that gave ``reply``, with no more of it than the database gives back."""
    text = _writable(reply.text)
    warnings = [reply.warning] if reply.warning else []
    if len(text) > ANSWER_CHARACTERS:
        characters = f"{ANSWER_CHARACTERS:,} of {len(text):,} characters"
        warnings.append(f"the answer is cut: its first {characters} are here")
        text = text[:ANSWER_CHARACTERS]
    warning = _shortened("; ".join(warnings))
    return Attempt(RunStatus.SUCCESS, text, int(reply.tokens), warning=warning)


def _shortened(text: str) -> str:
    return _writable(shorten(text, REASON_CHARACTERS))


def _writable(text: str) -> str:
    """Return ``text`` without halves of surrogate pairs, which models write and no file can hold."""
    return text.encode("utf-8", "replace").decode("utf-8")


def outcome_of(assignment: Assignment, attempts: list[Attempt]) -> TicketOutcome:
    """Return how a ticket ended after ``attempts``; the last one decides."""
    last = attempts[-1]
    errors = tuple(attempt.text for attempt in attempts if attempt.status is not RunStatus.SUCCESS)
    text = last.text if last.status is RunStatus.SUCCESS else ""
    return TicketOutcome(assignment.ticket, last.status, text, last.tokens, errors, last.warning)
