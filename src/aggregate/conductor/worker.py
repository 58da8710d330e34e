"""Who works on an assignment: the protocol, and the one place where workers are made."""

from pathlib import Path
from typing import Any, Protocol

from aggregate.conductor.assignment import Assignment, WorkerReply
from aggregate.conductor.scripted import ScriptedWorker, load_script
from aggregate.errors import TrackError, WorkerError
from aggregate.models.prompt import Prompt

SCRIPTED = "scripted"


class Worker(Protocol):
    """Answers assignments; it is called from several threads at once."""

    def work(self, assignment: Assignment) -> WorkerReply:
        """Return the answer.

        Raises:
            WorkerError: There is none; with ``again`` off it is not asked for again. Any other exception is a failed
                attempt like it.
        """
        ...


class Sends(Protocol):
    """A client that sends a prompt and a message to a model."""

    def send(self, prompt: Prompt, message: str, *, model: str = "") -> Any:  # noqa: ANN401 - its reply has text and usage
        """Block until the answer is there."""
        ...


class ClientWorker:
    """Lets a client of a language model work on assignments."""

    def __init__(self, client: Sends, *, model: str = "") -> None:
        self._client = client
        self._model = model

    def work(self, assignment: Assignment) -> WorkerReply:
        """Send the context, and the task behind it with the persona before the task."""
        message = "\n\n".join(part for part in (assignment.persona, assignment.message) if part)
        reply = self._client.send(assignment.prompt, message, model=self._model)
        if not isinstance(reply.text, str):
            raise WorkerError(f"{assignment.ticket}: the client's reply has no text", again=False)
        usage = getattr(reply, "usage", None)
        return WorkerReply(reply.text, getattr(usage, "input", 0) + getattr(usage, "output", 0))


def make_worker(spec: str, *, script: Path | None = None) -> Worker:
    """Return the worker that ``spec`` names; this is where clients and engines are plugged in.

    Args:
        spec: ``scripted``, or ``scripted:<file>`` with answers by ticket id as TOML or JSON.
        script: Where ``scripted`` finds answers if the file exists.

    Raises:
        TrackError: There is no such worker.
        ConfigError: The script cannot be used.
    """
    kind, _, argument = spec.partition(":")
    if kind != SCRIPTED:
        raise TrackError(f"there is no worker {spec!r}: name {SCRIPTED} or {SCRIPTED}:<file of answers>")
    if argument:
        return ScriptedWorker(load_script(Path(argument)))
    return ScriptedWorker(load_script(script) if script is not None and script.is_file() else {})
