"""Contexts of one track: what they share."""

from dataclasses import replace
from pathlib import Path

from aggregate import Segment, count, open_project
from aggregate.agents.tracks import Ticket, WorkerContexts
from aggregate.base.values import Stability
from tests.fakes.conducting import track_project

ONE = Ticket(id="a", prompt="x", focus_files=("one.py",))
TWO = Ticket(id="b", prompt="x", focus_files=("two.py",))
NONE = Ticket(id="c", prompt="x")


def contexts_of(folder: Path, **files: str) -> WorkerContexts:
    track_project(folder, "", **files)
    contexts = WorkerContexts(open_project(folder / "manual_slop.toml"))
    contexts.share([ONE, TWO, NONE])
    return contexts


def segments(contexts: WorkerContexts, ticket: Ticket) -> dict[str, Segment]:
    prompt = contexts.assignment(ticket, {}, ticket.id).prompt
    return {segment.source: segment for segment in prompt.segments}


def test_each_file_is_rendered_once(tmp_path: Path) -> None:
    """Tickets get the same segments, not equal ones, whichever file each has in focus (M-53)."""
    contexts = contexts_of(tmp_path)
    one, two, none = (segments(contexts, ticket) for ticket in (ONE, TWO, NONE))
    assert one["src/two.py"] is none["src/two.py"]
    assert two["src/one.py"] is none["src/one.py"]
    assert "return 1" in one["src/one.py"].text
    assert "return 1" not in none["src/one.py"].text
    assert segments(contexts, ONE.model_copy(update={"id": "d"}))["src/one.py"] is one["src/one.py"]


def test_a_run_shows_one_state_of_the_project(tmp_path: Path) -> None:
    """What changes after the first context was made is shown by the next run; files, discussion and all."""
    contexts = contexts_of(tmp_path, **{"notes.md": "Before.\n"})
    noting = Ticket(id="n", prompt="x", focus_files=("notes.md", "src/one.py"))
    full = Ticket(id="f", prompt="x", focus_files=("one.py",), aggregation_strategy="full")
    tickets = (ONE, TWO, noting, full)
    before = [contexts.assignment(ticket, {}, ticket.id) for ticket in tickets]
    (tmp_path / "src" / "one.py").write_text("later = True\n", encoding="utf-8")
    (tmp_path / "notes.md").write_text("Later.\n", encoding="utf-8")
    assert [contexts.assignment(ticket, {}, ticket.id) for ticket in tickets] == before
    anew = WorkerContexts(open_project(tmp_path / "manual_slop.toml"))
    assert "later = True" in segments(anew, ONE)["src/one.py"].text


def test_what_only_some_see_stands_late(tmp_path: Path) -> None:
    """Files that a ticket has in focus come behind the others and are marked as changing, for every ticket and strategy."""
    contexts = contexts_of(tmp_path, **{"src/zero.py": "zero = 0\n", "notes.md": "Note.\n"})
    noting = Ticket(id="n", prompt="x", focus_files=("notes.md",))
    full = Ticket(id="f", prompt="x", focus_files=("one.py",), aggregation_strategy="full")
    for ticket in (NONE, ONE, noting, full):
        shown = segments(contexts, ticket)
        first, *late = (source for source in shown if source)
        assert first == "src/zero.py"
        assert {shown[source].stability for source in late} == {Stability.SLOW}
        assert shown[first].stability is Stability.STABLE
    sources = [source for source in segments(contexts, full) if source]
    assert sources[1:] == ["src/two.py", "src/one.py"]


def test_tokens_of_assignments(tmp_path: Path) -> None:
    """Counted by shared segments they are exactly those of the whole text."""
    contexts = contexts_of(tmp_path, **{"src/odd.py": "x = 'naïve 🙂'\n\n\n", "notes.md": "//\n"})
    noting = Ticket(id="n", prompt="/ y", focus_files=("notes.md",))
    for ticket in (ONE, TWO, NONE, noting):
        assignment = contexts.assignment(ticket, {}, ticket.id)
        assert assignment.tokens == count(assignment.text)
        bare = replace(assignment, message="")
        assert bare.tokens == count(bare.text)
