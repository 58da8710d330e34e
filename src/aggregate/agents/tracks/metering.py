"""Tokens and faults of replies; token counts that the server does not report are estimated."""

from dataclasses import replace

from aggregate.base.tokens import count
from aggregate.sending.clients import (
    Ask,
    ChatRequest,
    Client,
    OnText,
    cost,
    loop_texts,
    shipped_ratio,
)
from aggregate.sending.models import SCRIPTED, FinishReason, Reply


def size_of(client: Client, *texts: str) -> int:
    """Estimate the tokens of texts for the client's model."""
    ratio = shipped_ratio(client.provider, client.model)
    return ratio.provider_tokens(sum(map(count, texts)))


def metered(client: Client) -> Client:
    """Return a client that estimates token counts that the server does not report."""

    async def metering(ask: Ask, request: ChatRequest, on_text: OnText | None) -> Reply:
        reply = await ask(request, on_text)
        usage, price = reply.usage, reply.price
        if not usage.input:
            sent = (request.prompt.markdown, request.message, request.system, *loop_texts(request))
            usage = replace(usage, fresh=size_of(client, *sent))
        if not usage.output:
            usage = replace(usage, output=size_of(client, reply.text))
        if price is not None and usage != reply.usage and client.provider != SCRIPTED:
            price = cost(usage, client.model, provider=client.provider)
        return replace(reply, usage=usage, price=price)

    return client.through(metering)


def fault_of(reply: Reply) -> str:
    """Return why a reply has no answer, or ``""``. A retry is useful unless the model refused."""
    if reply.stop is FinishReason.REFUSED:
        return "the model refused to answer"
    return "" if reply.text.strip() else f"the model answered nothing ({reply.stop.value})"


def doubt_of(reply: Reply) -> str:
    is_whole = reply.stop is FinishReason.END
    return "" if is_whole else f"the answer is incomplete ({reply.stop.value})"
