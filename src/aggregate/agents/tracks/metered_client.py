"""A client that adds up what its requests use and cost, and whether a reply is an answer."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from threading import Lock

from aggregate.base.errors import WorkerError
from aggregate.base.tokens import count
from aggregate.base.values import FinishReason, Prompt, Reply, Usage
from aggregate.sending.cache import SCRIPTED
from aggregate.sending.clients import (
    DEFAULT_OPTIONS,
    OWN_COUNT,
    ChatClient,
    Client,
    OnText,
    RedactingClient,
    RequestOptions,
    TokenRatio,
    cost,
)


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


@dataclass(slots=True)
class MeteredClient:
    """Passes requests on and counts what their replies took; safe to use from many threads.

    Many servers report no tokens. What these cost is estimated, for a limit would else never be reached.

    Attributes:
        ratio: How many tokens the model counts for each of ours.
        on_usage: Called with the usage of all replies so far, after each of them.
        usage: Of all replies so far.
    """

    client: ChatClient
    ratio: TokenRatio = OWN_COUNT
    on_usage: Callable[[Usage], None] = lambda _usage: None
    usage: Usage = field(default_factory=Usage)
    _lock: Lock = field(default_factory=Lock)

    def send(
        self,
        prompt: Prompt,
        message: str,
        *,
        model: str = "",
        on_text: OnText | None = None,
        options: RequestOptions = DEFAULT_OPTIONS,
    ) -> Reply:
        """Send ``prompt`` and ``message``; the errors are those of the other client."""
        reply = self.client.send(prompt, message, model=model, on_text=on_text, options=options)
        return self._counted(reply, prompt, message, options)

    async def asend(
        self,
        prompt: Prompt,
        message: str,
        *,
        model: str = "",
        on_text: OnText | None = None,
        options: RequestOptions = DEFAULT_OPTIONS,
    ) -> Reply:
        """Do the same without blocking; cancelling the task ends the request."""
        reply = await self.client.asend(
            prompt, message, model=model, on_text=on_text, options=options
        )
        return self._counted(reply, prompt, message, options)

    def _counted(
        self, reply: Reply, prompt: Prompt, message: str, options: RequestOptions
    ) -> Reply:
        usage = reply.usage
        if not usage.input:
            usage = replace(usage, fresh=self._tokens(prompt.markdown, message, options.system))
        if not usage.output:
            usage = replace(usage, output=self._tokens(reply.text))
        with self._lock:
            self.usage += usage
            self.on_usage(self.usage)
        return replace(reply, usage=usage)

    def _tokens(self, *texts: str) -> int:
        return self.ratio.provider_tokens(sum(map(count, texts)))


def check_reply(reply: Reply, *, used: int = 0, cost: float | None = None) -> str:
    """Return what is doubtful about a reply, ``""`` for nothing.

    Args:
        reply: The reply.
        used: Tokens that the ticket has used before.
        cost: What the reply has cost in US dollars, ``None`` where that is not known.

    Raises:
        WorkerError: The model refused to answer, or wrote nothing.
    """
    tokens = used + reply.usage.input + reply.usage.output
    if reply.stop is FinishReason.REFUSED:
        raise WorkerError("the model refused to answer", again=False, tokens=tokens, cost=cost)
    if not reply.text.strip():
        raise WorkerError(
            f"the model answered nothing ({reply.stop.value})", tokens=tokens, cost=cost
        )
    if reply.stop is not FinishReason.END:
        return f"the answer is not complete ({reply.stop.value})"
    return ""
