"""What a client is to its callers, and what a provider's adapter is to the client."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from aggregate.clients.plan import Layout, Plan
from aggregate.models.prompt import Prompt
from aggregate.models.reply import Reply

OnText = Callable[[str], None]
"""Called with each piece of the answer as it comes."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What a request needs beside the prompt and the message.

    Attributes:
        system: The instructions that go before everything.
        max_output: The most tokens that the model may write.
        earlier: The layout of the last request of the same discussion.
        weights: How likely each segment of the prompt is the first one to change.
    """

    system: str = ""
    max_output: int = 16_000
    earlier: Layout | None = None
    weights: Sequence[float] | None = None


class Asks(Protocol):
    """A client: it sends a prompt to a model and returns the answer."""

    def send(
        self, prompt: Prompt, message: str, *, model: str = "", on_text: OnText | None = None, turn: Turn = ...
    ) -> Reply:
        """Send ``prompt`` and then ``message``; block until the answer is there."""
        ...

    async def asend(
        self, prompt: Prompt, message: str, *, model: str = "", on_text: OnText | None = None, turn: Turn = ...
    ) -> Reply:
        """Do the same without blocking; cancelling the task ends the request."""
        ...


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """What an adapter sends."""

    plan: Plan
    model: str
    max_output: int


class Transport(Protocol):
    """A provider's adapter: one exchange, without retries."""

    async def exchange(self, request: ModelRequest, on_text: OnText | None) -> Reply:
        """Send a request and return the answer, calling ``on_text`` with its pieces.

        Raises:
            ProviderError: The provider refused or failed.
        """
        ...
