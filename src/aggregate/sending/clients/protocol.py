"""Requests to a model, and the protocol of adapters."""

import json
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Final, Protocol

from aggregate.prompt.document import Prompt
from aggregate.sending.cache.request_plan import UNPLANNED, RequestPlan
from aggregate.sending.models import LoopTurn, OfferedTool, Reply, Usage


class Effort(StrEnum):
    """How long a model thinks before it answers, in the providers' terms."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


@dataclass(slots=True)
class Meter:
    """The usage reported so far for an unfinished answer, to bill requests that end early."""

    usage: Usage = field(default_factory=Usage)  # as last reported
    # Texts since then, with thoughts and arguments of calls
    pieces: list[str] = field(default_factory=list)
    is_open: bool = False  # the provider is working on the request

    def begin(self) -> None:
        """Start counting a new request."""
        self.usage, self.pieces, self.is_open = Usage(), [], True

    def add(self, text: str) -> None:
        self.pieces.append(text)

    def report(self, usage: Usage) -> None:
        """Set the usage that the provider has reported so far; an empty report is ignored."""
        if usage != Usage():
            self.usage, self.pieces = usage, []

    def end(self) -> None:
        """End a request that failed; it is free if nothing was received."""
        self.is_open = self.is_open and bool(self.usage.input or any(self.pieces))


OnText = Callable[[str], None]  # called with each piece of a streamed answer


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A request to a model.

    Attributes:
        prompt: The segments; their markdown is sent byte for byte.
        message: The text after the prompt, ``""`` if the prompt ends with the question.
        model: The model, by default the client's.
        system: The instructions before everything else.
        max_output: Largest number of tokens in the answer.
        temperature: Randomness of the answer; dropped if the provider does not support it.
        schema: JSON schema of the answer. Every object in it requires all its properties and allows no others, as all
            providers support. Providers without schemas answer in free text.
        seconds: Timeout, waits between attempts included; ``None`` for the adapter's own limit.
        effort: How long the model thinks before it answers; dropped if the provider does not support it.
        tools: Tools that the model may call.
        turns: The turns of a tool loop since the message, ``None`` without a loop.
        plan: The blocks to send, made by the client if missing. Unsupported fields are dropped at the same time.
        meter: Filled while the answer is received.
    """

    prompt: Prompt = Prompt(())  # noqa: RUF009 - an immutable value
    message: str = ""
    model: str = ""
    system: str = ""
    max_output: int = 16_000
    temperature: float | None = None
    schema: Mapping[str, Any] | None = None
    seconds: float | None = None
    effort: Effort | None = None
    tools: tuple[OfferedTool, ...] = ()
    turns: tuple[LoopTurn, ...] | None = None
    plan: RequestPlan = UNPLANNED
    meter: Meter = field(default_factory=Meter, compare=False, repr=False)

    @property
    def text_only(self) -> "ChatRequest":
        plan = self.plan
        if plan.has_images:
            plan = replace(plan, blocks=tuple(block for block in plan.blocks if not block.image))
        # Tools stay, because earlier calls refer to them.
        return replace(self, plan=plan, temperature=None, effort=None, schema=None)


def loop_texts(request: ChatRequest) -> Iterator[str]:
    """Yield the texts of a request's tool loop, which are not part of its prompt."""
    for tool in request.tools:
        yield f"{tool.name} {tool.description} {json.dumps(tool.parameters)}"
    for turn in request.turns or ():
        yield turn.text
        yield from (json.dumps(dict(result.call.arguments)) for result in turn.results)
        yield turn.response


DEFAULT_REQUEST: Final = ChatRequest()


Ask = Callable[[ChatRequest, OnText | None], Awaitable[Reply]]
# A wrapper of each exchange: it calls the next one and may change both request and reply.
Middleware = Callable[[Ask, ChatRequest, OnText | None], Awaitable[Reply]]


class Transport(Protocol):
    """A provider's adapter, without retries."""

    async def exchange(self, request: ChatRequest, on_text: OnText | None) -> Reply: ...
