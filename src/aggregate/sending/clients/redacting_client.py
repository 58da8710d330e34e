"""A client that sends no secrets: for requests whose text is made on the way, by tools and other workers."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace

from aggregate.base.redaction import redact
from aggregate.base.values import Finding, Prompt, Redaction, Reply
from aggregate.sending.clients.protocol import DEFAULT_OPTIONS, ChatClient, OnText, RequestOptions


@dataclass(frozen=True, slots=True)
class RedactingClient:
    """Replaces the secrets in everything that it passes on to another client.

    Attributes:
        client: Sends the rest.
        redaction: Which secrets are replaced.
        on_finding: Called with where a secret was and what it is, for the same one each time that it is sent.
    """

    client: ChatClient
    redaction: Redaction = field(default_factory=Redaction)
    on_finding: Callable[[str, Finding], None] | None = field(default=None, repr=False)

    def send(
        self,
        prompt: Prompt,
        message: str,
        *,
        model: str = "",
        on_text: OnText | None = None,
        options: RequestOptions = DEFAULT_OPTIONS,
    ) -> Reply:
        """Send what is left of ``prompt`` and ``message``; the errors are those of the other client."""
        prompt, message, options = self._redact(prompt, message, options)
        return self.client.send(prompt, message, model=model, on_text=on_text, options=options)

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
        prompt, message, options = self._redact(prompt, message, options)
        return await self.client.asend(
            prompt, message, model=model, on_text=on_text, options=options
        )

    def _redact(
        self, prompt: Prompt, message: str, options: RequestOptions
    ) -> tuple[Prompt, str, RequestOptions]:
        segments = tuple(
            replace(
                segment,
                text=self._redact_text(segment.source or segment.section.value, segment.text),
            )
            for segment in prompt.segments
        )
        options = replace(options, system=self._redact_text("instructions", options.system))
        return Prompt(segments), self._redact_text("message", message), options

    def _redact_text(self, place: str, text: str) -> str:
        result = redact(text, self.redaction)
        if self.on_finding:
            for finding in result.findings:
                self.on_finding(place, finding)
        return result.text


def with_redaction(
    client: ChatClient, *, allow: Collection[str] = (), tell: Callable[[str], None] | None = None
) -> ChatClient:
    """Return a client that passes no secrets on to ``client``.

    Args:
        client: Sends the rest.
        allow: Hashes of values that are no secrets.
        tell: Called with one sentence for each secret, once however often it is sent.
    """
    reported: set[tuple[str, Finding]] = set()

    def on_finding(place: str, finding: Finding) -> None:
        if tell and (place, finding) not in reported:
            reported.add((place, finding))
            tell(f"{place}:{finding.line}: {finding.sentence}")

    return RedactingClient(client, Redaction(frozenset(allow)), on_finding)
