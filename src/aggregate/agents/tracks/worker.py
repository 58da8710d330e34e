"""Workers, which answer assignments by models or a script."""

import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import Protocol, TypeAlias, runtime_checkable

from aggregate.agents.limits import TicketLimits
from aggregate.agents.scripted import ScriptedReply, load_replies
from aggregate.agents.tracks.acting import act
from aggregate.agents.tracks.answer_schema import enforced_schema
from aggregate.agents.tracks.assignment import Assignment, WorkerReply
from aggregate.agents.tracks.metering import doubt_of, fault_of, metered, size_of
from aggregate.agents.tracks.steps import Steps
from aggregate.agents.tracks.terms import (
    OWN,
    Recipient,
    WorkerTerms,
    open_recipients,
    parse_worker,
    worker_tools,
)
from aggregate.agents.tracks.track import Track
from aggregate.base.errors import ClientError, ProviderError, WorkerError
from aggregate.base.redaction import Redaction
from aggregate.base.tokens import count
from aggregate.project.configuration import Project
from aggregate.prompt import redaction_for
from aggregate.prompt.document import Section
from aggregate.sending import charged
from aggregate.sending.clients import ChatRequest, Client, open_client, redacting, scripted_client
from aggregate.sending.models import SCRIPTED, FinishReason, Reply, ToolCall, Usage

_REPLACING = Redaction()
_GRACE_SECONDS = 0.5  # a request ends after its attempt, which has timed out


@runtime_checkable
class Worker(Protocol):
    """Answers assignments; called from several threads at once."""

    def work(self, assignment: Assignment, begun: Callable[[], None]) -> WorkerReply | str:
        """Return the answer to an assignment, or raise an error.

        A ``WorkerError`` with ``again=False`` is not retried. ``begun`` may be called when the answer begins: tickets
        with the same prefix then start.
        """
        ...


@runtime_checkable
class ActingWorker(Protocol):
    """Works on tickets with tools; called from several threads at once."""

    def act(self, assignment: Assignment, steps: Steps, begun: Callable[[], None]) -> WorkerReply:
        """Return the answer to an assignment; record each action with ``steps``."""
        ...


# A worker, or a function in place of its ``work``
AnyWorker: TypeAlias = Worker | Callable[[Assignment, Callable[[], None]], WorkerReply | str]


def _lowered(assignment: Assignment, terms: WorkerTerms) -> tuple[Assignment, TicketLimits]:
    """Lower an assignment's limits to those of this process's user; a database cannot raise them."""
    limits = terms.limits.lowered(assignment.max_tokens, assignment.max_turns)
    seconds = min(assignment.timeout, limits.max_seconds or assignment.timeout)
    return replace(assignment, timeout=seconds), limits


@dataclass(frozen=True, slots=True)
class ModelWorker:
    """Answers with language models: by one request, or with tools by a loop."""

    client: Client  # of the default model
    terms: WorkerTerms = field(default_factory=WorkerTerms)
    clients: Mapping[Recipient, Client] = field(default_factory=dict)  # of personas' models
    # For other models of providers, as named in the database
    open_provider: Callable[[str, str], Client] | None = None

    def work(self, assignment: Assignment, begun: Callable[[], None]) -> WorkerReply:
        """Send the context and the task in one request."""
        assignment, limits = _lowered(assignment, self.terms)
        client = self._client(assignment)
        size = size_of(client, assignment.text, assignment.persona)
        left = limits.max_tokens - assignment.used_tokens
        if size >= left:
            rest = (
                f" (earlier attempts used {assignment.used_tokens:,})"
                if left < limits.max_tokens
                else ""
            )
            raise WorkerError(
                f"its context of {size:,} tokens exceeds max_tokens, {limits.max_tokens:,}{rest}: "
                "raise max_tokens, or lower its budget",
                again=False,
            )
        request = ChatRequest(
            assignment.prompt,
            assignment.message,
            system=assignment.persona,
            max_output=min(ChatRequest().max_output, left - size),
            # A request ends with its attempt, so unread answers cost nothing.
            seconds=assignment.timeout + _GRACE_SECONDS,
            schema=enforced_schema(assignment.answer),
        )
        # Streamed only for waiting tickets: only the ticket's retries repeat a broken stream.
        on_text = (lambda _piece: begun()) if assignment.ahead else None
        try:
            reply = client.send(request, on_text)
        except ClientError as error:
            again = isinstance(error, ProviderError) and error.retryable
            raise WorkerError(str(error), again=again) from error
        tokens = reply.usage.input + reply.usage.output
        price = None if reply.price is None else float(reply.price)
        if fault := fault_of(reply):
            again = reply.stop is not FinishReason.REFUSED
            raise WorkerError(fault, again=again, tokens=tokens, cost=price)
        return WorkerReply(
            reply.text,
            tokens,
            doubt_of(reply),
            price,
            output_tokens=reply.usage.output,
            model=reply.model,
            provider=client.provider,
        )

    def act(self, assignment: Assignment, steps: Steps, begun: Callable[[], None]) -> WorkerReply:
        """Let the model call tools until it answers."""
        assignment, limits = _lowered(assignment, self.terms)
        client = self._client(assignment)
        return act(assignment, client, self.terms, limits, steps=steps, begun=begun)

    def _client(self, assignment: Assignment) -> Client:
        recipient = Recipient(assignment.provider, assignment.model, assignment.base_url)
        if recipient == OWN:
            return metered(self.client)
        if recipient in self.clients:
            return metered(self.clients[recipient])
        if recipient.base_url or self.open_provider is None:
            # An address may come from somebody else who reaches the database.
            raise WorkerError(
                f"{assignment.ticket}: its persona names {recipient}, which this worker does not offer",
                again=False,
            )
        try:
            client = self.open_provider(recipient.provider, recipient.model)
        except ClientError as error:
            raise WorkerError(str(error), again=False) from error
        return metered(client)


@dataclass(frozen=True, slots=True)
class ScriptedWorker:
    """Answers by a script with ticket ids; others get a description of their context."""

    answers: Mapping[str, ScriptedReply]
    terms: WorkerTerms = field(default_factory=WorkerTerms)  # of tickets with tools

    def act(self, assignment: Assignment, steps: Steps, begun: Callable[[], None]) -> WorkerReply:
        """Run the scripted calls, then answer."""
        reply = self._reply(assignment)
        if reply is None:
            reply = ScriptedReply(text=_description(assignment, assignment.tokens))
        client = metered(scripted_client(partial(_follow, reply)))
        assignment, limits = _lowered(assignment, self.terms)
        return act(assignment, client, self.terms, limits, steps=steps, begun=begun)

    def work(self, assignment: Assignment, begun: Callable[[], None]) -> WorkerReply:
        """Answer after the scripted time."""
        begun()
        tokens = assignment.tokens
        reply = self._reply(assignment)
        if reply is None:
            return WorkerReply(_description(assignment, tokens), tokens, cost=0.0)
        return WorkerReply(reply.text, tokens + count(reply.text), cost=reply.cost)

    def _reply(self, assignment: Assignment) -> ScriptedReply | None:
        reply = self.answers.get(assignment.ticket)
        return reply and reply.take(assignment.attempt)


def _follow(script: ScriptedReply, request: ChatRequest) -> Reply:
    """Return a scripted reply's next tool call, or its answer."""
    number = sum(bool(turn.results) for turn in request.turns or ())
    if number:  # the reply itself has waited for the first turn
        time.sleep(script.seconds)
    if number >= len(script.calls):
        return Reply(script.text, Usage())
    scripted = script.calls[number]
    call = ToolCall(f"call_{number + 1}", scripted.tool, dict(scripted.model_extra or {}))
    return Reply("", Usage(), calls=(call,))


def _description(assignment: Assignment, tokens: int) -> str:
    sources = [
        (segment.section, segment.source)
        for segment in assignment.prompt.segments
        if segment.source
    ]
    files = [source for section, source in sources if section is Section.FILES]
    results = [source for section, source in sources if section is Section.RESULTS]
    task = assignment.message.strip().split("\n")[-1]
    file_or_files = "file" if len(files) == 1 else "files"
    and_results = f"the results {', '.join(results)}" if results else "no results"
    return (
        f"No model was asked: the scripted worker got {tokens:,} tokens "
        f"with {len(files):,} {file_or_files} and {and_results}. The task is: {task}"
    )


def _guarded(
    folder: Path, redaction: Redaction, tell: Callable[[str], None] | None
) -> Callable[[Client], Client]:
    """Return a function that makes a client record costs and redact secrets."""
    safely = redacting(redaction.allow, tell=tell)

    def guarded(client: Client) -> Client:
        client = charged(client, folder)
        return client.through(safely) if redaction.replaces else client

    return guarded


def make_worker(
    spec: str,
    *,
    script: Path | None = None,
    root: Path = Path(),
    redaction: Redaction = _REPLACING,
    tell: Callable[[str], None] | None = None,
    base_url: str = "",
    terms: WorkerTerms | None = None,
    clients: Mapping[Recipient, Client] | None = None,
) -> Worker:
    """Return the worker named by ``spec``.

    Args:
        spec: ``scripted``; ``scripted:<file>`` with answers by ticket id as TOML or JSON; or a provider, perhaps with
            a model, as ``anthropic:<model>``.
        script: The script file for ``scripted``, if it exists.
        root: The folder that the built-in tools read.
        redaction: Whether secrets are replaced in requests, and the allowed values.
        tell: Called with a sentence for each replaced secret.
        base_url: The address of the provider.
        terms: The tools and limits of the user; by default tools to read ``root``, and the default limits.
        clients: The clients for models that personas name.

    Raises:
        TrackError: There is no such worker.
        ConfigError: The script cannot be used.
        ClientSetupError: A key or an address is missing.
    """
    provider, model = parse_worker(spec)
    terms = terms or WorkerTerms(provider, model, base_url, worker_tools(root))
    if provider == SCRIPTED:
        _, _, argument = spec.partition(":")
        path = Path(argument) if argument else script
        exists = path is not None and (argument or path.is_file())
        return ScriptedWorker(load_replies(path) if path and exists else {}, terms)
    guarded = _guarded(root, redaction, tell)

    def opened(provider: str, model: str, base_url: str = "") -> Client:
        return guarded(open_client(provider, model=model, base_url=base_url))

    return ModelWorker(opened(provider, model, base_url), terms, clients or {}, cache(opened))


def worker_of_track(
    project: Project, track: Track, spec: str, terms: WorkerTerms, *, tell: Callable[[str], None]
) -> tuple[Worker, Collection[Recipient]]:
    """Return a track's worker, and the models of its personas.

    Secrets are redacted unless the project allows them; ``tell`` is called for each.
    """
    redaction = redaction_for(project, sending=True)
    personas = [ticket.persona for ticket in track.tickets().tickets]
    guarded = _guarded(project.folder, redaction, tell)
    clients = open_recipients(project, personas, terms, wrap=guarded)
    worker = make_worker(
        spec,
        script=track.folder / "answers.toml",
        root=project.folder,
        redaction=redaction,
        tell=tell,
        base_url=terms.base_url,
        terms=terms,
        clients=clients,
    )
    return worker, clients.keys()
