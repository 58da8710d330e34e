"""A client that adds up what its requests use."""

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock

from aggregate.clients.protocol import DEFAULT_OPTIONS, ChatClient, OnText, RequestOptions
from aggregate.models.prompt import Prompt
from aggregate.models.reply import Reply
from aggregate.models.usage import Usage


@dataclass(slots=True)
class MeteredClient:
    """Passes requests on and counts what was reported for their replies; safe to use from many threads.

    Attributes:
        client: Sends them.
        on_usage: Called with the usage of all replies so far, after each of them.
        usage: Of all replies so far.
    """

    client: ChatClient
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
        return self._counted(reply)

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
        return self._counted(reply)

    def _counted(self, reply: Reply) -> Reply:
        with self._lock:
            self.usage += reply.usage
            self.on_usage(self.usage)
        return reply
