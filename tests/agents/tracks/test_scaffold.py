"""New tracks from a question."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from aggregate.agents.tracks import Ticket, new_track, open_track
from aggregate.agents.tracks.tickets import load_tickets
from aggregate.base.errors import OutputError, TrackError
from aggregate.cli.program import run_program
from tests.projects import project

TIME = datetime(2026, 1, 31, tzinfo=UTC)


def folder_with(tmp_path: Path) -> Path:
    return project(tmp_path, {"manual_slop.toml": '[project]\nname = "p"\n'})


def test_a_track_from_a_question(tmp_path: Path) -> None:
    """Its files are those that the Conductor has, and its tickets run as they are and name all keys; others' entries stay."""
    folder = folder_with(tmp_path)
    tickets = new_track(folder, "Why so slow?", time=TIME, question='Why "now"?')
    assert tickets.parent.name == "why_so_slow_20260131"
    assert [ticket.id for ticket in load_tickets(tickets).tickets] == ["research", "answer"]
    comment = [line for line in tickets.read_text().splitlines() if line.startswith("#")]
    named = " ".join(comment).replace("# ", "").partition(": ")[2].rstrip(".").split(", ")
    assert named == list(Ticket.model_fields)
    new_track(folder, "Another", time=TIME)
    register = (folder / "conductor/tracks.md").read_text()
    assert register.count("- [ ] **Track: ") == 2
    assert open_track(folder, "why").folder == tickets.parent
    assert (tickets.parent / "plan.md").read_text().count("- [ ] Task: ") == 2
    with pytest.raises(TrackError, match="there is such a track"):
        new_track(folder, "Another", time=TIME)
    with pytest.raises(TrackError, match="no letter"):
        new_track(folder, "?!", time=TIME)


def test_a_link_that_leads_out(tmp_path: Path) -> None:
    """A project's own links lead no file of the track elsewhere."""
    folder = folder_with(tmp_path / "p")
    (tmp_path / "elsewhere").mkdir()
    (folder / "conductor").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OutputError, match="leads out of the project"):
        new_track(folder, "Out", time=TIME)
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It prints the path of the tickets."""
    folder = folder_with(tmp_path)
    config = ["-c", str(folder / "manual_slop.toml")]
    assert run_program(["conduct", "new", "Words", *config]) == 0
    assert Path(capsys.readouterr().out.strip()).is_file()
