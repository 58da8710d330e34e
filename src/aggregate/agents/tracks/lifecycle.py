"""One ticket from its context to its outcome."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from time import sleep

from aggregate.agents.tracks.assignment import Assignment, TicketOutcome
from aggregate.agents.tracks.attempt import Attempt, attempt_assignment, cost_of, outcome_of
from aggregate.agents.tracks.merge_outcomes import merge_outcomes
from aggregate.agents.tracks.run_files import RunFiles
from aggregate.agents.tracks.tickets import Ticket
from aggregate.agents.tracks.worker import Worker
from aggregate.agents.tracks.worker_context import WorkerContexts
from aggregate.base.concurrency import doubling_delay

BACKOFF_SECONDS = 1.0
"""Before the second attempt; doubled before each further one. A client has retried what passes quickly by then."""
CORRECT_IT = "Your last answer was not taken: {}. Answer again, and mend that."
"""What stands behind the task when an answer was refused."""
MAX_BACKOFF_SECONDS = 8.0
"""The most before any attempt: a ticket has few retries, and its dependents wait meanwhile."""


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
