"""One turn of a discussion: compose, plan, send, keep the answer, record what was sent."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from aggregate.app import compose_prompt
from aggregate.clients.cache import Cache, expected
from aggregate.clients.client import Client
from aggregate.clients.plan import Plan, make_plan
from aggregate.clients.protocol import OnText, Turn
from aggregate.clients.providers import open_client
from aggregate.clients.rules import NO_CACHE, SCRIPTED, rules_for
from aggregate.clients.scripted import scripted
from aggregate.clients.window import check_window
from aggregate.compose.journal import Run, Sent, write_run
from aggregate.compose.layout import Strategy
from aggregate.compose.numbering import write_numbered
from aggregate.compose.prefix import PrefixReport, compare
from aggregate.compose.recall import recall
from aggregate.compose.redacting import redact_text
from aggregate.compose.request import Request
from aggregate.compose.settle import Settled, file_digests, settle
from aggregate.config.load import Project
from aggregate.config.schema import PersonaTable
from aggregate.errors import PromptTooLongError, ProviderError
from aggregate.models.chain import Chain, Link
from aggregate.models.prompt import Prompt
from aggregate.models.reply import Reply
from aggregate.models.usage import Usage
from aggregate.project import find_persona, redaction_for, request_for
from aggregate.sources.discussion import append_turns, history_file
from aggregate.tokens.count import count, count_prompt

USER, ASSISTANT = "User", "AI"


@dataclass(frozen=True, slots=True)
class Choice:
    """Who is asked; empty fields are taken from the persona, then from the provider.

    Attributes:
        provider: One of ``aggregate.clients.providers.NAMES``.
        model: The provider's name of the model.
        persona: The name of a persona in the configuration.
        base_url: Where the provider is reached.
        max_output: The most tokens that the model may write.
        redact: Whether secrets are replaced; ``None`` leaves it to the user's configuration.
    """

    provider: str = ""
    model: str = ""
    persona: str = ""
    base_url: str = ""
    max_output: int = 16_000
    redact: bool | None = None


@dataclass(frozen=True, slots=True)
class Prepared:
    """A turn that is ready to be sent.

    Attributes:
        client: Who is asked.
        message: What the user says; it is the last excerpt of the prompt.
        request: What was composed.
        settled: The prompt in the order for sending.
        chain: Its hashes.
        plan: The request.
        expected: What the provider's cache is expected to read and write.
        sent: What will be recorded.
        report: What is kept of the prompt sent before, ``None`` for the first one.
        warnings: What was left out or is doubtful.
        max_output: The most tokens that the model may write.
    """

    client: Client
    message: str
    request: Request
    settled: Settled
    chain: Chain
    plan: Plan
    expected: Usage
    sent: Sent
    report: PrefixReport | None
    warnings: tuple[str, ...]
    max_output: int

    @property
    def prompt(self) -> Prompt:
        """The prompt in the order for sending."""
        return self.settled.prompt


@dataclass(frozen=True, slots=True)
class Delivered:
    """A turn that was answered.

    Attributes:
        reply: The answer.
        path: The file of the prompt.
        history: The file of the discussion; ``None`` for a project that is no file, whose caller keeps the turns.
    """

    reply: Reply
    path: Path
    history: Path | None = None


def prepare(
    project: Project,
    message: str,
    choice: Choice,
    *,
    environ: Mapping[str, str] | None = None,
    on_wait: Callable[[float, ProviderError], None] | None = None,
    on_start: Callable[[int], None] | None = None,
    on_done: Callable[[int], None] | None = None,
) -> Prepared:
    """Compose and plan the turn that says ``message``; nothing is written or sent.

    Raises:
        ConfigError: The configuration or the history cannot be used, or there is no such persona.
        ClientSetupError: A key or a name is missing.
        PromptTooLongError: The prompt exceeds the model's context window.
    """
    persona = find_persona(project, choice.persona)
    request = request_for(project, strategy=persona.aggregation_strategy or None, preset=persona.preset or None)
    request = replace(
        request,
        history=(*request.history, {"role": USER, "content": message}),
        redaction=redaction_for(project, sending=True, wanted=choice.redact),
    )
    made = compose_prompt(request, on_start=on_start, on_done=on_done)
    tokens = count_prompt(made.prompt).segments
    system, doubts = redact_text(persona.system_prompt.strip(), "system_prompt", request.redaction)
    client = _client(choice, persona, environ=environ, on_wait=on_wait)
    memory = recall(request, provider=client.provider, model=client.model, system=system)
    changes = memory.changes(made.prompt, request)
    rules = rules_for(client.provider, client.model)
    settled = settle(
        made.prompt,
        tokens,
        rules if project.config.send.diffs else NO_CACHE,
        earlier=memory.earlier(rules),
        changes=changes,
    )
    chain = Chain((Link.of_system(system, count(system)), *settled.links))
    plan = make_plan(settled.prompt, chain, rules, system=system, earlier=memory.layout, weights=settled.weights)
    _check(plan, client, choice.max_output, request)
    if client.provider == SCRIPTED:
        client = scripted(cache=Cache.after(memory.layout) if memory.layout else None, model=client.model)
    return Prepared(
        client=client,
        message=message,
        request=request,
        settled=settled,
        chain=chain,
        plan=plan,
        expected=expected(plan, memory.layout, age=memory.age),
        sent=Sent(
            client.provider, client.model, plan.layout.ends, plan.layout.marks, changes, file_digests(made.prompt)
        ),
        report=compare(memory.chain, chain) if memory.chain else None,
        warnings=(*made.warnings, *doubts),
        max_output=choice.max_output,
    )


def deliver(prepared: Prepared, project: Project, *, on_text: OnText | None = None) -> Delivered:
    """Send a prepared turn; keep the prompt, both turns, and what was sent.

    The prompt is written before it is sent, so that it is there whatever happens then. Without an answer the
    discussion stays as it was. Where the project is a mapping and not a file, its caller keeps the turns.

    Raises:
        ClientError: The provider refused, failed, or answered nothing.
        OutputError: A file cannot be written.
    """
    request, client = prepared.request, prepared.client
    path = write_numbered(request.output_dir, request.namespace, prepared.prompt.markdown)
    reply = client.exchange(prepared.plan, on_text=on_text, turn=Turn(max_output=prepared.max_output))
    write_run(Run(path, prepared.chain, prepared.sent))
    if not reply.text.strip():
        raise ProviderError(f"{client.provider} answered nothing ({reply.stop.value}): the discussion stays as it was")
    if project.path is None:
        return Delivered(reply, path)
    turns = [{"role": USER, "content": prepared.message}, {"role": ASSISTANT, "content": reply.text}]
    append_turns(history := history_file(project.path), turns)
    return Delivered(reply, path, history)


def _client(
    choice: Choice,
    persona: PersonaTable,
    *,
    environ: Mapping[str, str] | None,
    on_wait: Callable[[float, ProviderError], None] | None,
) -> Client:
    """Return the client; a model or an address of the persona belongs to the persona's own provider."""
    own = not choice.provider or choice.provider == persona.provider
    return open_client(
        choice.provider or persona.provider,
        model=choice.model or (persona.model if own else ""),
        base_url=choice.base_url or (persona.base_url if own else ""),
        environ=environ,
        on_wait=on_wait,
    )


def _check(plan: Plan, client: Client, max_output: int, request: Request) -> None:
    """Refuse a prompt that is too long, saying what the project could send instead."""
    try:
        check_window(plan, client.model, max_output)
    except PromptTooLongError as error:
        smaller = compose_prompt(replace(request, strategy=Strategy.SUMMARIZE)).prompt
        total = count_prompt(smaller).document + plan.tokens[0]
        fits = "fits" if total + max_output <= error.window else "would still be too long"
        raise PromptTooLongError(
            f'{error}; with aggregation_strategy = "summarize" it has {total:,} tokens and {fits}',
            tokens=error.tokens,
            window=error.window,
        ) from None
