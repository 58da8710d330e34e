"""Clients that answer by a script, and adapters that misbehave."""

import asyncio
from dataclasses import dataclass, field, replace
from threading import Event

from aggregate import Client, ProviderError, Reply, Usage
from aggregate.sending.clients import (
    ChatRequest,
    OnText,
    Retry,
    Script,
    ScriptedTransport,
    scripted_client,
)

ONCE, QUICK = Retry(attempts=1), Retry(first=0.01)


def scripted(
    script: Script,
    provider: str = "scripted",
    *,
    model: str = "claude-sonnet-5",
    like: Client | None = None,
) -> Client:
    """Return a client that answers by a script and does not ask again; ``like`` another it has its model and cache."""
    if like:
        assert isinstance(like.transport, ScriptedTransport)
        return scripted_client(script, cache=like.transport.cache, model=like.model)
    return replace(scripted_client(script, model=model), provider=provider, retry=ONCE)


def requests_of(client: Client) -> list[ChatRequest]:
    """Return what a scripted client was asked."""
    assert isinstance(client.transport, ScriptedTransport)
    return client.transport.requests


def whole_text(request: ChatRequest) -> str:
    """Return a request as one text, instructions and message included."""
    return "\n\n".join(filter(None, (request.plan.system, request.plan.text)))


@dataclass
class BreaksOff:
    beginning: str
    error: ProviderError
    asked: int = 0

    async def exchange(self, request: ChatRequest, on_text: OnText | None) -> Reply:
        self.asked += 1
        if on_text:
            on_text(self.beginning)
        raise self.error


@dataclass
class TakesTextAlone:
    """Refuses whatever holds more than a text, as a server does that does not know the rest."""

    status: int = 400
    requests: list[ChatRequest] = field(default_factory=list)

    async def exchange(self, request: ChatRequest, on_text: OnText | None) -> Reply:
        self.requests.append(request)
        if request != request.text_only:
            raise ProviderError("unknown field", status=self.status)
        return Reply("yes", Usage(1, 0, 0, 1))


@dataclass
class Hangs:
    stopped: Event = field(default_factory=Event)

    async def exchange(self, request: ChatRequest, on_text: OnText | None) -> Reply:
        try:
            await asyncio.Event().wait()
            raise AssertionError
        finally:
            self.stopped.set()
