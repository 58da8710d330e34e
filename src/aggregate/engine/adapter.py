"""A provider's client as the engine's model."""

from dataclasses import dataclass, field
from typing import Protocol

from aggregate.engine.model import Answered, Model, Question
from aggregate.models.prompt import Prompt


class Used(Protocol):
    """What a request has cost."""

    @property
    def input(self) -> int:
        """Tokens of the question."""
        ...

    @property
    def output(self) -> int:
        """Tokens of the answer."""
        ...


class Replied(Protocol):
    """What a client returns."""

    @property
    def text(self) -> str:
        """What the model wrote."""
        ...

    @property
    def usage(self) -> Used:
        """What it has cost."""
        ...


class Sends(Protocol):
    """A client."""

    def send(self, prompt: Prompt, message: str, *, model: str = "") -> Replied:
        """Send ``prompt`` and then ``message``, and return the answer."""
        ...


@dataclass(frozen=True, slots=True)
class ClientModel:
    """Asks each question as a message of its own.

    Attributes:
        client: The client; the temperature of a question is its affair.
        model: Which of its models; ``""`` is its own choice.
        prompt: What stands before every question: a context that a provider's cache then holds.
    """

    client: Sends
    model: str = ""
    prompt: Prompt = field(default_factory=lambda: Prompt(()))

    def ask(self, question: Question) -> Answered:
        """Send the question and return the answer with its tokens."""
        reply = self.client.send(self.prompt, question.text, model=self.model)
        return Answered(reply.text, reply.usage.input + reply.usage.output)


def model_of(client: Model | Sends) -> Model:
    """Return ``client`` as something that answers questions: itself, or a provider's client behind an adapter."""
    return client if isinstance(client, Model) else ClientModel(client)
