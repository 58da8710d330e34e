"""What a worker's requests cost in US dollars."""

from aggregate.base.values import Usage
from aggregate.sending.cache import SCRIPTED
from aggregate.sending.clients import ChatClient, Client, RedactingClient, cost


def request_cost(client: ChatClient, usage: Usage, *, model: str = "") -> float | None:
    """Return the price of ``usage``, ``None`` where it is not known.

    Args:
        client: Who was asked; of a client of the caller's own nothing is known.
        usage: The tokens of one or more requests.
        model: Which model was asked, ``""`` for the client's own.
    """
    while isinstance(client, RedactingClient):
        client = client.client
    if not isinstance(client, Client):
        return None
    if client.provider == SCRIPTED:
        return 0.0  # nobody was asked
    if not usage.input and not usage.output:
        return None  # a server that reports nothing is not free
    amount = cost(usage, model or client.model, provider=client.provider)
    return None if amount is None else float(amount)
