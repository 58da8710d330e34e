"""Contexts of the tickets of a track: what they share, and what each needs for its own task within a budget."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from aggregate import (
    AggregatedResult,
    BudgetError,
    ConfigError,
    Prompt,
    Segment,
    count,
    open_project,
)
from aggregate.agents.tracks import Ticket, WorkerContexts, open_track
from aggregate.agents.tracks.durable import SEGMENTS, SegmentTable, database_url, open_engine
from aggregate.prompt.output import audit_path
from tests.fakes.conducting import TRACK, run_files, track_project
from tests.fakes.topics import TOPICS, module_about

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
        assert {shown[source].stability for source in late} == {"slow"}
        assert shown[first].stability == "stable"
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


BUDGET = 2_500


def budgeted_contexts(folder: Path, config: str = "") -> WorkerContexts:
    files = {f"src/{topic}.py": module_about(topic) for topic in TOPICS}
    settings = f'[project]\nname = "demo"\n\n[files]\npaths = ["src/*.py"]\n{config}'
    track_project(folder, "", **files, **{"manual_slop.toml": settings})
    return WorkerContexts(open_project(folder / "manual_slop.toml"))


def ticket(focus: Sequence[str] = (), *, budget: int | None = BUDGET, persona: str = "") -> Ticket:
    return Ticket(
        id="a",
        title="Look at the lantern",
        prompt="Say what the upper part of the lantern does.",
        focus_files=tuple(focus),
        budget=budget,
        persona=persona,
    )


def assignment(contexts: WorkerContexts, asked: Ticket) -> Any:
    return contexts.assignment(asked, {}, "run/a")


def test_files_are_chosen_for_the_ticket(tmp_path: Path) -> None:
    """What its title and prompt speak of is shown, within its budget (rules T-1 and B-11)."""
    given = assignment(budgeted_contexts(tmp_path), ticket())
    assert "step_7 = value * 7 + len('lantern upper')" in given.text
    assert given.text.startswith("## Files (Tier 3 - Focused)\n")
    assert given.text.endswith("Say what the upper part of the lantern does.")
    assert 0.9 * BUDGET < given.tokens <= BUDGET


def test_focus_files_are_pins(tmp_path: Path) -> None:
    """They are shown in full whatever the task says, also one that the project does not name (rules B-4 and B-11)."""
    contexts = budgeted_contexts(tmp_path)
    (tmp_path / "notes.md").write_text("# Notes\n\nNothing of any use.\n", encoding="utf-8")
    given = assignment(contexts, ticket(["orchard.py", "notes.md"]))
    assert module_about("orchard").strip() in given.text
    assert "Nothing of any use." in given.text
    assert given.tokens <= BUDGET


def test_without_a_budget_all_is_as_before(tmp_path: Path) -> None:
    """Other tickets of the same track are shown what they were (rule B-11)."""
    contexts = budgeted_contexts(tmp_path / "one")
    plain = assignment(contexts, ticket(["orchard.py"], budget=None))
    assignment(contexts, ticket())
    again = assignment(contexts, ticket(["orchard.py"], budget=None))
    assert plain == again
    assert all(f"def {topic}_inner" in plain.text for topic in TOPICS)
    assert "### Not shown" not in plain.text


@pytest.mark.parametrize(
    ("config", "asked", "budget"),
    [
        ("[budget]\ntier3 = 2000\n", ticket(budget=None), 2_000),
        ('[budget]\ntier3 = "2k"\ntokens = 9000\n', ticket(budget=1_500), 1_500),
        ('[budget]\ntier3 = 2000\n[personas.p]\nbudget = 1600\nsystem_prompt = "Be brief."\n', ticket(budget=None, persona="p"), 1_600),
    ],
)  # fmt: skip
def test_whose_budget_holds(tmp_path: Path, config: str, asked: Ticket, budget: int) -> None:
    """The ticket's own goes before its persona's, and that before the one for all tickets (rules B-1 and B-11)."""
    given = assignment(budgeted_contexts(tmp_path, config), asked)
    assert 0.85 * budget < given.tokens <= budget


@pytest.mark.parametrize(
    ("focus", "persona", "said"),
    [
        (["orchard.py", "kettle.py"], "", r'^the ticket "a": the required parts have'),
        ([], "", "its task and instructions have"),
        ([], "p", "its task and instructions have"),
    ],
)
def test_a_budget_that_is_too_small_is_refused_before_the_run(
    tmp_path: Path, focus: list[str], persona: str, said: str
) -> None:
    """The error names the ticket and the smallest budget, which is exact; the task is a pin too (rules B-1, B-4 and B-11)."""
    contexts = budgeted_contexts(
        tmp_path, '[personas.p]\nsystem_prompt = "Be as brief as can be."\n'
    )
    with pytest.raises(BudgetError, match=said) as caught:
        contexts.check(ticket(focus, budget=3, persona=persona))
    smallest = caught.value.smallest
    asked = ticket(focus, budget=smallest, persona=persona)
    contexts.check(asked)
    assert assignment(contexts, asked).tokens <= smallest
    with pytest.raises(BudgetError):
        contexts.check(ticket(focus, budget=smallest - 1, persona=persona))


def test_results_of_others_count(tmp_path: Path) -> None:
    """What a ticket waited for is shown within the budget's share, the task in any case (rules B-5 and B-11)."""
    contexts = budgeted_contexts(tmp_path)
    value = [{"finding": f"the lantern has {n} parts"} for n in range(400)]
    results = {"$findings": AggregatedResult("$findings", value=value, count=1)}
    given = contexts.assignment(ticket(), results, "run/a")
    assert "$findings" in given.text
    assert "len('lantern upper')" in given.text
    assert given.tokens <= BUDGET


def test_tickets_with_a_budget_share_no_beginning(tmp_path: Path) -> None:
    """None is sent ahead for the others, since a cache could hold nothing for them (rule B-11)."""
    contexts = budgeted_contexts(tmp_path)
    names = "".join(f"def name_{n}(value):\n    return value\n\n\n" for n in range(900))
    (tmp_path / "src" / "names.py").write_text(names, encoding="utf-8")
    tickets = [ticket().model_copy(update={"id": name}) for name in "abc"]
    contexts.share(tickets)
    assert not contexts.shares_beginning
    contexts.share([each.model_copy(update={"budget": None}) for each in tickets])
    assert contexts.shares_beginning


def test_an_account_lies_beside_the_prompt(tmp_path: Path) -> None:
    """It tells of all that the worker is shown, once; a ticket without a budget leaves none (rules A-1 and B-11)."""
    contexts = budgeted_contexts(tmp_path)
    files = run_files(tmp_path / "out", "a")
    context = contexts.context(ticket(), {}, "run/a")
    path = files.write_prompt(context.assignment)
    context.write_account(path)
    account = json.loads(audit_path(path).read_text(encoding="utf-8"))
    assert account["tokens"] == context.assignment.tokens
    assert account["task"].startswith("Look at the lantern\n\nSay what")
    audit_path(path).unlink()
    contexts.context(ticket(budget=None), {}, "run/a").write_account(path)
    assert not audit_path(path).exists()


def test_budgets_in_a_file(tmp_path: Path) -> None:
    """Numbers and texts are taken, and what is none is refused with its place (rule B-1)."""
    text = '[[tickets]]\nid = "a"\nprompt = "x"\nbudget = {}\n'
    for written, budget in (("32000", 32_000), ('"1.5k"', 1_500), ('"auto"', "auto")):
        track_project(tmp_path, text.format(written))
        assert open_track(tmp_path, TRACK).tickets().tickets[0].budget == budget
    for written in ("0", '"many"', "1.5", "true"):
        track_project(tmp_path, text.format(written))
        with pytest.raises(ConfigError, match=r"budget"):
            open_track(tmp_path, TRACK).tickets()


def test_an_assignment_keeps_its_prompt_and_no_texts_behind_it(tmp_path: Path) -> None:
    """What a block was made of stays in memory: the database has the prompt, and gives the same one back (rule L-3)."""
    given = contexts_of(tmp_path).assignment(NONE, {}, "r/c")
    engine = open_engine(database_url(str(tmp_path / "state.sqlite")))
    digests = SegmentTable(engine).write("r", given.prompt.segments)
    with engine.connect() as connection:
        rows = [str(row) for row in connection.execute(SEGMENTS.select())]
    assert any("def one()" in row for row in rows)
    assert not any("return 1" in row for row in rows)
    prompt = Prompt(SegmentTable(engine).read("r", digests))
    assert type(given).from_json(given.to_json(), prompt) == given
    engine.dispose()
