"""A real server: workers of different roles read one cached beginning, and a ticket with tools ends with an answer."""

from dataclasses import replace
from pathlib import Path

from aggregate.agents.tracks import Ticket, WorkerContexts, WorkerTerms
from aggregate.agents.tracks.assignment import Assignment
from aggregate.agents.tracks.attempt import attempt_assignment
from aggregate.agents.tracks.terms import TicketLimits
from aggregate.agents.tracks.worker import ModelWorker
from aggregate.base.values import RunStatus
from aggregate.prompt import open_project
from aggregate.sending.clients import RequestOptions, open_client
from tests.fakes.conducting import track_project
from tests.sending.clients.test_real_cache import llama

__all__ = ["llama"]  # a fixture


def given(folder: Path) -> list[Assignment]:
    """Return what two workers of different roles get, the second with tools."""
    personas = "".join(
        f'[personas.{name}]\nsystem_prompt = "You are a {name}."\n' for name in ("critic", "writer")
    )
    config = f'[project]\nname = "demo"\n\n[files]\npaths = ["src/*.py"]\n{personas}'
    track_project(folder, "", **{"manual_slop.toml": config})
    contexts = WorkerContexts(open_project(folder / "manual_slop.toml"))
    tickets = [
        Ticket(id="a", prompt="Say one.", persona="critic"),
        Ticket(id="b", prompt="Say two.", persona="writer", tools=("list_directory",)),
    ]
    contexts.share(tickets)
    return [contexts.assignment(ticket, {}, ticket.id) for ticket in tickets]


def test_roles_share_a_beginning_on_a_real_server(llama: str, tmp_path: Path) -> None:
    """The second role's request reads what stands before the instructions of the first (a token is a byte)."""
    client = open_client("compatible", model="tiny", base_url=f"{llama}/v1", environ={})
    short = RequestOptions(max_output=4)
    usages = [
        client.send(each.prompt, each.message, options=short).usage for each in given(tmp_path)
    ]
    shared = len(given(tmp_path)[0].prompt.markdown.encode())
    assert shared <= usages[1].cache_read <= shared + 40


def test_noise_ends_in_time(llama: str, tmp_path: Path) -> None:
    """A model that writes noise keeps a ticket with tools no longer than its limits, and without an answer it fails."""
    client = open_client("compatible", model="tiny", base_url=f"{llama}/v1", environ={})
    limits = TicketLimits(max_tokens=8_000, max_seconds=2)
    worker = ModelWorker(client, root=tmp_path, terms=WorkerTerms(limits=limits))
    made = attempt_assignment(worker, replace(given(tmp_path)[1], timeout=2), 1)
    assert made.seconds < 4
    assert made.tokens <= limits.max_tokens
    assert (made.status is RunStatus.SUCCESS) is not made.again
