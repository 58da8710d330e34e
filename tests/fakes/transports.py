"""Adapters that misbehave."""

import asyncio
from dataclasses import dataclass, field
from threading import Event

from aggregate.clients.protocol import ModelRequest, OnText
from aggregate.errors import ProviderError
from aggregate.models.reply import Reply


@dataclass
class BreaksOff:
    """Passes on the beginning of an answer, then fails."""

    beginning: str
    error: ProviderError
    asked: int = 0

    async def exchange(self, request: ModelRequest, on_text: OnText | None) -> Reply:
        """Fail in the middle."""
        self.asked += 1
        if on_text:
            on_text(self.beginning)
        raise self.error


@dataclass
class Hangs:
    """Never answers, and notes that it was told to stop."""

    stopped: Event = field(default_factory=Event)

    async def exchange(self, request: ModelRequest, on_text: OnText | None) -> Reply:
        """Wait for ever."""
        try:
            await asyncio.Event().wait()
            raise AssertionError
        finally:
            self.stopped.set()
