"""Ask a model for a ticket, and count what its requests used and cost."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import ceil
from threading import Lock
from typing import Any, Unpack

from aggregate.agents.tracks.answer_schema import enforced_schema
from aggregate.agents.tracks.assignment import Assignment
from aggregate.base.errors import WorkerError
from aggregate.base.tokens import count
from aggregate.prompt.document import Prompt
from aggregate.sending.clients import (
    ChatClient,
    RequestOptions,
    SendOptions,
    cache_policy,
    cost,
    loop_texts,
    shipped_ratio,
    takes_tools,
)
from aggregate.sending.models import SCRIPTED, FinishReason, Reply, Usage


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

    @property
    def takes_tools(self) -> bool:
        """Whether the model is told of tools in its provider's form; a client of the caller's own is not."""
        provider, model = self.asked
        return bool(provider) and takes_tools(provider, model)

    @property
    def taken(self) -> tuple[Usage, float | None]:
        return self.usage, self.cost

    def taken_since(self, before: tuple[Usage, float | None]) -> dict[str, Any]:
        """Return what requests took since ``taken`` was ``before``: tokens, those that are charged, and dollars."""
        usage, cost = self.usage, self.cost
        tokens = usage.input + usage.output - before[0].input - before[0].output
        read = usage.cache_read - before[0].cache_read
        charged = ceil(tokens - read * (1 - self.read_price))
        spent = None if cost is None else cost - (before[1] or 0.0)
        return {"tokens": tokens, "charged": charged, "cost": spent}

    def size(self, *texts: str) -> int:
        return shipped_ratio(*self.asked).provider_tokens(sum(map(count, texts)))

    def send(self, prompt: Prompt, message: str, **asked: Unpack[SendOptions]) -> Reply:
        asked["model"] = asked.get("model") or self.model
        reply = self.client.send(prompt, message, **asked)
        usage = reply.usage
        if not usage.input:
            system = asked["options"].system if "options" in asked else ""
            looped = loop_texts(asked["options"]) if "options" in asked else ()
            usage = replace(usage, fresh=self.size(prompt.markdown, message, system, *looped))
        if not usage.output:
            usage = replace(usage, output=self.size(reply.text))
        with self._lock:
            self.usage += usage
            self.on_usage()
        return replace(reply, usage=usage)

    def answer(
        self,
        assignment: Assignment,
        most: int,
        seconds: float,
        on_text: Callable[[str], None] | None = None,
    ) -> tuple[str, str]:
        """Return the answer to a ticket, of at most so many tokens, and what is doubtful about it."""
        options = RequestOptions(
            system=assignment.persona,
            max_output=min(RequestOptions().max_output, most),
            seconds=seconds,
            schema=enforced_schema(assignment.answer),
        )
        reply = self.send(assignment.prompt, assignment.message, on_text=on_text, options=options)
        if reply.stop is FinishReason.REFUSED:
            raise WorkerError("the model refused to answer", again=False)
        if not reply.text.strip():
            raise WorkerError(f"the model answered nothing ({reply.stop.value})")
        is_whole = reply.stop is FinishReason.END
        return reply.text, "" if is_whole else f"the answer is not complete ({reply.stop.value})"
