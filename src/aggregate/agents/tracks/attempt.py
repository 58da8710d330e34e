"""An assignment's attempts, each within its time; whatever goes wrong becomes a value."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from math import isfinite
from threading import Event
from time import monotonic, sleep
from typing import Annotated

from pydantic import Field, TypeAdapter

from aggregate.agents.tracks.answer_schema import AnswerSchemaError, checked_answer
from aggregate.agents.tracks.assignment import (
    Amount,
    Assignment,
    AttemptAccount,
    TicketOutcome,
    WorkerReply,
)
from aggregate.agents.tracks.run_files import RunFiles
from aggregate.agents.tracks.run_outcomes import merge_outcomes
from aggregate.agents.tracks.tickets import Ticket
from aggregate.agents.tracks.worker import Worker
from aggregate.agents.tracks.worker_context import WorkerContexts
from aggregate.base.concurrency import doubling_delay, run_in_thread
from aggregate.base.errors import WorkerError
from aggregate.base.text import shorten
from aggregate.base.values import RunStatus, failure_text

STOP_SECONDS = 0.25
"""How soon a waiting attempt sees that its process is to end."""
ANSWER_CHARACTERS = 2_000_000
"""Several times the longest answer that any model gives; a larger one would be refused when the
database is read."""
REASON_CHARACTERS = 10_000
"""Of a failure or a warning: a person reads it, in a report that has one for each attempt."""
BACKOFF_SECONDS = 1.0
"""Before the second attempt; doubled before each further one. A client has retried what passes quickly by then."""
CORRECT_IT = "Your last answer was not taken: {}. Answer again, and mend that."
"""What stands behind the task when an answer was refused."""
MAX_BACKOFF_SECONDS = 8.0
"""The most before any attempt: a ticket has few retries, and its dependents wait meanwhile."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """How one attempt ended.

    Attributes:
        status: ``success``, ``error`` or ``timeout``.
        text: The answer, or why there is none.
        cost: What it has cost in US dollars, ``None`` where that is not known.
        refused: Why there was an answer that is not taken; the next attempt is told.
    """

    status: RunStatus
    text: str
    tokens: Annotated[int, Field(ge=0)] = 0
    again: bool = False
    warning: str = ""
    cost: Amount | None = None
    seconds: Amount = 0.0
    refused: str = ""

    @classmethod
    def from_recorded(cls, data: object) -> "Attempt":
        """Return the attempt that was recorded as this.

        Raises:
            ValueError: It is none; a database may hold what somebody else wrote.
        """
        return _ATTEMPT.validate_python(data)


_ATTEMPT = TypeAdapter(Attempt)


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
    begin = monotonic()
    account = AttemptAccount(begun)
    attempt = run_in_thread(f"worker-{assignment.ticket}", lambda: _ask(worker, numbered, account))
    end = begin + assignment.timeout
    while (remaining := end - monotonic()) > 0:
        if stop is not None and stop.is_set():
            raise WorkerStopping
        with suppress(TimeoutError):
            done = attempt.result(timeout=min(remaining, STOP_SECONDS))
            return _accounted(done, begin)
    reason = f"timeout after {assignment.timeout:g} s"
    done = Attempt(RunStatus.TIMEOUT, reason, account.tokens, again=True, cost=account.cost)
    return _accounted(done, begin)


def _ask(worker: Worker, assignment: Assignment, begun: AttemptAccount) -> Attempt:
    try:
        reply = worker.work(assignment, begun)
        begun.note(int(reply.tokens), reply.cost)
        return _taken(reply, assignment)
    except WorkerError as error:
        text = _shortened(str(error))
        tokens, cost = max(error.tokens, begun.tokens), error.cost
        cost = begun.cost if cost is None else cost
        return Attempt(RunStatus.ERROR, text, tokens, again=error.again, cost=cost)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a worker's failure is the ticket's, never the run's
        text = _shortened(failure_text(error))
        return Attempt(RunStatus.ERROR, text, begun.tokens, again=True, cost=begun.cost)


def _taken(reply: WorkerReply, assignment: Assignment) -> Attempt:
    """Return the attempt that gave ``reply``, failed where its answer is empty or not what was asked for."""
    if not reply.text.strip():
        return _refused(reply, "the answer is empty")
    if assignment.answer is None:
        return _success(reply)
    try:
        text = checked_answer(reply.text, assignment.answer)
    except AnswerSchemaError as fault:
        return _refused(reply, f"the answer does not meet its schema: {fault}")
    return _success(replace(reply, text=text))


def _refused(reply: WorkerReply, reason: str) -> Attempt:
    text = _shortened("; ".join(filter(None, (reason, reply.warning))))
    return Attempt(
        RunStatus.ERROR, text, int(reply.tokens), again=True, cost=reply.cost, refused=reason
    )


def _success(reply: WorkerReply) -> Attempt:
    """Return the attempt that gave ``reply``, with no more of it than the database gives back."""
    text = _writable(reply.text)
    warnings = [reply.warning] if reply.warning else []
    if len(text) > ANSWER_CHARACTERS:
        characters = f"{ANSWER_CHARACTERS:,} of {len(text):,} characters"
        warnings.append(f"the answer is cut: its first {characters} are here")
        text = text[:ANSWER_CHARACTERS]
    warning = _shortened("; ".join(warnings))
    return Attempt(RunStatus.SUCCESS, text, int(reply.tokens), warning=warning, cost=reply.cost)


def _accounted(attempt: Attempt, begin: float) -> Attempt:
    """Return an attempt that was begun then with its time; what its worker cannot have meant as a cost is not known."""
    cost = attempt.cost
    if cost is not None and not (isfinite(cost) and cost >= 0):
        cost = None
    seconds = round(monotonic() - begin, 3)
    return replace(attempt, tokens=max(attempt.tokens, 0), cost=cost, seconds=seconds)


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
    return TicketOutcome(
        assignment.ticket,
        last.status,
        text,
        sum(attempt.tokens for attempt in attempts),
        errors,
        last.warning,
        cost=cost_of(attempts),
        seconds=round(sum(attempt.seconds for attempt in attempts), 3),
    )


def cost_of(attempts: Iterable[Attempt]) -> float | None:
    """Return what attempts have cost in US dollars as far as is known, ``None`` where nothing is."""
    costs = [attempt.cost for attempt in attempts if attempt.cost is not None]
    return round(sum(costs), 9) if costs else None


def run_worker_lifecycle(
    ticket: Ticket,
    contexts: WorkerContexts,
    worker: Worker,
    *,
    results: Sequence[TicketOutcome] = (),
    tickets: Sequence[Ticket] = (),
    files: RunFiles | None = None,
    wait: Callable[[float], None] = sleep,
) -> TicketOutcome:
    """Take one ticket from its context to its outcome, in this process.

    Args:
        ticket: The ticket.
        contexts: Composes the Tier 3 context with the ticket's focus files.
        worker: Who answers.
        results: Outcomes of the tickets that it depends on; they are merged into the context.
        tickets: These tickets, for the names and strategies of their variables.
        files: Where the prompt and the reply are written, if anywhere.
        wait: Called with the seconds before another attempt.
    """
    assignment = contexts.assignment(ticket, merge_outcomes(tickets, results), ticket.id)
    if files:
        files.write_prompt(assignment)
    outcome = complete_assignment(worker, assignment, wait=wait)
    if files:
        files.write_reply(outcome)
    return outcome


def complete_assignment(
    worker: Worker,
    assignment: Assignment,
    *,
    attempt: Callable[[Worker, Assignment, int], Attempt] = attempt_assignment,
    wait: Callable[[float], None] = sleep,
) -> TicketOutcome:
    """Attempt an assignment until it succeeds, no attempt is left, or another one cannot help.

    Args:
        worker: Who answers.
        assignment: What it is asked.
        attempt: Makes one attempt; a durable run records what it returns.
        wait: Called with the seconds before another attempt.
    """
    attempts = [attempt(worker, assignment, 1)]
    while _may_go_on(assignment, attempts):
        asked = assignment
        if refused := attempts[-1].refused:
            asked = replace(
                assignment, message=f"{assignment.message}\n\n{CORRECT_IT.format(refused)}"
            )
        else:
            wait(doubling_delay(len(attempts), BACKOFF_SECONDS, MAX_BACKOFF_SECONDS))
        attempts.append(attempt(worker, asked, len(attempts) + 1))
    outcome = outcome_of(assignment, attempts)
    if attempts[-1].again and (reason := _cost_reason(assignment, attempts)):
        *earlier, last = outcome.errors
        outcome = replace(outcome, errors=(*earlier, f"{last}; not asked again: {reason}"))
    return outcome


def _may_go_on(assignment: Assignment, attempts: Sequence[Attempt]) -> bool:
    """Tell whether another attempt is to be made; after a refused answer there is one, whatever ``retries`` says."""
    last = attempts[-1]
    if not last.again or _cost_reason(assignment, attempts):
        return False
    if last.refused:
        return sum(bool(attempt.refused) for attempt in attempts) == 1
    return len(attempts) <= assignment.retries


def _cost_reason(assignment: Assignment, attempts: Sequence[Attempt]) -> str:
    """Return why the limit of a ticket's costs allows no further attempt, ``""`` where it does."""
    if assignment.max_cost is None:
        return ""
    if any(attempt.tokens and attempt.cost is None for attempt in attempts):
        return "what it has cost is not known, so that max_cost cannot be kept"
    if (cost_of(attempts) or 0.0) >= assignment.max_cost:
        return f"its max_cost, ${assignment.max_cost:g}, is spent"
    return ""
