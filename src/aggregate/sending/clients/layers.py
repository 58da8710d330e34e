"""Layers of a client (``Client.through``): one adds up costs, one replaces secrets."""

from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path

from aggregate.base.redaction import Redaction, redact
from aggregate.prompt.document import Prompt
from aggregate.sending.clients.client import Ask, ChatRequest, Client, Middleware, OnText
from aggregate.sending.models import LoopTurn, Reply, Usage
from aggregate.sending.prices import Bill, keep_charge


def charged(client: Client, project: Path) -> Client:
    """Return a client that adds costs to a project's totals; requests that end early count too."""

    async def keep(ask: Ask, request: ChatRequest, on_text: "OnText | None") -> Reply:
        provider, model = client.provider, request.model or client.model
        try:
            reply = await ask(request, on_text)
        except BaseException:
            if stopped := client.stopped_bill(request, Usage()):
                keep_charge(project, provider, model, stopped)
            raise
        keep_charge(project, provider, model, Bill.of(provider, model, Usage(), reply.usage))
        return reply

    return client.through(keep)


def redacting(
    allow: Collection[str] = (), *, tell: Callable[[str], None] | None = None
) -> Middleware:
    """Return a client layer that replaces secrets in requests.

    It is passed to ``Client.through``. Tools and other workers add texts after the prompt is redacted. ``allow`` are
    hashes of harmless values; ``tell`` is called once for each secret.
    """
    redaction, sentences = Redaction(frozenset(allow)), set[str]()

    def without_secrets(source: str, text: str) -> str:
        result = redact(text, redaction)
        for finding in result.findings:
            sentence = f"{source}:{finding.line}: {finding.sentence}"
            if tell and sentence not in sentences:
                sentences.add(sentence)
                tell(sentence)
        return result.text

    async def redacted(ask: Ask, request: ChatRequest, on_text: OnText | None) -> Reply:
        def redacted_turn(turn: LoopTurn) -> LoopTurn:
            results = tuple(
                replace(result, text=without_secrets(result.call.name, result.text))
                for result in turn.results
            )
            return replace(turn, results=results, note=without_secrets("message", turn.note))

        segments = (
            replace(part, text=without_secrets(part.source or part.section.value, part.text))
            for part in request.prompt.segments
        )
        safe = replace(
            request,
            prompt=Prompt(tuple(segments)),
            system=without_secrets("instructions", request.system),
            message=without_secrets("message", request.message),
            turns=request.turns and tuple(map(redacted_turn, request.turns)),
        )
        return await ask(safe, on_text)

    return redacted
