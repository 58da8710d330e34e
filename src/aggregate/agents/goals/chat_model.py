"""A provider's client as the agent's model."""

from dataclasses import dataclass, field, replace
from math import ceil
from typing import Final

from aggregate.agents.goals.model import Completion, Model, Question, QuestionKind
from aggregate.base.values import FinishReason, Prompt, Reply
from aggregate.sending.clients import (
    DEFAULT_OPTIONS,
    ChatClient,
    Client,
    RequestOptions,
    cache_policy,
)

_PROBLEMS: Final = {
    FinishReason.REFUSED: "it refused to answer",
    FinishReason.LENGTH: "its answer was cut at the limit of tokens",
}


@dataclass(frozen=True, slots=True)
class ChatModel:
    """Asks each question as a message of its own, at its temperature and for an answer of its form.

    Attributes:
        client: The client; it leaves out what its provider does not take.
        model: Which of its models; ``""`` is its own choice.
        prompt: What stands before every question: a context that a provider's cache then holds.
        read_price: What a token read from the provider's cache costs, in prices of an input token.
        system: Instructions that go before the prompt.
        prompted: The questions that the prompt and the instructions go before, ``None`` for all of them. Their answers
            are not bound to a form: providers put a form before the prompt, where it would keep their cache from it.
    """

    client: ChatClient
    model: str = ""
    prompt: Prompt = field(default_factory=lambda: Prompt(()))
    read_price: float = 1.0
    system: str = ""
    prompted: frozenset[QuestionKind] | None = None

    def ask(self, question: Question) -> Completion:
        """Send the question and return the answer with its tokens; what was refused or cut is no answer."""
        options, prompt = _options(question), self.prompt
        if self.prompted is not None:
            is_prompted = question.call in self.prompted
            prompt = prompt if is_prompted else Prompt(())
            options = replace(options, schema=None) if is_prompted else options
        if prompt.segments:
            options = replace(options, system=self.system)
        reply = self.client.send(prompt, question.text, model=self.model, options=options)
        tokens = _tokens(question, reply)
        discount = reply.usage.cache_read * (1 - self.read_price)
        return Completion(
            reply.text, tokens, _PROBLEMS.get(reply.stop, ""), charged=ceil(tokens - discount)
        )


def as_model(client: Model | ChatClient) -> Model:
    """Return ``client`` as something that answers questions: itself, or a provider's client behind an adapter."""
    if isinstance(client, Model):
        return client
    if isinstance(client, Client):
        return ChatModel(client, read_price=cache_policy(client.provider, client.model).read)
    return ChatModel(client)


def _options(question: Question) -> RequestOptions:
    left = DEFAULT_OPTIONS.max_output if question.tokens_left is None else question.tokens_left
    return RequestOptions(
        max_output=max(1, min(DEFAULT_OPTIONS.max_output, left)),
        temperature=question.temperature,
        schema=question.schema,
        seconds=question.seconds_left,
    )


def _tokens(question: Question, reply: Reply) -> int:
    """Return what the provider has counted; where it says nothing, a token for every four characters."""
    return reply.usage.input + reply.usage.output or (len(question.text) + len(reply.text)) // 4
