"""The two ports: what a client is to its callers, and what a provider's adapter is to the client."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final, Protocol, TypedDict, Unpack

from aggregate.base.values import Prompt, Reply, api_family
from aggregate.sending.cache.breakpoints import BlockLayout
from aggregate.sending.cache.policy import longest_start
from aggregate.sending.cache.request_plan import RequestPlan


class ResponseFormat(StrEnum):
    TEXT = "text"  # not at all: the answer is read as it comes
    OBJECT = "object"  # some JSON object; which one is said in the text
    SCHEMA = "schema"  # JSON of that schema


class Effort(StrEnum):
    """How long a model thinks before it answers, in the words that the providers share."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a model takes; there is no lowest temperature where none may be set or none should."""

    lowest_temperature: float | None = None
    response_format: ResponseFormat = ResponseFormat.TEXT
    takes_effort: bool = False

    def temperature(self, requested: float | None) -> float | None:
        if requested is None or self.lowest_temperature is None:
            return None
        return max(requested, self.lowest_temperature)


_TYPED: Final = Capabilities(response_format=ResponseFormat.SCHEMA)
_COOLED: Final = replace(_TYPED, lowest_temperature=0.0)
_THINKING: Final = replace(_TYPED, takes_effort=True)
_ALL: Final = replace(_COOLED, takes_effort=True)
# By provider and the beginning of the model's name; the longest one that fits holds.
_TABLE: Final[Mapping[str, Mapping[str, Capabilities]]] = {
    # The newest models of Anthropic and OpenAI refuse a temperature, and Anthropic's SDK has lost the word.
    "anthropic": {
        "": _THINKING,
        **dict.fromkeys(("claude-haiku-4", "claude-sonnet-4", "claude-opus-4"), _TYPED),
        "claude-sonnet-4-6": _THINKING,
        **{f"claude-opus-4-{minor}": _THINKING for minor in (5, 6, 7, 8)},
    },
    "openai": {"": _THINKING, "gpt-4o": _COOLED, "gpt-4.1": _COOLED},
    # Google: below its own temperature Gemini 3 may loop.
    "gemini": {"": _COOLED, "gemini-3": _THINKING, "gemini-4": _THINKING},
    "deepseek": {"": Capabilities(0.0, ResponseFormat.OBJECT)},
    "minimax": {"": Capabilities(0.01)},
    "compatible": {"": _ALL},
    "scripted": {"": _ALL},
}


def capabilities_of(provider: str, model: str) -> Capabilities:
    table = _TABLE.get(api_family(provider, model), {"": Capabilities()})
    return table[longest_start(model, table)]


def unused_options(provider: str, model: str, options: "RequestOptions") -> tuple[str, ...]:
    capabilities = capabilities_of(provider, model)
    asked, wanted = f"{provider} {model}".strip(), options.temperature
    warnings = []
    if options.effort is not None and not capabilities.takes_effort:
        warnings.append(f"{asked} takes no effort: {options.effort.value} is left out")
    taken = capabilities.temperature(wanted)
    if wanted is not None and taken is None:
        warnings.append(f"{asked} takes no temperature: {wanted:g} is left out")
    elif wanted is not None and taken != wanted:
        warnings.append(f"{asked} takes no temperature of {wanted:g}: {taken:g} is sent")
    return tuple(warnings)


OnText = Callable[[str], None]  # called with each piece of the answer as it comes


@dataclass(frozen=True, slots=True)
class RequestOptions:
    """What a request needs beside the prompt and the message.

    Attributes:
        system: The instructions that go before everything.
        max_output: The most tokens that the model may write.
        earlier: The layout of the last request of the same discussion.
        temperature: How freely the model chooses its words; left out where a provider takes none.
        schema: JSON schema of the answer. Every object in it names all its properties as required and allows no others,
            which all providers understand. Where a provider knows no schemas the answer is free text.
        seconds: How long everything may take, waits between attempts included; ``None`` for the adapter's own limit.
        effort: How long the model thinks before it answers; left out where a provider cannot be told.
    """

    system: str = ""
    max_output: int = 16_000
    earlier: BlockLayout | None = None
    temperature: float | None = None
    schema: Mapping[str, Any] | None = None
    seconds: float | None = None
    effort: Effort | None = None


DEFAULT_OPTIONS: Final = RequestOptions()  # no instructions, the usual limits, nothing sent before


class SendOptions(TypedDict, total=False):
    model: str  # ``""`` for the client's own choice
    on_text: OnText | None
    options: RequestOptions


class ChatClient(Protocol):
    def send(self, prompt: Prompt, message: str, **asked: Unpack[SendOptions]) -> Reply: ...


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """What an adapter sends; its provider takes all of it, and what is ``None`` is left to the model."""

    plan: RequestPlan
    model: str
    max_output: int
    temperature: float | None = None
    schema: Mapping[str, Any] | None = None
    response_format: ResponseFormat = ResponseFormat.TEXT
    effort: Effort | None = None
    seconds: float | None = None  # as ``RequestOptions`` has it

    @property
    def beside_text(self) -> tuple[str, ...]:
        parts = {
            "images": self.plan.has_images,
            "a temperature": self.temperature is not None,
            "an effort": self.effort is not None,
            "a schema": self.response_format is not ResponseFormat.TEXT,
        }
        return tuple(name for name, is_sent in parts.items() if is_sent)

    @property
    def text_only(self) -> "ModelRequest":
        plan = self.plan
        if plan.has_images:
            plan = replace(plan, blocks=tuple(block for block in plan.blocks if not block.image))
        return ModelRequest(plan, self.model, self.max_output, seconds=self.seconds)


class Transport(Protocol):
    """A provider's adapter: one exchange, without retries."""

    async def exchange(self, request: ModelRequest, on_text: OnText | None) -> Reply: ...
