"""Ask a model for a ticket, and count what its requests used and cost."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from threading import Lock

from aggregate.agents.tracks.answer_schema import enforced_schema
from aggregate.agents.tracks.assignment import Assignment
from aggregate.base.errors import WorkerError
from aggregate.base.tokens import count
from aggregate.sending.clients import (
    Ask,
    ChatRequest,
    Client,
    OnText,
    cost,
    loop_texts,
    shipped_ratio,
    takes_tools,
)
from aggregate.sending.models import SCRIPTED, FinishReason, Reply, Usage


@dataclass(slots=True)
class MeteredClient:
    """A client that counts what its replies took; safe to use from many threads.

    Many servers report no tokens. What these cost is estimated, for a limit would else never be reached.
    """

    client: Client
    on_usage: Callable[[], None] = lambda: None  # called after each reply
    usage: Usage = field(default_factory=Usage)
    # What all replies so far cost in US dollars, ``None`` where that is not known or none has come
    cost: float | None = None
    _lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        self.client = self.client.through(self._counting)

    @property
    def tokens(self) -> int:
        return self.usage.input + self.usage.output

    @property
    def takes_tools(self) -> bool:
        """Whether the model is told of tools in its provider's form."""
        return takes_tools(self.client.provider, self.client.model)

    def size(self, *texts: str) -> int:
        ratio = shipped_ratio(self.client.provider, self.client.model)
        return ratio.provider_tokens(sum(map(count, texts)))

    async def _counting(self, ask: Ask, request: ChatRequest, on_text: OnText | None) -> Reply:
        reply = await ask(request, on_text)
        usage, price = reply.usage, reply.price
        if not usage.input:
            texts = (request.prompt.markdown, request.message, request.system)
            sent = self.size(*texts, *loop_texts(request))
            usage = replace(usage, fresh=sent)
        if not usage.output:
            usage = replace(usage, output=self.size(reply.text))
        is_estimated = usage != reply.usage and self.client.provider != SCRIPTED
        if price is not None and is_estimated:
            price = cost(usage, self.client.model, provider=self.client.provider)
        with self._lock:
            so_far = 0.0 if not self.tokens else self.cost
            self.cost = None if price is None or so_far is None else so_far + float(price)
            self.usage += usage
            self.on_usage()
        return replace(reply, usage=usage, price=price)

    def answer(
        self,
        assignment: Assignment,
        most: int,
        seconds: float,
        on_text: Callable[[str], None] | None = None,
    ) -> tuple[str, str]:
        """Return the answer to a ticket, of at most so many tokens, and what is doubtful about it."""
        request = ChatRequest(
            assignment.prompt,
            assignment.message,
            system=assignment.persona,
            max_output=min(ChatRequest().max_output, most),
            seconds=seconds,
            schema=enforced_schema(assignment.answer),
        )
        reply = self.client.send(request, on_text)
        if reply.stop is FinishReason.REFUSED:
            raise WorkerError("the model refused to answer", again=False)
        if not reply.text.strip():
            raise WorkerError(f"the model answered nothing ({reply.stop.value})")
        is_whole = reply.stop is FinishReason.END
        return reply.text, "" if is_whole else f"the answer is not complete ({reply.stop.value})"
