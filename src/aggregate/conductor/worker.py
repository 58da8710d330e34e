"""Who works on an assignment: the protocol, and the one place where workers are made."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from aggregate.agent import ChatModel, EngineLimits, NeuronAgent
from aggregate.clients.protocol import ChatClient, RequestOptions
from aggregate.clients.providers import PROVIDERS, open_client
from aggregate.clients.redacting_client import with_redaction
from aggregate.clients.script_file import load_replies
from aggregate.conductor.assignment import Assignment, WorkerReply
from aggregate.conductor.scripted_worker import ScriptedWorker
from aggregate.errors import ClientError, ProviderError, ToolError, TrackError, WorkerError
from aggregate.models.reply import FinishReason
from aggregate.prompt_cache.policy import SCRIPTED
from aggregate.tools import Tool, standard_tools

_GRACE_SECONDS = 0.5
"""How much later than its attempt a request ends, so that the attempt is what has timed out."""


class Worker(Protocol):
    """Answers assignments; it is called from several threads at once."""

    def work(self, assignment: Assignment, begun: Callable[[], None]) -> WorkerReply:
        """Return the answer.

        Args:
            assignment: What is asked.
            begun: May be called when the answer begins to come; for one that is sent ahead, others start then.

        Raises:
            WorkerError: There is none; with ``again`` off it is not asked for again. Any other exception is a failed
                attempt like it.
        """
        ...


@dataclass(frozen=True, slots=True)
class ModelWorker:
    """Lets a language model work on assignments: one request for each, or the agent where a ticket names tools.

    Attributes:
        client: Reaches the model.
        model: Which of its models; ``""`` is its own choice.
        root: The folder that project tools may read.
    """

    client: ChatClient
    model: str = ""
    root: Path = Path()

    def work(self, assignment: Assignment, begun: Callable[[], None]) -> WorkerReply:
        """Send the context with the task behind it, or reach the task as a goal over the context.

        Raises:
            WorkerError: The provider refused or failed, the model refused to answer, or a tool does not exist.
        """
        try:
            if assignment.tools:
                return self._execute_goal(assignment)
            return self._send(assignment, begun)
        except ProviderError as error:
            raise WorkerError(str(error), again=error.retryable) from error
        except ClientError as error:
            raise WorkerError(str(error), again=False) from error

    def _send(self, assignment: Assignment, begun: Callable[[], None]) -> WorkerReply:
        # Streamed only where it is of use: a stream that broke off is asked again by the ticket's
        # retries alone.
        on_text = (lambda _piece: begun()) if assignment.ahead else None
        # A request whose attempt is over is ended, so that nobody pays for what nobody reads.
        options = RequestOptions(
            system=assignment.persona, seconds=assignment.timeout + _GRACE_SECONDS
        )
        reply = self.client.send(
            assignment.prompt,
            assignment.message,
            model=self.model,
            on_text=on_text,
            options=options,
        )
        if reply.stop is FinishReason.REFUSED:
            raise WorkerError("the model refused to answer", again=False)
        warning = (
            ""
            if reply.stop is FinishReason.END
            else f"the answer is not complete ({reply.stop.value})"
        )
        return WorkerReply(reply.text, reply.usage.input + reply.usage.output, warning)

    def _execute_goal(self, assignment: Assignment) -> WorkerReply:
        model = ChatModel(self.client, self.model, assignment.prompt)
        limits = EngineLimits(seconds=assignment.timeout + _GRACE_SECONDS)
        tools = self._tools(assignment)
        agent = NeuronAgent(model, tools, state_dir=self.root / "state", limits=limits)
        goal = "\n\n".join(part for part in (assignment.persona, assignment.message) if part)
        result = agent.execute_goal(goal)
        if not result.success:
            raise WorkerError(
                f"{assignment.ticket}: {result.text or 'no step gave something usable'}"
            )
        return WorkerReply(result.text, result.trace.tokens, result.stopped)

    def _tools(self, assignment: Assignment) -> list[Tool]:
        registry = standard_tools(state_dir=self.root / "state", roots=(self.root,))
        try:
            return [registry.get(name) for name in assignment.tools]
        except ToolError as error:
            raise WorkerError(f"{assignment.ticket}: {error}", again=False) from None


def make_worker(
    spec: str,
    *,
    script: Path | None = None,
    root: Path = Path(),
    redact: bool = True,
    allow: Collection[str] = (),
    tell: Callable[[str], None] | None = None,
) -> Worker:
    """Return the worker that ``spec`` names.

    Args:
        spec: ``scripted``; ``scripted:<file>`` with answers by ticket id as TOML or JSON; or a provider of
            ``aggregate.clients.providers`` with its model, as ``anthropic`` or ``anthropic:<model>``.
        script: Where ``scripted`` finds answers if the file exists.
        root: The folder that project tools may read.
        redact: Whether secrets are replaced in what a provider is sent.
        allow: Hashes of values that are no secrets.
        tell: Called with one sentence for each secret that was replaced.

    Raises:
        TrackError: There is no such worker.
        ConfigError: The script cannot be used.
        ClientSetupError: A key is missing.
    """
    kind, _, argument = spec.partition(":")
    if kind in PROVIDERS:
        client: ChatClient = open_client(kind, model=argument)
        if redact:
            client = with_redaction(client, allow=allow, tell=tell)
        return ModelWorker(client, root=root)
    if kind != SCRIPTED:
        known = ", ".join(PROVIDERS)
        raise TrackError(
            f"there is no worker {spec!r}: take {SCRIPTED}, {SCRIPTED}:<file of answers>, or one of {known}"
        )
    if argument:
        return ScriptedWorker(load_replies(Path(argument)))
    if script is not None and script.is_file():
        return ScriptedWorker(load_replies(script))
    return ScriptedWorker({})
