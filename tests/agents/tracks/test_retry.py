"""Runs that go on from failures and decisions, over a database of either kind and through kills."""

from dataclasses import replace
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from simulation.track_kills import TRACK

from aggregate import Project, RunOptions, TrackError, conduct, open_project
from aggregate.agents.tracks import TicketStatus
from aggregate.agents.tracks.ledger import TicketEvent
from aggregate.agents.tracks.report import TrackResult
from aggregate.agents.tracks.run_control import decide, forget, status
from tests.agents.tracks.killed import write_project
from tests.agents.tracks.test_durable import server, until, url
from tests.fakes.conducting import Says

__all__ = ["server", "url"]  # fixtures that are used here too
PLAIN = RunOptions()
TICKETS = """\
on_error = "fail"
tickets = [
  { id = "a", prompt = "x", retries = 0 },
  { id = "b", prompt = "x", retries = 0 },
  { id = "c", prompt = "x", depends_on = ["b"] },
]
"""
APPROVAL = """\
tickets = [
  { id = "a", prompt = "x" },
  { id = "ship", kind = "approval", prompt = "May it go?", depends_on = ["a"] },
  { id = "each", prompt = "Look at {{item}}.", for_each = "[1, 2, 3]", depends_on = ["ship"] },
]
"""


def track(folder: Path, tickets: str) -> Project:
    write_project(folder, 1)
    (folder / f"conductor/tracks/{TRACK}/tickets.toml").write_text(tickets)
    return open_project(folder / "manual_slop.toml")


def run(project: Project, worker: Says, url: str, options: RunOptions = PLAIN) -> TrackResult:
    return conduct(project, TRACK, worker, options=replace(options, database=url))


def failing(ticket: str) -> Says:
    def answer(assignment: Any) -> str:
        if assignment.ticket == ticket:
            raise OSError("no")
        return f"answer of {assignment.ticket}"

    return Says(answer)


def test_resume_runs_what_failed(tmp_path: Path, url: str) -> None:
    """What failed and what was not run because of it are run, what is done stays, and the run is over then."""
    project = track(tmp_path / "p", TICKETS)
    first = run(project, failing("b"), url)
    assert [line.state for line in first.lines] == ["done", "failed", "not run"]
    worker = Says()
    second = run(project, worker, url, RunOptions(resume=True))
    assert second.succeeded
    assert worker.order == ["b", "c"]
    assert second.report == first.report
    names = {path.name for path in second.report.parent.iterdir()}
    assert "002_b.reply.md" in names
    assert "002_b.failed.md" not in names
    with pytest.raises(TrackError, match="no run to resume"):
        run(project, Says(), url, RunOptions(resume=True))


def test_tickets_that_are_run_once_more(tmp_path: Path, url: str) -> None:
    """They and what depends on them are asked again; the others stay."""
    project = track(tmp_path / "p", TICKETS)
    run(project, Says(), url)
    worker = Says(lambda assignment: f"new {assignment.ticket}")
    result = run(project, worker, url, RunOptions(retry=("b",)))
    assert (worker.order, result.succeeded) == (["b", "c"], True)
    report = result.report.read_text()
    assert "new b" in report
    assert "answer of a" in report
    with pytest.raises(TrackError, match='no such ticket in this run: "z"'):
        run(project, worker, url, RunOptions(retry=("z",)))


def test_a_retry_that_was_killed(tmp_path: Path, url: str) -> None:
    """Its rounds are recorded before anything else: a second resume goes on, and raises them no further."""
    project = track(tmp_path / "p", TICKETS)
    run(project, failing("b"), url)

    def kill(event: TicketEvent) -> None:
        if event.ticket.id == "b":
            raise KeyboardInterrupt

    worker, options = Says(), RunOptions(database=url, resume=True)
    with pytest.raises(KeyboardInterrupt):
        conduct(project, TRACK, worker, options=options, observe=kill)
    progress = status(project, TRACK, database=url)
    assert progress is not None
    assert progress.state == "interrupted"
    again = Says()
    assert run(project, again, url, RunOptions(resume=True)).succeeded
    assert sorted([*worker.order, *again.order]) in (["b", "c"], ["b", "b", "c"])


def test_a_decision_from_elsewhere(tmp_path: Path, url: str) -> None:
    """A ticket waits until somebody approves it, by way of the database; once decided it stays so."""
    project, results = track(tmp_path / "p", APPROVAL), []
    is_decided = Event()

    def answer(assignment: Any) -> str:
        if assignment.ticket != "a":
            is_decided.wait(30)  # else the run may end before the second decision is refused
        return "answer"

    worker = Says(answer)
    thread = Thread(target=lambda: results.append(run(project, worker, url)))
    thread.start()

    def waits() -> bool:
        progress = status(project, TRACK, database=url)
        return progress is not None and progress.with_status(TicketStatus.WAITING) == ("ship",)

    until(waits)
    with pytest.raises(TrackError, match='"each" does not wait; these do: ship'):
        decide(project, TRACK, "each", approved=True, database=url)
    with pytest.raises(TrackError, match="has no ticket 'shp': did you mean \"ship\""):
        decide(project, TRACK, "shp", approved=True, database=url)
    assert decide(project, TRACK, "ship", approved=True, note="go", database=url)
    with pytest.raises(TrackError, match='"ship" was already decided'):
        decide(project, TRACK, "ship", approved=False, database=url)
    is_decided.set()
    thread.join(30)
    assert results[0].succeeded
    assert sorted(worker.order) == ["a", "each[0]", "each[1]", "each[2]"]
    progress = status(project, TRACK, database=url)
    assert progress is not None
    assert [line.ticket.id for line in progress.lines] == [
        "a", "ship", "each", "each[0]", "each[1]", "each[2]",
    ]  # fmt: skip
    assert forget(project, TRACK, database=url)
    assert status(project, TRACK, database=url) is None
