"""The two ports: what a client is to its callers, and what a provider's adapter is to the client."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, Protocol

from aggregate.base.values import Prompt, Reply, api_family, bare_model_name
from aggregate.sending.cache.breakpoints import BlockLayout
from aggregate.sending.cache.request_plan import RequestPlan


class ResponseFormat(StrEnum):
    """How far an answer can be bound to a schema."""

    TEXT = "text"
    """Not at all: the answer is read as it comes."""
    OBJECT = "object"
    """Some JSON object; which one is said in the text."""
    SCHEMA = "schema"
    """JSON of that schema."""


class Effort(StrEnum):
    """How long a model thinks before it answers, in the words that the providers share."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a model takes.

    Attributes:
        lowest_temperature: ``None`` where none may be set or none should.
        response_format: How an answer is bound to a schema.
        takes_effort: Whether it can be told how long to think.
    """

    lowest_temperature: float | None = None
    response_format: ResponseFormat = ResponseFormat.TEXT
    takes_effort: bool = False

    def temperature(self, requested: float | None) -> float | None:
        """Return the temperature to send, ``None`` for none."""
        if requested is None or self.lowest_temperature is None:
            return None
        return max(requested, self.lowest_temperature)


_TABLE: Final = (
    # The newest models of Anthropic and OpenAI refuse a temperature, and Anthropic's SDK has lost the word.
    ("anthropic", "", Capabilities(None, ResponseFormat.SCHEMA, takes_effort=True)),
    ("anthropic", "claude-haiku-4", Capabilities(None, ResponseFormat.SCHEMA)),
    ("anthropic", "claude-sonnet-4", Capabilities(None, ResponseFormat.SCHEMA)),
    (
        "anthropic",
        "claude-sonnet-4-6",
        Capabilities(None, ResponseFormat.SCHEMA, takes_effort=True),
    ),
    ("anthropic", "claude-opus-4", Capabilities(None, ResponseFormat.SCHEMA)),
    ("anthropic", "claude-opus-4-5", Capabilities(None, ResponseFormat.SCHEMA, takes_effort=True)),
    ("anthropic", "claude-opus-4-6", Capabilities(None, ResponseFormat.SCHEMA, takes_effort=True)),
    ("anthropic", "claude-opus-4-7", Capabilities(None, ResponseFormat.SCHEMA, takes_effort=True)),
    ("anthropic", "claude-opus-4-8", Capabilities(None, ResponseFormat.SCHEMA, takes_effort=True)),
    ("openai", "", Capabilities(None, ResponseFormat.SCHEMA, takes_effort=True)),
    ("openai", "gpt-4o", Capabilities(0.0, ResponseFormat.SCHEMA)),
    ("openai", "gpt-4.1", Capabilities(0.0, ResponseFormat.SCHEMA)),
    ("gemini", "", Capabilities(0.0, ResponseFormat.SCHEMA)),
    # Google: below its own temperature Gemini 3 may loop.
    ("gemini", "gemini-3", Capabilities(None, ResponseFormat.SCHEMA, takes_effort=True)),
    ("gemini", "gemini-4", Capabilities(None, ResponseFormat.SCHEMA, takes_effort=True)),
    ("deepseek", "", Capabilities(0.0, ResponseFormat.OBJECT)),
    ("minimax", "", Capabilities(0.01, ResponseFormat.TEXT)),
    ("compatible", "", Capabilities(0.0, ResponseFormat.SCHEMA, takes_effort=True)),
    ("scripted", "", Capabilities(0.0, ResponseFormat.SCHEMA, takes_effort=True)),
)
"""By provider and the beginning of the model's name; the longest one that fits holds."""


def capabilities_of(provider: str, model: str) -> Capabilities:
    """Return what a provider's model takes; one that is not in the table takes text alone."""
    name = bare_model_name(model)
    family = api_family(provider, model)
    rows = [(start, row) for who, start, row in _TABLE if who == family and name.startswith(start)]
    _, capabilities = max(rows, key=lambda row: len(row[0]), default=("", Capabilities()))
    return capabilities


def unused_options(
    provider: str, model: str, *, effort: Effort | None, temperature: float | None
) -> tuple[str, ...]:
    """Return a warning for each option that a user has set and the model does not take."""
    capabilities = capabilities_of(provider, model)
    asked = f"{provider} {model}".strip()
    warnings = []
    if effort is not None and not capabilities.takes_effort:
        warnings.append(f"{asked} takes no effort: {effort.value} is left out")
    taken = capabilities.temperature(temperature)
    if temperature is not None and taken is None:
        warnings.append(f"{asked} takes no temperature: {temperature:g} is left out")
    elif temperature is not None and taken != temperature:
        warnings.append(f"{asked} takes no temperature of {temperature:g}: {taken:g} is sent")
    return tuple(warnings)


OnText = Callable[[str], None]
"""Called with each piece of the answer as it comes."""


@dataclass(frozen=True, slots=True)
class RequestOptions:
    """What a request needs beside the prompt and the message.

    Attributes:
        system: The instructions that go before everything.
        max_output: The most tokens that the model may write.
        earlier: The layout of the last request of the same discussion.
        temperature: How freely the model chooses its words; left out where a provider takes none.
        effort: How long the model thinks before it answers; left out where a provider cannot be told.
        schema: JSON schema of the answer. Every object in it names all its properties as required and allows no others,
            which all providers understand. Where a provider knows no schemas the answer is free text.
        seconds: How long everything may take, waits between attempts included; ``None`` for the adapter's own limit.
    """

    system: str = ""
    max_output: int = 16_000
    earlier: BlockLayout | None = None
    temperature: float | None = None
    schema: Mapping[str, Any] | None = None
    seconds: float | None = None
    effort: Effort | None = None


DEFAULT_OPTIONS: Final = RequestOptions()
"""No instructions, the usual limits, nothing sent before."""


class ChatClient(Protocol):
    """A client: it sends a prompt to a model and returns the answer."""

    def send(
        self,
        prompt: Prompt,
        message: str,
        *,
        model: str = "",
        on_text: OnText | None = None,
        options: RequestOptions = DEFAULT_OPTIONS,
    ) -> Reply:
        """Send ``prompt`` and then ``message``; block until the answer is there."""
        ...

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
        ...


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """What an adapter sends; its provider takes all of it.

    Attributes:
        plan: The text.
        model: Who is asked.
        max_output: The most tokens of the answer.
        temperature: ``None`` for the model's own.
        schema: What the answer must be, ``None`` for free text.
        response_format: How the answer is bound to the schema.
        effort: How long to think, ``None`` for the model's own.
    """

    plan: RequestPlan
    model: str
    max_output: int
    temperature: float | None = None
    schema: Mapping[str, Any] | None = None
    response_format: ResponseFormat = ResponseFormat.TEXT
    effort: Effort | None = None

    @property
    def beside_text(self) -> tuple[str, ...]:
        """What it has that ``text_only`` has not, in words."""
        parts = {
            "images": self.plan.has_images,
            "a temperature": self.temperature is not None,
            "an effort": self.effort is not None,
            "a schema": self.response_format is not ResponseFormat.TEXT,
        }
        return tuple(name for name, is_sent in parts.items() if is_sent)

    @property
    def text_only(self) -> "ModelRequest":
        """The same request with its text alone."""
        plan = self.plan.without_images if self.plan.has_images else self.plan
        return ModelRequest(plan, self.model, self.max_output)


class Transport(Protocol):
    """A provider's adapter: one exchange, without retries."""

    async def exchange(self, request: ModelRequest, on_text: OnText | None) -> Reply:
        """Send a request and return the answer, calling ``on_text`` with its pieces.

        Raises:
            ProviderError: The provider refused or failed.
        """
        ...
