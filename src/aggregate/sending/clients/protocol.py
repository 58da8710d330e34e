"""The two ports: what a client is to its callers, and what a provider's adapter is to the client."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from aggregate.base.values import Prompt, Reply
from aggregate.sending.cache.breakpoints import BlockLayout
from aggregate.sending.cache.request_plan import RequestPlan
from aggregate.sending.clients.capabilities import Effort, ResponseFormat

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
