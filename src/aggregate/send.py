"""One turn of a discussion: compose, plan, send, keep the answer, record what was sent."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from aggregate import app
from aggregate.clients.cache import Cache, expected
from aggregate.clients.client import Client
from aggregate.clients.plan import Layout, Plan, make_plan
from aggregate.clients.protocol import OnText, Turn
from aggregate.clients.providers import COMPATIBLE, SCRIPTED, open_client
from aggregate.clients.rules import rules_for
from aggregate.clients.scripted import scripted
from aggregate.clients.window import check_window
from aggregate.compose.journal import Run, Sent, recent_runs, write_run
from aggregate.compose.layout import Strategy
from aggregate.compose.numbering import journal_path, write_numbered
from aggregate.compose.prefix import PrefixReport, compare
from aggregate.compose.request import Request
from aggregate.compose.settle import FORGET, count_changes, settle
from aggregate.config.load import Project, load_config
from aggregate.config.schema import PersonaTable
from aggregate.errors import ConfigError, PromptTooLongError, ProviderError
from aggregate.models.chain import Chain, digest
from aggregate.models.prompt import Prompt
from aggregate.models.reply import Reply
from aggregate.models.usage import Usage
from aggregate.presets.store import global_config_path
from aggregate.sources.discussion import append_turns, history_file
from aggregate.sources.git import touched_files
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
    """

    provider: str = ""
    model: str = ""
    persona: str = ""
    base_url: str = ""
    max_output: int = 16_000


@dataclass(frozen=True, slots=True)
class Prepared:
    """A turn that is ready to be sent.

    Attributes:
        client: Who is asked.
        message: What the user says; it is the last excerpt of the prompt.
        request: What was composed.
        prompt: In the order for sending.
        chain: Its hashes.
        plan: The request.
        expected: What the provider's cache is expected to read and write.
        changes: How often each file has changed.
        report: What is kept of the prompt sent before, ``None`` for the first one.
        warnings: What was left out or is doubtful.
        max_output: The most tokens that the model may write.
    """

    client: Client
    message: str
    request: Request
    prompt: Prompt
    chain: Chain
    plan: Plan
    expected: Usage
    changes: Mapping[str, float]
    report: PrefixReport | None
    warnings: tuple[str, ...]
    max_output: int


@dataclass(frozen=True, slots=True)
class Delivered:
    """A turn that was answered: the answer, the file of the prompt, the file of the discussion."""

    reply: Reply
    path: str
    history: str


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
    request = app.request_for(project, strategy=persona.aggregation_strategy or None, preset=persona.preset or None)
    request = replace(request, history=(*request.history, {"role": USER, "content": message}))
    made = app.compose_prompt(request, on_start=on_start, on_done=on_done)
    tokens = count_prompt(made.prompt).segments
    system = persona.system_prompt.strip()
    client = _client(choice, persona, environ=environ, on_wait=on_wait)
    before = _before(request, client, system)
    changes = _changes(request, made.prompt, before)
    prompt, tokens = settle(made.prompt, tokens, earlier=before.chain if before else None, changes=changes)
    chain = Chain.of(prompt, tokens, system=system, system_tokens=count(system))
    layout = _layout(before, client)
    plan = make_plan(
        prompt, chain, rules_for(client.provider, client.model), system=system, earlier=layout, changes=changes
    )
    _check(plan, client, choice.max_output, request)
    reads = expected(plan, layout, age=_age(before) if before else 0.0)
    if client.provider == SCRIPTED:
        client = scripted(cache=Cache.after(layout) if layout else None, model=client.model)
    report = compare(before.chain, chain) if before else None
    return Prepared(
        client, message, request, prompt, chain, plan, reads, changes, report, made.warnings, choice.max_output
    )  # fmt: skip


def deliver(prepared: Prepared, project: Project, *, on_text: OnText | None = None) -> Delivered:
    """Send a prepared turn; keep the prompt, both turns, and what was sent.

    The prompt is written before it is sent, so that it is there whatever happens then. Without an answer the
    discussion stays as it was.

    Raises:
        ClientError: The provider refused, failed, or answered nothing.
        OutputError: A file cannot be written.
    """
    request, client = prepared.request, prepared.client
    path = write_numbered(request.output_dir, request.namespace, prepared.prompt.markdown)
    reply = client.exchange(prepared.plan, on_text=on_text, turn=Turn(max_output=prepared.max_output))
    sent = Sent(client.provider, client.model, prepared.plan.layout.ends, prepared.plan.layout.marks, prepared.changes)
    write_run(Run(path, prepared.chain, sent))
    if not reply.text.strip():
        raise ProviderError(f"{client.provider} answered nothing ({reply.stop.value}): the discussion stays as it was")
    history = history_file(project.path or project.folder / "manual_slop.toml")
    append_turns(
        history,
        [{"role": USER, "content": prepared.message}, {"role": ASSISTANT, "content": reply.text}],
    )
    return Delivered(reply, str(path), str(history))


def find_persona(project: Project, name: str) -> PersonaTable:
    """Return a persona of the project, or else of all projects; an empty one for no name.

    Raises:
        ConfigError: There is no such persona.
    """
    if not name:
        return PersonaTable()
    shared = global_config_path()
    personas = dict(load_config(shared).config.personas) if shared.is_file() else {}
    personas |= project.config.personas
    path = str(project.path) if project.path else None
    if name not in personas:
        known = f"known are {', '.join(sorted(personas))}" if personas else f"write a table [personas.{name}]"
        raise ConfigError(f'there is no persona "{name}": {known}', path=path, key="personas")
    found = personas[name]
    if name in project.config.personas and found.base_url and found.provider not in ("", COMPATIBLE):
        # Else a project that came from somebody else could have the key sent to an address of theirs.
        raise ConfigError(
            f"a project's persona may name an address for {COMPATIBLE} only, so that no other key is sent there: "
            f"move it to {shared}, or add --base-url",
            path=path,
            key=f"personas.{name}.base_url",
        )
    return found


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


def _before(request: Request, client: Client, system: str) -> Run | None:
    """Return the last send to the same model with the same instructions, whose cache counts, else the last send."""
    runs = [run for run in recent_runs(request.output_dir, request.namespace) if run.sent]
    to = (client.provider, client.model, digest(system))
    alike = (run for run in runs if run.sent and (run.sent.provider, run.sent.model, run.chain.digests[0]) == to)
    return next(alike, runs[0] if runs else None)


def _changes(request: Request, prompt: Prompt, before: Run | None) -> dict[str, float]:
    """Return how often each file has changed: by what was recorded, at first by the last commits."""
    if before and before.sent:
        return count_changes(prompt, earlier=before.chain, changes=before.sent.changes)
    shown = {segment.source for segment in prompt.segments}
    changes: dict[str, float] = {}
    for number, names in enumerate(touched_files(str(request.base_dir))):
        for name in shown.intersection(names):
            changes[name] = changes.get(name, 0.0) + FORGET**number
    return {path: round(often, 4) for path, often in sorted(changes.items())}


def _layout(before: Run | None, client: Client) -> Layout | None:
    """Return the layout of the last send, if the same model saw it."""
    sent = before.sent if before else None
    if before is None or sent is None or (sent.provider, sent.model) != (client.provider, client.model):
        return None
    return Layout(before.chain.digests, sent.ends, sent.marks)


def _age(before: Run) -> float:
    """Return the seconds since the last send."""
    try:
        return max(time.time() - journal_path(before.path).stat().st_mtime, 0.0)
    except OSError:
        return float("inf")


def _check(plan: Plan, client: Client, max_output: int, request: Request) -> None:
    """Refuse a prompt that is too long, saying what the project could send instead."""
    try:
        check_window(plan, client.model, max_output)
    except PromptTooLongError as error:
        smaller = app.compose_prompt(replace(request, strategy=Strategy.SUMMARIZE)).prompt
        total = count_prompt(smaller).document + plan.tokens[0]
        fits = "fits" if total + max_output <= error.window else "would still be too long"
        raise PromptTooLongError(
            f'{error}; with aggregation_strategy = "summarize" it has {total:,} tokens and {fits}',
            tokens=error.tokens,
            window=error.window,
        ) from None
