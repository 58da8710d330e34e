"""Workers, which answer assignments by models or a script."""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path

from aggregate.agents.scripted import ScriptedReply, load_replies
from aggregate.agents.tracks.assignment import Assignment, TicketOutcome, WorkerReply
from aggregate.agents.tracks.attempt import AnyWorker, Steps, Worker, complete_assignment
from aggregate.agents.tracks.outcomes import merge_outcomes
from aggregate.agents.tracks.report import RunFiles
from aggregate.agents.tracks.tickets import Ticket
from aggregate.agents.tracks.tool_loop import ToolLoop
from aggregate.agents.tracks.track import Track
from aggregate.agents.tracks.work_trees import open_changes
from aggregate.agents.tracks.worker_context import WorkerContexts
from aggregate.agents.tracks.worker_terms import (
    OWN,
    Recipient,
    WorkerTerms,
    parse_worker,
    recipient_of,
    select_client,
    worker_tools,
)
from aggregate.base.errors import ClientError, ToolError, WorkerError
from aggregate.base.redaction import Redaction
from aggregate.base.tokens import count
from aggregate.project.configuration import Project
from aggregate.prompt.asking import redaction_for
from aggregate.prompt.document import Section
from aggregate.sending.clients import (
    ChatRequest,
    Client,
    charged,
    open_client,
    redacting,
    scripted_client,
)
from aggregate.sending.models import SCRIPTED, Reply, ToolCall, Usage

_REPLACING = Redaction()


def _loop(assignment: Assignment, client: Client, terms: WorkerTerms, steps: Steps) -> WorkerReply:
    """Run a ticket's loop within the limits of this process's user, which a database cannot raise."""
    limits = terms.limits.lowered(assignment.max_tokens, assignment.max_turns)
    seconds = min(assignment.timeout, limits.max_seconds or assignment.timeout)
    assignment = replace(assignment, timeout=seconds)
    try:
        with closing(open_changes(assignment, terms, steps.trees)) as changes:
            loop = ToolLoop(changes.informed(), client, limits, changes, steps)
            return changes.finish(loop.run())
    except ToolError as error:
        raise WorkerError(f"{assignment.ticket}: {error}", again=False) from None


@dataclass(frozen=True, slots=True)
class ModelWorker:
    """Answers with language models: by one request, or with tools by a loop."""

    client: Client  # of the default model
    terms: WorkerTerms = field(default_factory=WorkerTerms)
    clients: Mapping[Recipient, Client] = field(default_factory=dict)  # of personas' models
    # For other models of providers, as named in the database
    open_provider: Callable[[str, str], Client] | None = None

    def work(self, assignment: Assignment) -> WorkerReply:
        """Send the context and the task in one request."""
        return self.act(assignment, Steps())

    def act(self, assignment: Assignment, steps: Steps) -> WorkerReply:
        """Let the model call tools until it answers."""
        return _loop(assignment, self._client(assignment), self.terms, steps)

    def _client(self, assignment: Assignment) -> Client:
        recipient = Recipient(assignment.provider, assignment.model, assignment.base_url)
        if recipient == OWN:
            return self.client
        if recipient in self.clients:
            return self.clients[recipient]
        if recipient.base_url or self.open_provider is None:
            # An address may come from somebody else who reaches the database.
            raise WorkerError(
                f"{assignment.ticket}: its persona names {recipient}, which this worker does not offer",
                again=False,
            )
        try:
            return self.open_provider(recipient.provider, recipient.model)
        except ClientError as error:
            raise WorkerError(str(error), again=False) from error


@dataclass(frozen=True, slots=True)
class ScriptedWorker:
    """Answers by a script with ticket ids; others get a description of their context."""

    answers: Mapping[str, ScriptedReply]
    terms: WorkerTerms = field(default_factory=WorkerTerms)  # of tickets with tools

    def work(self, assignment: Assignment) -> WorkerReply:
        """Answer after the scripted time."""
        tokens = assignment.tokens
        script = self._script(assignment)
        if script is None:
            return WorkerReply(_description(assignment, tokens), tokens, cost=0.0)
        return WorkerReply(script.text, tokens + count(script.text), cost=script.cost)

    def act(self, assignment: Assignment, steps: Steps) -> WorkerReply:
        """Run the scripted calls, then answer."""
        script = self._script(assignment)
        if script is None:
            script = ScriptedReply(text=_description(assignment, assignment.tokens))
        client = scripted_client(partial(_follow, script))
        return _loop(assignment, client, self.terms, steps)

    def _script(self, assignment: Assignment) -> ScriptedReply | None:
        script = self.answers.get(assignment.ticket)
        return script and script.take(assignment.attempt)


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
    segments = [segment for segment in assignment.prompt.segments if segment.source]
    files = [segment.source for segment in segments if segment.section is Section.FILES]
    results = [segment.source for segment in segments if segment.section is Section.RESULTS]
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
        argument = spec.partition(":")[2]
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

    Secrets are redacted unless the project allows them; ``tell`` is called for each. A missing key is an error before
    the run begins.
    """
    redaction = redaction_for(project, sending=True)
    guarded = _guarded(project.folder, redaction, tell)
    clients: dict[Recipient, Client] = {}
    for name in dict.fromkeys(ticket.persona for ticket in track.tickets().tickets):
        recipient = recipient_of(project, name, terms)
        if recipient != OWN and recipient not in clients:
            clients[recipient] = guarded(select_client(project, name, terms, require_key=True))
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


def run_worker_lifecycle(
    ticket: Ticket,
    contexts: WorkerContexts,
    worker: AnyWorker,
    *,
    results: Sequence[TicketOutcome] = (),
    tickets: Sequence[Ticket] = (),
    files: RunFiles | None = None,
    wait: Callable[[float], None] = time.sleep,
) -> TicketOutcome:
    """Run one ticket in this process.

    Its context is composed, and the worker answers.

    Args:
        ticket: The ticket.
        contexts: Composes the Tier 3 context with the ticket's focus files.
        worker: Answers the ticket.
        results: Outcomes of the ticket's dependencies, which are merged into the context.
        tickets: The dependencies, for the names and merge strategies of their variables.
        files: Writes the prompt and the reply, if given.
        wait: Called with the seconds before another attempt.
    """
    assignment = contexts.assignment(ticket, merge_outcomes(tickets, results), ticket.id)
    if files:
        files.write_prompt(assignment)
    outcome = complete_assignment(worker, assignment, wait=wait)
    if files:
        files.write_reply(outcome)
    return outcome
