"""A client that adds up what its requests use and cost, by our own count where their server does not say."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Unpack

from aggregate.base.errors import WorkerError
from aggregate.base.tokens import count
from aggregate.base.values import FinishReason, Prompt, Reply, Usage
from aggregate.sending.cache import SCRIPTED
from aggregate.sending.clients import (
    ChatClient,
    RequestOptions,
    SendOptions,
    cache_policy,
    cost,
    shipped_ratio,
)


@dataclass(slots=True)
class MeteredClient:
    """Passes requests on and counts what their replies took; safe to use from many threads.

    Many servers report no tokens. What these cost is estimated, for a limit would else never be reached.
    """

    client: ChatClient
    model: str = ""  # which of the client's models is asked, else its own choice
    on_usage: Callable[[], None] = lambda: None  # called after each reply
    usage: Usage = field(default_factory=Usage)
    # The provider and the model, "" for what a client of the caller's own does not say.
    asked: tuple[str, str] = field(init=False)
    _lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        inner = getattr(self.client, "client", self.client)  # of one that replaces secrets
        provider, usual = getattr(inner, "provider", ""), getattr(inner, "model", "")
        self.asked = str(provider), self.model or str(usual)

    @property
    def read_price(self) -> float:
        """What a token read from the provider's cache costs, in prices of an input token."""
        return cache_policy(*self.asked).read

    @property
    def tokens(self) -> int:
        return self.usage.input + self.usage.output

    @property
    def cost(self) -> float | None:
        """What all replies so far cost in US dollars, ``None`` where that is not known."""
        provider, model = self.asked
        if provider == SCRIPTED:
            return 0.0  # nobody was asked
        if not provider or not self.tokens:
            return None
        amount = cost(self.usage, model, provider=provider)
        return None if amount is None else float(amount)

    def size(self, *texts: str) -> int:
        return shipped_ratio(*self.asked).provider_tokens(sum(map(count, texts)))

    def send(self, prompt: Prompt, message: str, **asked: Unpack[SendOptions]) -> Reply:
        asked["model"] = asked.get("model") or self.model
        reply = self.client.send(prompt, message, **asked)
        usage = reply.usage
        if not usage.input:
            system = asked["options"].system if "options" in asked else ""
            usage = replace(usage, fresh=self.size(prompt.markdown, message, system))
        if not usage.output:
            usage = replace(usage, output=self.size(reply.text))
        with self._lock:
            self.usage += usage
            self.on_usage()
        return replace(reply, usage=usage)

    def answer(
        self,
        prompt: Prompt,
        message: str,
        options: RequestOptions,
        on_text: Callable[[str], None] | None = None,
    ) -> tuple[str, str]:
        reply = self.send(prompt, message, on_text=on_text, options=options)
        if reply.stop is FinishReason.REFUSED:
            raise WorkerError("the model refused to answer", again=False)
        if not reply.text.strip():
            raise WorkerError(f"the model answered nothing ({reply.stop.value})")
        is_whole = reply.stop is FinishReason.END
        return reply.text, "" if is_whole else f"the answer is not complete ({reply.stop.value})"
