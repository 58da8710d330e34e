"""The attempts at an assignment, each within its time; every failure becomes a value."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from math import isfinite
from threading import Event
from time import monotonic, sleep
from typing import Annotated, Any, TypeVar

from pydantic import Field, TypeAdapter

from aggregate.agents.subagents import RunStatus
from aggregate.agents.tracks.answer_schema import AnswerSchemaError, checked_answer
from aggregate.agents.tracks.assignment import Amount, Assignment, TicketOutcome, WorkerReply
from aggregate.agents.tracks.run_files import RunFiles
from aggregate.agents.tracks.run_outcomes import merge_outcomes
from aggregate.agents.tracks.tickets import Ticket
from aggregate.agents.tracks.trees import Trees
from aggregate.agents.tracks.worker import ActingWorker, AnyWorker, Worker
from aggregate.agents.tracks.worker_context import WorkerContexts
from aggregate.base.concurrency import doubling_delay, run_in_thread
from aggregate.base.errors import WorkerError
from aggregate.base.json_forms import failure_text
from aggregate.base.messages import shorten

_T = TypeVar("_T")
STOP_SECONDS = 0.25  # until a waiting attempt sees that its process ends
REASON_CHARACTERS = 10_000  # of a failure in a report
# Before the second attempt; doubled before each further one. A client has retried passing faults by then.
BACKOFF_SECONDS = 1.0
# Behind the task after a refused answer
CORRECT_IT = "Your last answer was not taken: {}. Answer again, and mend that."
MAX_BACKOFF_SECONDS = 8.0  # a ticket has few retries, and its dependents wait meanwhile


@dataclass(frozen=True, slots=True)
class Attempt:
    status: RunStatus
    text: str  # the answer, or why there is none
    tokens: Annotated[int, Field(ge=0)] = 0
    again: bool = False
    warning: str = ""
    cost: Amount | None = None
    seconds: Amount = 0.0
    refused: str = ""  # why an answer was refused, for the next attempt
    commit: str = ""
    verified: bool = False
    unchanged: bool = False
    output_tokens: int = 0  # of ``tokens``
    model: str = ""

    @classmethod
    def from_recorded(cls, data: object) -> "Attempt":
        return _ATTEMPT.validate_python(data)


_ATTEMPT = TypeAdapter(Attempt)


class WorkerStopping(BaseException):
    """Stop the worker process; a BaseException, so that it is not recorded as an outcome."""


Recorded = Callable[[str, Callable[[], dict[str, Any]]], dict[str, Any]]


@dataclass(slots=True)
class LiveSteps:
    """The steps of an attempt, each within its time, recorded by ``kept``, until ``stop`` is set."""

    stop: Event
    kept: Recorded = lambda _name, action: action()
    trees: Trees | None = None
    seconds: float = 0.0  # of all steps, also of those before a kill

    def record(
        self, name: str, action: Callable[[], dict[str, Any]], seconds: float
    ) -> dict[str, Any]:
        def measured() -> dict[str, Any]:
            started = monotonic()
            try:
                record = _within(seconds, self.stop, name, action)
            except TimeoutError:
                record = {"timeout": True}
            return record | {"seconds": round(monotonic() - started, 3)}

        record = self.kept(name, measured)
        self.seconds += record["seconds"]
        return record


def _within(seconds: float, stop: Event, name: str, work: Callable[[], _T]) -> _T:
    """Return the result of ``work``, or raise a ``TimeoutError`` and leave it to its thread."""
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


def attempt_assignment(
    worker: AnyWorker,
    assignment: Assignment,
    number: int,
    *,
    begun: Callable[[], None] = lambda: None,
    stop: Event | None = None,
    kept: Recorded = lambda _name, action: action(),
    trees: Trees | None = None,
) -> Attempt:
    """Ask ``worker`` once, for at most the assignment's time.

    The steps of a worker that acts are ``kept``, and not repeated after a kill.
    """
    started = monotonic()
    numbered = replace(assignment, attempt=number)
    steps = LiveSteps(stop or Event(), kept, trees)
    if assignment.tools and isinstance(worker, ActingWorker):
        done = _asked(lambda: worker.act(numbered, steps, begun), None)
    else:
        try:
            work = worker.work if isinstance(worker, Worker) else worker
            ask = partial(_asked, partial(work, numbered, begun), assignment.answer)
            done = _within(assignment.timeout, steps.stop, f"worker-{assignment.ticket}", ask)
        except TimeoutError:
            reason = f"timeout after {assignment.timeout:g} s"
            done = Attempt(RunStatus.TIMEOUT, reason, again=True)
    return replace(done, seconds=round(steps.seconds or monotonic() - started, 3))


def _asked(ask: Callable[[], WorkerReply | str], schema: Mapping[str, Any] | None) -> Attempt:
    again, refused, tokens, cost = True, "", 0, None
    try:
        answer = ask()
        reply = WorkerReply(answer) if isinstance(answer, str) else answer
        tokens, cost = int(reply.tokens), reply.cost
        text, refused = _taken(reply.text, schema)
        if not refused:
            return _success(text, reply)
        reason = "; ".join(filter(None, (refused, reply.warning)))
    except WorkerError as error:
        reason, again, tokens, cost = str(error), error.again, error.tokens, error.cost
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a worker's failure is the ticket's, never the run's
        reason = failure_text(error)
    return Attempt(
        RunStatus.ERROR,
        _writable(shorten(reason, REASON_CHARACTERS)),
        max(tokens, 0),
        again=again,
        cost=_known(cost),
        refused=refused,
    )


def _known(cost: float | None) -> float | None:
    """Return a cost, ``None`` if it is not a sensible number."""
    return cost if cost is not None and isfinite(cost) and cost >= 0 else None


def _taken(text: str, schema: Mapping[str, Any] | None) -> tuple[str, str]:
    if not text.strip():
        return "", "the answer is empty"
    if schema is None:
        return text, ""
    try:
        return checked_answer(text, schema), ""
    except AnswerSchemaError as fault:
        return "", f"the answer does not meet its schema: {fault}"


def _success(text: str, reply: WorkerReply) -> Attempt:
    return Attempt(
        RunStatus.SUCCESS,
        _writable(text),
        max(int(reply.tokens), 0),
        warning=_writable(shorten(reply.warning, REASON_CHARACTERS)),
        cost=_known(reply.cost),
        commit=reply.commit,
        verified=reply.verified,
        unchanged=reply.unchanged,
        output_tokens=int(reply.output_tokens),
        model=_writable(reply.model),
    )


def _writable(text: str) -> str:
    """Replace halves of surrogate pairs, which no file can hold."""
    return text.encode("utf-8", "replace").decode("utf-8")


def run_worker_lifecycle(
    ticket: Ticket,
    contexts: WorkerContexts,
    worker: AnyWorker,
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
        worker: Answers the ticket.
        results: Outcomes of its dependencies, which are merged into the context.
        tickets: The dependencies, for the names and strategies of their variables.
        files: Writes the prompt and the reply, if given.
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
    worker: AnyWorker,
    assignment: Assignment,
    *,
    attempt: Callable[[AnyWorker, Assignment, int], Attempt] = attempt_assignment,
    wait: Callable[[float], None] = sleep,
) -> TicketOutcome:
    """Attempt an assignment until it succeeds, or no further attempt is left or useful.

    A refused answer gets another attempt, once, whatever ``retries`` says. A durable run records each ``attempt``.
    """
    attempts: list[Attempt] = []
    asked, spent = assignment, ""
    while True:
        attempts.append(last := attempt(worker, asked, len(attempts) + 1))
        spent = _spent(assignment, attempts) if last.again else ""
        is_first_refusal = sum(bool(each.refused) for each in attempts) == 1
        may_go_on = is_first_refusal if last.refused else len(attempts) <= assignment.retries
        if spent or not last.again or not may_go_on:
            break
        asked = replace(assignment, used_tokens=sum(each.tokens for each in attempts))
        if last.refused:
            message = f"{assignment.message}\n\n{CORRECT_IT.format(last.refused)}"
            asked = replace(asked, message=message)
        else:
            wait(doubling_delay(len(attempts), BACKOFF_SECONDS, MAX_BACKOFF_SECONDS))
    errors = [each.text for each in attempts if each.status is not RunStatus.SUCCESS]
    if spent:
        errors[-1] += f"; not asked again: {spent}"
    return TicketOutcome(
        assignment.ticket,
        last.status,
        last.text if last.status is RunStatus.SUCCESS else "",
        sum(each.tokens for each in attempts),
        tuple(errors),
        last.warning,
        cost=_cost_of(attempts),
        seconds=round(sum(each.seconds for each in attempts), 3),
        commit=last.commit,
        verified=last.verified,
        unchanged=last.unchanged,
    )


def _spent(assignment: Assignment, attempts: Sequence[Attempt]) -> str:
    """Return why a ticket's max_cost allows no further attempt, ``""`` if it does."""
    if assignment.max_cost is None:
        return ""
    if any(attempt.tokens and attempt.cost is None for attempt in attempts):
        return "its cost is not known, so that max_cost cannot be kept"
    is_spent = (_cost_of(attempts) or 0.0) >= assignment.max_cost
    return f"its max_cost, ${assignment.max_cost:g}, is spent" if is_spent else ""


def _cost_of(attempts: Sequence[Attempt]) -> float | None:
    costs = [attempt.cost for attempt in attempts if attempt.cost is not None]
    return round(sum(costs), 9) if costs else None
