"""What a run would do, without doing it."""

from dataclasses import dataclass

from aggregate.conductor.assignment_tokens import AssignmentTokens
from aggregate.conductor.fan_out import without_items
from aggregate.conductor.schedule import Schedule
from aggregate.conductor.tickets import Ticket, Tickets
from aggregate.conductor.worker_context import WorkerContexts


@dataclass(frozen=True, slots=True)
class PreviewStep:
    """A ticket in the order of a run.

    Attributes:
        wave: Tickets of one wave can run at one time; the first is 1.
        ticket: The ticket.
        waits_for: The tickets whose results its worker is shown.
        tokens: Of what its worker would get, without these results.
    """

    wave: int
    ticket: Ticket
    waits_for: tuple[str, ...]
    tokens: int


def preview(
    tickets: Tickets, contexts: WorkerContexts, *, warm_up: bool = True
) -> list[PreviewStep]:
    """Return the steps of a run in which every ticket succeeds, in order.

    Raises:
        ConfigError: A focus file is missing.
        BudgetError: What a ticket must be shown exceeds its budget.
    """
    any_focus = contexts.share(tickets.tickets)
    schedule = Schedule(
        tickets.tickets,
        on_error=tickets.on_error,
        warm_up=warm_up,
        any_focus=any_focus,
        alone=contexts.alone(tickets.tickets),
    )
    tokens = AssignmentTokens()
    steps: list[PreviewStep] = []
    wave = 0
    while started := schedule.start(len(tickets.tickets)):
        wave += 1
        for ticket in started:
            known = without_items(ticket)
            contexts.check(known)
            assignment = contexts.assignment(known, {}, ticket.id)
            waits_for = schedule.waits_for[ticket.id]
            steps.append(PreviewStep(wave, ticket, waits_for, tokens.count(assignment)))
            schedule.end(ticket.id, failed=False)
    return steps
