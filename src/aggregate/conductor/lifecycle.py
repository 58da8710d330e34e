"""One ticket from its context to its outcome."""

from collections.abc import Callable, Sequence
from time import sleep

from aggregate.conductor.assignment import Assignment, Outcome
from aggregate.conductor.attempt import Attempt, attempt, backoff, outcome_of
from aggregate.conductor.context import Contexts
from aggregate.conductor.fold import fold
from aggregate.conductor.papers import Papers
from aggregate.conductor.tickets import Ticket
from aggregate.conductor.worker import Worker


def run_worker_lifecycle(
    ticket: Ticket,
    contexts: Contexts,
    worker: Worker,
    *,
    results: Sequence[Outcome] = (),
    tickets: Sequence[Ticket] = (),
    papers: Papers | None = None,
    wait: Callable[[float], None] = sleep,
) -> Outcome:
    """Take one ticket from its context to its outcome, in this process.

    Args:
        ticket: The ticket.
        contexts: Composes the Tier 3 context with the ticket's focus files.
        worker: Who answers.
        results: Outcomes of the tickets that it depends on; they are folded into the context.
        tickets: These tickets, for the names and strategies of their variables.
        papers: Where the prompt and the reply are written, if anywhere.
        wait: Called with the seconds before another attempt.
    """
    assignment = contexts.assignment(ticket, fold(tickets, results), ticket.id)
    if papers:
        papers.prompt(assignment)
    outcome = work(worker, assignment, wait=wait)
    if papers:
        papers.reply(outcome)
    return outcome


def work(
    worker: Worker,
    assignment: Assignment,
    *,
    once: Callable[[Worker, Assignment, int], Attempt] = attempt,
    wait: Callable[[float], None] = sleep,
) -> Outcome:
    """Attempt an assignment until it succeeds, no attempt is left, or another one cannot help.

    Args:
        worker: Who answers.
        assignment: What it is asked.
        once: Makes one attempt; a durable run records what it returns.
        wait: Called with the seconds before another attempt.
    """
    attempts = [once(worker, assignment, 1)]
    while attempts[-1].again and len(attempts) <= assignment.retries:
        wait(backoff(len(attempts)))
        attempts.append(once(worker, assignment, len(attempts) + 1))
    return outcome_of(assignment, attempts)
