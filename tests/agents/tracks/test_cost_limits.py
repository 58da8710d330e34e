"""Limits of costs that could not be kept are refused before a run begins."""

from pathlib import Path

import pytest

from aggregate.agents.tracks import Ticket, WorkerContexts, WorkerTerms
from aggregate.agents.tracks.terms import check_prices
from aggregate.agents.tracks.tickets import TicketKind, Tickets
from aggregate.base.errors import ConfigError
from aggregate.project.configuration import global_config_path
from aggregate.prompt import open_project
from tests.fakes.conducting import track_project

ASKS = Ticket(id="a", prompt="x")
LIMITED = Ticket(id="b", prompt="x", max_cost=1)
LIST = Ticket(id="c", prompt="x", for_each="results.a", depends_on=("a",), max_cost=1)
APPROVAL = Ticket(id="d", prompt="x", kind=TicketKind.APPROVAL)
KNOWN = WorkerTerms("anthropic", "claude-sonnet-5")
LOCAL = WorkerTerms("compatible", "mine", "http://127.0.0.1:8080/v1")


@pytest.fixture(autouse=True)
def _no_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))


def checked(
    folder: Path, terms: WorkerTerms, *tickets: Ticket, max_cost: float | None = None
) -> str:
    """Return what is said of these tickets, ``""`` where they may be run."""
    project = open_project(track_project(folder, "") / "manual_slop.toml")
    contexts = WorkerContexts(project, terms=terms)
    try:
        check_prices(Tickets(tickets=tickets), contexts.asks, max_cost=max_cost)
    except ConfigError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    ("terms", "tickets", "max_cost", "named"),
    [
        (LOCAL, (ASKS,), 1, "a"),
        (LOCAL, (ASKS, LIMITED), None, "b"),
        (LOCAL, (ASKS, LIST), None, "c"),
        (LOCAL, (ASKS,), None, ""),
        (LOCAL, (APPROVAL,), 1, ""),
        (KNOWN, (ASKS, LIMITED, LIST), 1, ""),
        (WorkerTerms(), (ASKS, LIMITED), 1, ""),
    ],
)
def test_a_limit_whose_price_is_not_known(
    tmp_path: Path,
    terms: WorkerTerms,
    tickets: tuple[Ticket, ...],
    max_cost: float | None,
    named: str,
) -> None:
    """Whoever sets a limit is told what it lacks before anything is asked; without a limit no price is needed."""
    said = checked(tmp_path, terms, *tickets, max_cost=max_cost)
    expected = (
        "max_cost cannot be kept: the price of compatible mine http://127.0.0.1:8080/v1, which the ticket "
        f'"{named}" asks, is not known: name its input and output prices under [models."mine"] in your own '
        "configuration, 0 for a server of your own, or leave max_cost out"
    )
    assert said == (expected if named else "")


def test_what_the_sentence_says_helps(tmp_path: Path) -> None:
    """With prices of the user's own, be they nothing, the same run may begin."""
    path = global_config_path()
    path.parent.mkdir(parents=True)
    path.write_text('[models."mine"]\ninput = 0\noutput = 0\n', encoding="utf-8")
    assert checked(tmp_path, LOCAL, ASKS, max_cost=1) == ""
