"""Adapters that misbehave."""

import asyncio
from dataclasses import dataclass, field
from threading import Event

from aggregate import ProviderError, Reply, Usage
from aggregate.sending.clients.protocol import ModelRequest, OnText


@dataclass
class BreaksOff:
    beginning: str
    error: ProviderError
    asked: int = 0

    async def exchange(self, request: ModelRequest, on_text: OnText | None) -> Reply:
        self.asked += 1
        if on_text:
            on_text(self.beginning)
        raise self.error


@dataclass
class TakesTextAlone:
    """Refuses whatever holds more than a text, as a server does that does not know the rest."""

    status: int = 400
    requests: list[ModelRequest] = field(default_factory=list)

    async def exchange(self, request: ModelRequest, on_text: OnText | None) -> Reply:
        self.requests.append(request)
        if request != request.text_only:
            raise ProviderError("unknown field", status=self.status)
        return Reply("yes", Usage(1, 0, 0, 1))


@dataclass
class Hangs:
    stopped: Event = field(default_factory=Event)

    async def exchange(self, request: ModelRequest, on_text: OnText | None) -> Reply:
        try:
            await asyncio.Event().wait()
            raise AssertionError
        finally:
            self.stopped.set()
