"""A client without a model: it answers by a script, and its usage is what Anthropic's cache would have charged."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from aggregate.base.errors import ProviderError
from aggregate.base.tokens import count
from aggregate.base.values import Reply
from aggregate.sending.cache.simulator import SimulatedCache, charge
from aggregate.sending.clients.client import Client
from aggregate.sending.clients.protocol import ModelRequest, OnText

_MODEL = "claude-sonnet-5"
Script = Iterable[str | Reply | ProviderError] | Callable[[ModelRequest], str | Reply]
"""Answers in order, an error among them is raised; or a function that answers each request."""


@dataclass(slots=True)
class ScriptedTransport:
    """The adapter: it keeps every request, and a cache that lives as long as it does."""

    answers: Iterator[str | Reply | ProviderError] | Callable[[ModelRequest], str | Reply]
    cache: SimulatedCache = field(default_factory=SimulatedCache)
    requests: list[ModelRequest] = field(default_factory=list)

    async def exchange(self, request: ModelRequest, on_text: OnText | None) -> Reply:
        self.requests.append(request)
        answer = self.answers(request) if callable(self.answers) else next(self.answers, None)
        if answer is None:
            raise ProviderError(
                f"the script has no answer to request {len(self.requests)}: add one"
            )
        if isinstance(answer, ProviderError):
            raise answer
        usage, self.cache = charge(request.plan, self.cache)
        if isinstance(answer, str):
            answer = Reply(answer, replace(usage, output=count(answer)), model=request.model)
        if on_text:
            for line in answer.text.splitlines(keepends=True):
                on_text(line)
        return answer


def scripted_client(
    script: Script | None = None, *, cache: SimulatedCache | None = None, model: str = _MODEL
) -> Client:
    """Return a client that answers by a script, without network or key, as if ``model``'s cache and prices held.

    By default each request is answered with a line about what was sent.
    """
    answers = script if callable(script) else iter(script) if script is not None else _describe
    return Client("scripted", ScriptedTransport(answers, cache or SimulatedCache()), model)


def _describe(request: ModelRequest) -> str:
    plan = request.plan
    blocks = f"{len(plan.blocks):,} block{'s' * (len(plan.blocks) != 1)}"
    return f"No model was asked; {plan.total:,} tokens in {blocks} arrived at the scripted client."
