"""What a run would do, without doing it."""

from dataclasses import dataclass, replace
from decimal import Decimal

from aggregate.agents.tracks.assignment import Assignment
from aggregate.agents.tracks.terms import OWN, Recipient, check_prices
from aggregate.agents.tracks.tickets import Ticket, TicketKind, Tickets, without_items
from aggregate.agents.tracks.worker_context import WorkerContexts
from aggregate.base.request import FileChoice, Level
from aggregate.base.tokens import count
from aggregate.sending.cache import SimulatedCache, charge
from aggregate.sending.clients import ChatRequest, cost, scripted_client, shipped_ratio
from aggregate.sending.models import Usage


@dataclass(frozen=True, slots=True)
class PreviewStep:
    wave: int  # tickets of one wave can run at one time; the first is 1
    ticket: Ticket
    waits_for: tuple[str, ...]
    tokens: int  # of what its worker would get, without the results that it waits for
    budget: int
    recipient: Recipient  # no model for the scripted worker
    # By the model's count and as its cache is expected to work, without answers and the steps of tools.
    usage: Usage
    cost: Decimal | None  # in US dollars, where a price is known
    choices: tuple[FileChoice, ...]  # none where all files are shown

    @property
    def lowered(self) -> tuple[FileChoice, ...]:
        """The files of which less is shown than is configured."""
        order = list(Level)
        shown = (choice for choice in self.choices if not choice.level.is_hidden)
        return tuple(each for each in shown if order.index(each.level) > order.index(each.most))

    @property
    def hidden(self) -> list[FileChoice]:
        return [choice for choice in self.choices if choice.level.is_hidden]


def preview(
    tickets: Tickets,
    contexts: WorkerContexts,
    *,
    warm_up: bool = True,
    max_cost: float | None = None,
) -> list[PreviewStep]:
    """Return the steps of a run in which every ticket succeeds, in order."""
    check_prices(tickets, contexts.asks, max_cost=max_cost)
    for ticket in tickets.tickets:
        contexts.check(without_items(ticket))
    schedule = contexts.schedule(tickets, warm_up=warm_up)
    caches: dict[Recipient, SimulatedCache] = {}
    steps: list[PreviewStep] = []
    wave = 0
    while started := schedule.start(len(tickets.tickets)):
        wave += 1
        for ticket in started:
            known = without_items(ticket)
            context = contexts.context(known, {}, ticket.id)
            assignment = context.assignment
            # A person decides about an approval: no model is paid for it.
            recipient = contexts.asks(ticket) if ticket.kind is TicketKind.WORK else OWN
            usage, price = Usage(), None
            if recipient.model:
                usage = _usage(assignment, recipient, caches)
                price = cost(usage, recipient.model, provider=recipient.provider)
            steps.append(
                PreviewStep(
                    wave,
                    ticket,
                    schedule.waits_for[ticket.id],
                    assignment.tokens + count(assignment.persona),
                    contexts.granted(ticket).budget.tokens,
                    recipient,
                    usage,
                    price,
                    context.choices,
                )
            )
            schedule.end(ticket.id, failed=False)
    return steps


def _usage(
    assignment: Assignment, recipient: Recipient, caches: dict[Recipient, SimulatedCache]
) -> Usage:
    # Nothing is sent, so that nobody's key is needed.
    client = replace(scripted_client(), provider=recipient.provider, model=recipient.model)
    request = ChatRequest(assignment.prompt, assignment.message, system=assignment.persona)
    plan = client.planned(request).plan
    total = Usage()
    # A loop sends the context at least twice; how often is not known before.
    for _ in range(2 if assignment.tools else 1):
        usage, caches[recipient] = charge(plan, caches.get(recipient, SimulatedCache()))
        total += usage
    tokens = shipped_ratio(recipient.provider, recipient.model).provider_tokens
    return Usage(tokens(total.fresh), tokens(total.cache_write), tokens(total.cache_read))
