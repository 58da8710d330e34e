"""Who works on an assignment: the protocol, and the one place where workers are made."""

from pathlib import Path
from typing import Protocol

from aggregate.clients.protocol import Asks, Turn
from aggregate.clients.providers import PROVIDERS, SCRIPTED, open_client
from aggregate.conductor.assignment import Assignment, WorkerReply
from aggregate.conductor.scripted import ScriptedWorker, load_script
from aggregate.errors import ClientError, ProviderError, TrackError, WorkerError
from aggregate.models.reply import Stop


class Worker(Protocol):
    """Answers assignments; it is called from several threads at once."""

    def work(self, assignment: Assignment) -> WorkerReply:
        """Return the answer.

        Raises:
            WorkerError: There is none; with ``again`` off it is not asked for again. Any other exception is a failed
                attempt like it.
        """
        ...


class ClientWorker:
    """Lets a client of a language model work on assignments."""

    def __init__(self, client: Asks, *, model: str = "") -> None:
        self._client = client
        self._model = model

    def work(self, assignment: Assignment) -> WorkerReply:
        """Send the persona, the context, and the task behind it.

        Raises:
            WorkerError: The provider refused or failed, or the model refused to answer.
        """
        turn = Turn(system=assignment.persona)
        try:
            reply = self._client.send(assignment.prompt, assignment.message, model=self._model, turn=turn)
        except ProviderError as error:
            raise WorkerError(str(error), again=error.retryable) from error
        except ClientError as error:
            raise WorkerError(str(error), again=False) from error
        if reply.stop is Stop.REFUSED:
            raise WorkerError("the model refused to answer", again=False)
        return WorkerReply(reply.text, reply.usage.input + reply.usage.output)


def make_worker(spec: str, *, script: Path | None = None) -> Worker:
    """Return the worker that ``spec`` names; this is where clients and engines are plugged in.

    Args:
        spec: ``scripted``; ``scripted:<file>`` with answers by ticket id as TOML or JSON; or a provider of
            ``aggregate.clients.providers`` with its model, as ``anthropic`` or ``anthropic:<model>``.
        script: Where ``scripted`` finds answers if the file exists.

    Raises:
        TrackError: There is no such worker.
        ConfigError: The script cannot be used.
        ClientSetupError: A key is missing.
    """
    kind, _, argument = spec.partition(":")
    if kind in PROVIDERS:
        return ClientWorker(open_client(kind, model=argument))
    if kind != SCRIPTED:
        known = ", ".join(PROVIDERS)
        raise TrackError(
            f"there is no worker {spec!r}: take {SCRIPTED}, {SCRIPTED}:<file of answers>, or one of {known}"
        )
    if argument:
        return ScriptedWorker(load_script(Path(argument)))
    return ScriptedWorker(load_script(script) if script is not None and script.is_file() else {})
