"""A client that adds up what its requests use, by our own count where their server does not say."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from threading import Lock

from aggregate.base.tokens import count
from aggregate.base.values import Prompt, Reply, Usage
from aggregate.sending.clients import (
    DEFAULT_OPTIONS,
    OWN_COUNT,
    ChatClient,
    OnText,
    RequestOptions,
    TokenRatio,
)


@dataclass(slots=True)
class MeteredClient:
    """Passes requests on and counts what their replies took; safe to use from many threads.

    Many servers report no tokens. What these cost is estimated, for a limit would else never be reached.

    Attributes:
        client: Sends them.
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
        """Add up what a reply took; it is returned with that."""
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
