"""A request to a model, and the port of a provider's adapter."""

import json
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Final, Protocol

from aggregate.prompt.document import Prompt
from aggregate.sending.cache.request_plan import UNPLANNED, RequestPlan
from aggregate.sending.models import LoopTurn, OfferedTool, Reply, Usage


class Effort(StrEnum):
    """How long a model thinks before it answers, in the words that the providers share."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


@dataclass(slots=True)
class Meter:
    """What an answer has used so far, for requests that end early."""

    usage: Usage = field(default_factory=Usage)  # as last reported
    # Written since then, with thoughts and arguments of calls
    pieces: list[str] = field(default_factory=list)
    is_open: bool = False  # whether the provider works on the request

    def begin(self) -> None:
        """Count anew: the provider works on a request."""
        self.usage, self.pieces, self.is_open = Usage(), [], True

    def add(self, text: str) -> None:
        self.pieces.append(text)

    def report(self, usage: Usage) -> None:
        """Take what the provider reports of the answer so far; a report of nothing is none."""
        if usage != Usage():
            self.usage, self.pieces = usage, []

    def end(self) -> None:
        """The request has failed: it costs nothing if nothing came of it."""
        self.is_open = self.is_open and bool(self.usage.input or any(self.pieces))


OnText = Callable[[str], None]  # called with each piece of the answer as it comes


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """What a model is asked, and how.

    Attributes:
        prompt: The segments; their markdown is sent byte for byte.
        message: What to say behind it, ``""`` if the prompt ends with the question.
        model: Which model; by default the client's.
        system: The instructions that go before everything.
        max_output: The most tokens that the model may write.
        temperature: How freely the model chooses its words; left out where a provider takes none.
        schema: JSON schema of the answer. Every object in it names all its properties as required and allows no others,
            which all providers understand. Where a provider knows no schemas the answer is free text.
        seconds: How long everything may take, waits between attempts included; ``None`` for the adapter's own limit.
        effort: How long the model thinks before it answers; left out where a provider cannot be told.
        tools: What the model may call instead of an answer.
        turns: What was said and called since the message, of a loop with tools; ``None`` where there is no loop.
        plan: The blocks that are sent, which the client makes where there are none yet; the provider takes all else
            that a planned request holds.
        meter: Filled while the answer comes.
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
    def is_planned(self) -> bool:
        return self.plan is not UNPLANNED

    @property
    def text_only(self) -> "ChatRequest":
        plan = self.plan
        if plan.has_images:
            plan = replace(plan, blocks=tuple(block for block in plan.blocks if not block.image))
        # Tools stay: what was called before makes no sense without them.
        return replace(self, plan=plan, temperature=None, effort=None, schema=None)


def loop_texts(request: ChatRequest) -> Iterator[str]:
    """Yield the texts of a loop with tools, which are counted beside the prompt."""
    for tool in request.tools:
        yield f"{tool.name} {tool.description} {json.dumps(tool.parameters)}"
    for turn in request.turns or ():
        yield turn.text
        yield from (json.dumps(dict(result.call.arguments)) for result in turn.results)
        yield turn.told


DEFAULT_REQUEST: Final = ChatRequest()  # no instructions, the usual limits, nothing sent before


Ask = Callable[[ChatRequest, OnText | None], Awaitable[Reply]]
# What stands around each exchange of a client: it is given the next one, and may change both request and reply.
Middleware = Callable[[Ask, ChatRequest, OnText | None], Awaitable[Reply]]


class Transport(Protocol):
    """A provider's adapter: one exchange, without retries."""

    async def exchange(self, request: ChatRequest, on_text: OnText | None) -> Reply: ...
