"""A provider's client as the model of an agent."""

from dataclasses import dataclass
from math import ceil
from typing import Final

from aggregate.agents.goals.questions import Completion, Model, Question
from aggregate.sending.clients import ChatRequest, Client
from aggregate.sending.models import FinishReason

_PROBLEMS: Final = {
    FinishReason.REFUSED: "it refused to answer",
    FinishReason.LENGTH: "its answer was cut at the limit of tokens",
}


@dataclass(frozen=True, slots=True)
class ChatModel:
    """Asks each question as a message of its own, at its temperature and for an answer of its form."""

    client: Client
    model: str = ""

    def ask(self, question: Question) -> Completion:
        most = ChatRequest().max_output
        left = most if question.tokens_left is None else question.tokens_left
        reply = self.client.send(
            ChatRequest(
                message=question.text,
                model=self.model,
                max_output=max(1, min(most, left)),
                temperature=question.temperature,
                schema=question.schema,
                seconds=question.seconds_left,
            )
        )
        usage = reply.usage
        # Where the provider says nothing, a token for every four characters.
        tokens = usage.input + usage.output or (len(question.text) + len(reply.text)) // 4
        charged = ceil(tokens - usage.cache_read * (1 - reply.read_price))
        return Completion(reply.text, tokens, _PROBLEMS.get(reply.stop, ""), charged)


def as_model(client: Model | Client) -> Model:
    """Return ``client`` as something that answers questions: itself, or a provider's client behind an adapter."""
    return client if isinstance(client, Model) else ChatModel(client)
