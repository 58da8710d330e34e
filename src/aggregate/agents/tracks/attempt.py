"""Attempts to answer an assignment, with a timeout; failures become replies."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import isfinite
from threading import Event
from time import monotonic, sleep
from typing import Any

from aggregate.agents.tracks.answer_schema import AnswerSchemaError, checked_answer
from aggregate.agents.tracks.assignment import Assignment, TicketOutcome, TicketStatus, WorkerReply
from aggregate.agents.tracks.run_files import RunFiles
from aggregate.agents.tracks.run_outcomes import merge_outcomes
from aggregate.agents.tracks.steps import Recorded, Steps, unrecorded, within
from aggregate.agents.tracks.tickets import Ticket
from aggregate.agents.tracks.trees import Trees
from aggregate.agents.tracks.worker import ActingWorker, AnyWorker, Worker
from aggregate.agents.tracks.worker_context import WorkerContexts
from aggregate.base.concurrency import doubling_delay
from aggregate.base.errors import WorkerError
from aggregate.base.json_forms import failure_text
from aggregate.base.messages import shorten

REASON_CHARACTERS = 10_000  # of a failure in a report
# Before the second attempt; doubled before each further one. A client has retried passing faults by then.
BACKOFF_SECONDS = 1.0
# Behind the task after a refused answer
CORRECT_IT = "Your last answer was rejected: {}. Answer again without this fault."
MAX_BACKOFF_SECONDS = 8.0  # a ticket has few retries, and its dependents wait meanwhile


def attempt_assignment(
    worker: AnyWorker,
    assignment: Assignment,
    number: int,
    *,
    begun: Callable[[], None] = lambda: None,
    stop: Event | None = None,
    kept: Recorded = unrecorded,
    trees: Trees | None = None,
) -> WorkerReply:
    """Let ``worker`` answer once, within the assignment's timeout.

    The steps of a worker with tools are recorded by ``kept``, so that a kill does not repeat them.
    """
    started = monotonic()
    numbered = replace(assignment, attempt=number)
    steps = Steps(stop or Event(), kept, trees)
    if assignment.tools and isinstance(worker, ActingWorker):
        reply = _ask(lambda: worker.act(numbered, steps, begun), None)
    else:
        work = worker.work if isinstance(worker, Worker) else worker
        ask = partial(_ask, partial(work, numbered, begun), assignment.answer)
        try:
            reply = within(assignment.timeout, steps.stop, f"worker-{assignment.ticket}", ask)
        except TimeoutError:
            reason = f"timeout after {assignment.timeout:g} s"
            reply = WorkerReply(reason, status=TicketStatus.TIMED_OUT, again=True)
    return replace(reply, seconds=round(steps.seconds or monotonic() - started, 3))


def _ask(ask: Callable[[], WorkerReply | str], schema: Mapping[str, Any] | None) -> WorkerReply:
    """Call ``ask``; turn any exception into a failed reply."""
    tokens, cost, again = 0, None, True
    try:
        answer = ask()
        reply = WorkerReply(answer) if isinstance(answer, str) else answer
        tokens, cost = int(reply.tokens), reply.cost
        return _writable(_checked(reply, schema))
    except WorkerError as error:
        reason, again, tokens, cost = str(error), error.again, error.tokens, error.cost
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a worker's failure is the ticket's, never the run's
        reason = failure_text(error)
    return _writable(
        WorkerReply(reason, tokens, cost=cost, status=TicketStatus.FAILED, again=again)
    )


def _checked(reply: WorkerReply, schema: Mapping[str, Any] | None) -> WorkerReply:
    """Check an answer against its schema; return a failed reply if it does not match."""
    refused = ""
    if not reply.text.strip():
        refused = "the answer is empty"
    elif schema is not None:
        try:
            return replace(reply, text=checked_answer(reply.text, schema))
        except AnswerSchemaError as fault:
            refused = f"the answer does not match its schema: {fault}"
    if not refused:
        return reply
    return replace(
        reply,
        text="; ".join(filter(None, (refused, reply.warning))),
        warning="",
        status=TicketStatus.FAILED,
        again=True,
        refused=refused,
    )


def _writable(reply: WorkerReply) -> WorkerReply:
    """Make a reply's text and numbers storable in a database."""
    text = reply.text if reply.status.has_answer else shorten(reply.text, REASON_CHARACTERS)
    cost = reply.cost
    if cost is not None and not (isfinite(cost) and cost >= 0):
        cost = None
    return replace(
        reply,
        text=_without_surrogates(text),
        warning=_without_surrogates(shorten(reply.warning, REASON_CHARACTERS)),
        model=_without_surrogates(reply.model),
        tokens=max(int(reply.tokens), 0),
        cost=cost,
    )


def _without_surrogates(text: str) -> str:
    """Replace lone surrogates, which cannot be encoded."""
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
    """Run one ticket in this process.

    Its context is composed, and the worker answers.

    Args:
        ticket: The ticket.
        contexts: Composes the Tier 3 context with the ticket's focus files.
        worker: Answers the ticket.
        results: Outcomes of the ticket's dependencies, which are merged into the context.
        tickets: The dependencies, for the names and merge strategies of their variables.
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
    attempt: Callable[[AnyWorker, Assignment, int], WorkerReply] = attempt_assignment,
    wait: Callable[[float], None] = sleep,
) -> TicketOutcome:
    """Attempt an assignment until it succeeds or retries run out.

    An answer with a schema mismatch gets one more attempt, regardless of ``retries``. A durable run passes a recorded
    ``attempt``.
    """
    replies: list[WorkerReply] = []
    current = assignment
    while True:
        reply = attempt(worker, current, len(replies) + 1)
        replies.append(reply)
        outcome = TicketOutcome(assignment.ticket, tuple(replies))
        if not reply.again:
            return outcome
        if spent := _spent(assignment, outcome):
            return outcome.failed(f"{reply.text}; not retried: {spent}")
        may_go_on = len(replies) <= assignment.retries
        if reply.refused:
            may_go_on = sum(bool(reply.refused) for reply in replies) == 1
        if not may_go_on:
            return outcome
        current = replace(assignment, used_tokens=outcome.tokens)
        if reply.refused:
            message = f"{assignment.message}\n\n{CORRECT_IT.format(reply.refused)}"
            current = replace(current, message=message)
        else:
            wait(doubling_delay(len(replies), BACKOFF_SECONDS, MAX_BACKOFF_SECONDS))


def _spent(assignment: Assignment, outcome: TicketOutcome) -> str:
    """Return why ``max_cost`` forbids another attempt, else ``""``."""
    if assignment.max_cost is None:
        return ""
    if any(reply.tokens and reply.cost is None for reply in outcome.replies):
        return "its cost is unknown, so max_cost cannot be enforced"
    is_spent = (outcome.cost or 0.0) >= assignment.max_cost
    return f"its max_cost, ${assignment.max_cost:g}, is spent" if is_spent else ""
