"""Server-sent events: what has changed, to every page that listens."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping

from aggregate.panel.protocol import EventData

_SILENCE_SECONDS = 15.0
"""After so long a comment is sent, so that both sides notice that the other one has gone."""
_MOST_WAITING = 100
"""Events that a page has not taken; who has missed more asks for everything anyway."""


def event_text(name: str, data: Mapping[str, object]) -> bytes:
    """Return one event as it is sent."""
    return f"event: {name}\ndata: {json.dumps(data)}\n\n".encode()


class Broadcast:
    """Tells every listener of each event; made and listened to on the server's loop, told on any thread."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._queues: set[asyncio.Queue[EventData | None]] = set()
        self._is_closed = False

    def tell(self, event: EventData) -> None:
        """Tell of an event, from any thread."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._put, event)

    def end(self) -> None:
        """End all streams, from any thread or a signal's handler."""
        self._is_closed = True
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._put, None)

    def _put(self, event: EventData | None) -> None:
        for queue in self._queues:
            if queue.qsize() < _MOST_WAITING or event is None:
                queue.put_nowait(event)

    async def listen(self, hello: EventData) -> AsyncIterator[bytes]:
        """Yield ``hello`` and then each event, until the listener goes or the server ends."""
        self._loop = asyncio.get_running_loop()
        queue: asyncio.Queue[EventData | None] = asyncio.Queue()
        self._queues.add(queue)
        try:
            yield b"retry: 500\n\n" + event_text("change", hello)
            while not self._is_closed:
                try:
                    event = await asyncio.wait_for(queue.get(), _SILENCE_SECONDS)
                except TimeoutError:
                    yield b": still here\n\n"
                    continue
                if event is None:
                    return
                yield event_text("change", event)
        finally:
            self._queues.discard(queue)
