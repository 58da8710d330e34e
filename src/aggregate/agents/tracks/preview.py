"""Preview the steps of a run, without running it."""

from collections.abc import Iterator
from dataclasses import dataclass

from aggregate.agents.tracks.assignment import TicketStatus
from aggregate.agents.tracks.terms import OWN, Recipient, check_prices
from aggregate.agents.tracks.tickets import Ticket, TicketKind, Tickets, without_items
from aggregate.agents.tracks.worker_context import WorkerContexts
from aggregate.base.tokens import count


@dataclass(frozen=True, slots=True)
class PreviewStep:
    wave: int  # tickets of one wave can run at one time; the first is 1
    ticket: Ticket
    waits_for: tuple[str, ...]
    tokens: int  # of its context, without the results of its dependencies
    budget: int
    recipient: Recipient  # no model for the scripted worker


def preview(
    tickets: Tickets, contexts: WorkerContexts, *, max_cost: float | None = None
) -> Iterator[PreviewStep]:
    """Yield the steps of a run if every ticket succeeds."""
    check_prices(tickets, contexts.asks, max_cost=max_cost)
    for ticket in tickets.tickets:
        contexts.check(without_items(ticket))
    schedule = contexts.schedule(tickets)
    wave = 0
    while started := schedule.start(len(tickets.tickets)):
        wave += 1
        for ticket in started:
            assignment = contexts.assignment(without_items(ticket), {}, ticket.id)
            # A person decides about an approval.
            recipient = contexts.asks(ticket) if ticket.kind is TicketKind.WORK else OWN
            yield PreviewStep(
                wave,
                ticket,
                schedule.waits_for[ticket.id],
                assignment.tokens + count(assignment.persona),
                contexts.granted(ticket).budget.tokens,
                recipient,
            )
            schedule.end(ticket.id, TicketStatus.DONE)
