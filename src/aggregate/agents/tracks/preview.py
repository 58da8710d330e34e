"""What a run would do, without doing it."""

from dataclasses import dataclass
from decimal import Decimal

from aggregate.agents.tracks.assignment import Assignment
from aggregate.agents.tracks.fan_out import without_items
from aggregate.agents.tracks.terms import OWN, Recipient
from aggregate.agents.tracks.tickets import Ticket, TicketKind, Tickets
from aggregate.agents.tracks.worker import AssignmentTokens
from aggregate.agents.tracks.worker_context import WorkerContexts
from aggregate.base.tokens import count
from aggregate.base.values import FileChoice, Level, Usage
from aggregate.prompt import count_prompt
from aggregate.sending.cache import HashedPrompt, SimulatedCache, charge, plan_request
from aggregate.sending.clients import TokenRatio, cache_policy, cost, shipped_ratio

_LEVELS = tuple(Level)
_NOTHING = Usage()


@dataclass(frozen=True, slots=True)
class PreviewStep:
    """A ticket in the order of a run.

    Attributes:
        wave: Tickets of one wave can run at one time; the first is 1.
        waits_for: The tickets whose results its worker is shown.
        tokens: Of what its worker would get, without these results.
        budget: The most that these may be.
        recipient: Whom it asks; no model for the scripted worker.
        usage: What sending it would use by the model's count, as its cache is expected to work, answers left out; of a
            ticket with tools the plan and the answer, to which its steps come.
        cost: What that costs in US dollars, ``None`` where no price is known.
        lowered: The files of which less is shown than is configured, in order.
        hidden: The files of which nothing is shown.
    """

    wave: int
    ticket: Ticket
    waits_for: tuple[str, ...]
    tokens: int
    budget: int = 0
    recipient: Recipient = OWN
    usage: Usage = _NOTHING
    cost: Decimal | None = None
    lowered: tuple[FileChoice, ...] = ()
    hidden: tuple[FileChoice, ...] = ()


def preview(
    tickets: Tickets, contexts: WorkerContexts, *, warm_up: bool = True
) -> list[PreviewStep]:
    """Return the steps of a run in which every ticket succeeds, in order.

    Raises:
        ConfigError: A focus file, a persona, a model or a tool is missing.
        BudgetError: What a ticket must be shown exceeds its budget.
    """
    for ticket in tickets.tickets:
        contexts.check(without_items(ticket))
    schedule = contexts.schedule(tickets, warm_up=warm_up)
    tokens = AssignmentTokens()
    meter = _Meter()
    steps: list[PreviewStep] = []
    wave = 0
    while started := schedule.start(len(tickets.tickets)):
        wave += 1
        for ticket in started:
            known = without_items(ticket)
            contexts.check(known)
            assignment = contexts.assignment(known, {}, ticket.id)
            choices = contexts.choices(known)
            # A person decides about an approval: no model is paid for it.
            is_work = ticket.kind is TicketKind.WORK
            recipient = contexts.asks(ticket) if is_work else OWN
            usage = meter.usage(assignment, recipient)
            step = PreviewStep(
                wave,
                ticket,
                schedule.waits_for[ticket.id],
                tokens.count(assignment) + count(assignment.persona),
                contexts.granted(ticket).budget.tokens,
                recipient,
                usage,
                _cost(usage, recipient),
                tuple(filter(_is_lowered, choices)),
                tuple(choice for choice in choices if choice.level.is_hidden),
            )
            steps.append(step)
            schedule.end(ticket.id, failed=False)
    return steps


class _Meter:
    """Knows what each model's cache holds after the requests before."""

    def __init__(self) -> None:
        self._caches: dict[Recipient, SimulatedCache] = {}

    def usage(self, assignment: Assignment, recipient: Recipient) -> Usage:
        """Return what sending an assignment uses, nothing where no model is asked."""
        if not recipient.model:
            return Usage()
        prompt = HashedPrompt.of(
            assignment.prompt,
            count_prompt(assignment.prompt).segments,
            system=assignment.persona,
            system_tokens=count(assignment.persona),
        )
        plan = plan_request(
            prompt,
            cache_policy(recipient.provider, recipient.model),
            message=assignment.message,
            message_tokens=count(assignment.message),
        )
        total = Usage()
        for _ in range(2 if assignment.tools else 1):
            cache = self._caches.get(recipient, SimulatedCache())
            usage, self._caches[recipient] = charge(plan, cache)
            total += usage
        return _by_own_count(total, shipped_ratio(recipient.provider, recipient.model))


def _by_own_count(usage: Usage, ratio: TokenRatio) -> Usage:
    return Usage(
        ratio.provider_tokens(usage.fresh),
        ratio.provider_tokens(usage.cache_write),
        ratio.provider_tokens(usage.cache_read),
    )


def _cost(usage: Usage, recipient: Recipient) -> Decimal | None:
    if not recipient.model:
        return None
    return cost(usage, recipient.model, provider=recipient.provider)


def _is_lowered(choice: FileChoice) -> bool:
    is_lower = _LEVELS.index(choice.level) > _LEVELS.index(choice.most)
    return is_lower and not choice.level.is_hidden
