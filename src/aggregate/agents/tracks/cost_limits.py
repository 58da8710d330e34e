"""Limits of costs that could not be kept, refused before a run begins."""

from aggregate.agents.tracks.recipient import Recipient
from aggregate.agents.tracks.tickets import Tickets
from aggregate.agents.tracks.worker_context import WorkerContexts
from aggregate.base.errors import ConfigError
from aggregate.base.values import Usage
from aggregate.sending.clients import cost

_ANY_USAGE = Usage(fresh=1, output=1)


def check_prices(tickets: Tickets, contexts: WorkerContexts, *, max_cost: float | None) -> None:
    """Make sure that each model has a price whose costs are limited, by the run's limit or its ticket's own.

    Whom the workers of other processes ask is not known here; a run of theirs begins nothing further once it has met a
    price that is not known.

    Args:
        tickets: What is to be run.
        contexts: Knows whom a ticket asks.
        max_cost: The limit that the user names for the run.

    Raises:
        ConfigError: A model has none; the message names it and the ticket.
    """
    run_is_limited = max_cost is not None or tickets.max_cost is not None
    priced: set[Recipient] = set()
    for ticket in tickets.tickets:
        if not ticket.asks and not ticket.for_each:
            continue  # a person decides
        if not run_is_limited and ticket.max_cost is None:
            continue
        recipient = contexts.asks(ticket)
        if not recipient.model or recipient in priced:
            continue
        if cost(_ANY_USAGE, recipient.model, provider=recipient.provider) is None:
            raise ConfigError(
                f'max_cost cannot be kept: the price of {recipient}, which the ticket "{ticket.id}" asks, is not '
                f'known: name its input and output prices under [models."{recipient.model}"] in your own '
                "configuration, 0 for a server of your own, or leave max_cost out"
            )
        priced.add(recipient)
