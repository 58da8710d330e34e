"""The base of scripted runs: a discussion of many turns through the public surface, with no model behind it."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from aggregate.project.configuration import Project
from aggregate.prompt import open_project
from aggregate.sending import CompletedTurn, ModelSelection, PreparedTurn, prepare_turn, send_turn
from aggregate.sending.clients.scripted_client import ScriptedTransport, scripted_client

STRATEGY = "auto"
"""How files are rendered in every simulation, whatever the configuration says (rule M-30)."""
MODEL = "claude-sonnet-5"


@dataclass(frozen=True, slots=True)
class SimTurn:
    """One turn: what was planned, and what came of it."""

    prepared: PreparedTurn
    delivered: CompletedTurn


def run_sim(
    config: Path,
    messages: Iterable[str],
    *,
    answers: Sequence[str] = (),
    model: str = MODEL,
    before: Callable[[int], None] | None = None,
    meanwhile: Callable[[], None] = lambda: None,
) -> Iterator[SimTurn]:
    """Send messages one after the other to the scripted client, and yield each turn once it is answered.

    Args:
        config: A project's ``manual_slop.toml``; prompts and the discussion are written where it says.
        messages: What is said.
        answers: What is answered, turn by turn; by default a line about what was sent.
        model: Whose cache and prices the scripted client imitates.
        before: Called with the number of each turn, from 0, before its files are read.
        meanwhile: Called while an answer of ``answers`` is on its way.
    """
    for number, message in enumerate(messages):
        if before:
            before(number)
        project = _fixed(open_project(config))
        prepared = prepare_turn(project, message, ModelSelection(provider="scripted", model=model))
        if number < len(answers):
            prepared = _with_answer(prepared, answers[number], meanwhile)
        yield SimTurn(prepared, send_turn(prepared, project))


def _fixed(project: Project) -> Project:
    table = project.config.project.model_copy(update={"aggregation_strategy": STRATEGY})
    return replace(project, config=project.config.model_copy(update={"project": table}))


def _with_answer(
    prepared: PreparedTurn, answer: str, meanwhile: Callable[[], None]
) -> PreparedTurn:
    def script() -> Iterator[str]:
        meanwhile()
        yield answer

    transport = prepared.client.transport
    cache = transport.cache if isinstance(transport, ScriptedTransport) else None
    return replace(
        prepared, client=scripted_client(script(), cache=cache, model=prepared.client.model)
    )
