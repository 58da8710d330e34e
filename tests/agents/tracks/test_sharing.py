"""Contexts of a run within a budget that nobody named: what tickets share, and what each shows of its own."""

from pathlib import Path
from typing import Any

import pytest

from aggregate import ScopeError, open_project
from aggregate.agents import TicketLimits
from aggregate.agents.tracks import Ticket, WorkerContexts, WorkerTerms, open_track, preview
from aggregate.agents.tracks.worker_terms import Recipient, default_tokens
from tests.fakes.conducting import TRACK, tickets_of, track_project
from tests.fakes.topics import TOPICS, module_about

PERSONAS = "".join(
    f'\n[personas.{name}]\nsystem_prompt = "You are the {name}."\n'
    for name in ("analyst", "critic", "tester", "writer")
)
MOST = 3_000
"""Tokens that a budget may have here; all files have more by structure alone."""


def contexts_of(
    folder: Path, config: str = f"[budget]\nmost = {MOST}\n", *, spec: str = "", **files: str
) -> WorkerContexts:
    """Return the contexts of a project with twelve files for each topic and four personas."""
    modules = {f"src/{topic}_{n}.py": module_about(topic) for topic in TOPICS for n in range(12)}
    settings = f'[project]\nname = "demo"\n\n[files]\npaths = ["src/*.py"]\n{config}{PERSONAS}'
    texts = {"manual_slop.toml": settings, f"conductor/tracks/{TRACK}/spec.md": spec, **files}
    track_project(folder, "", **modules, **texts)
    return WorkerContexts(
        open_project(folder / "manual_slop.toml"), track=open_track(folder, TRACK)
    )


def ticket(name: str, topic: str, *focus: str, persona: str = "", **fields: object) -> Ticket:
    prompt = f"Say what the upper part of the {topic} does."
    return Ticket.model_validate(
        {"id": name, "prompt": prompt, "focus_files": focus, "persona": persona, **fields}
    )


FOUR = (
    ticket("a", "lantern", "src/lantern_0.py", persona="analyst"),
    ticket("b", "kettle", "src/kettle_0.py", persona="critic"),
    ticket("c", "harbour", persona="tester", tools=("read_file",)),
    ticket("d", "compass", persona="writer"),
)


def assignments(contexts: WorkerContexts, tickets: tuple[Ticket, ...]) -> list[Any]:
    contexts.share(tickets)
    return [contexts.assignment(each, {}, each.id) for each in tickets]


def shared(one: Any, other: Any) -> int:
    """Return how many characters two requests begin alike with, instructions included."""
    texts = [f"{each.persona}\n{each.text}" for each in (one, other)]
    pairs = zip(*texts, strict=False)
    return next((n for n, (left, right) in enumerate(pairs) if left != right), len(texts[0]))


def test_contexts_obey_a_budget_that_nobody_named(tmp_path: Path) -> None:
    """A project that is larger is shown within it: what matters for the tasks, the focus files in full (B-11)."""
    for each, given in zip(FOUR, assignments(contexts_of(tmp_path), FOUR), strict=True):
        assert given.tokens <= MOST
        assert "### Not shown" in given.text
        for path in each.focus_files:
            topic = path.removeprefix("src/").split("_")[0]
            assert module_about(topic).strip() in given.text


def test_four_personas_share_one_beginning(tmp_path: Path) -> None:
    """Files that no ticket focuses on come first, byte for byte equal; focus, instructions and task behind (M-53)."""
    given = assignments(contexts_of(tmp_path), FOUR)
    assert {each.persona for each in given} == {""}
    for each in given[1:]:
        first = given[0].prompt.segments
        pairs = zip(first, each.prompt.segments, strict=False)
        alike = [segment for segment, other in pairs if segment == other]
        assert sum(len(segment.text) for segment in alike) > MOST
        assert shared(given[0], each) >= sum(len(segment.text) for segment in alike[:-1])
    for each, ticket_ in zip(given, FOUR, strict=True):
        role = f"## Instructions\n\nYou are the {ticket_.persona}.\n\n"
        assert f"{role}## Task: {ticket_.id}\n" in each.message
        files = (one for one in each.prompt.segments if one.section == "files")
        stabilities = [segment.stability for segment in files]
        assert stabilities == sorted(stabilities, key=lambda kind: kind == "slow")


def test_one_role_goes_before_the_context(tmp_path: Path) -> None:
    """Where all tickets have the same instructions nothing is lost by it, and models heed them more."""
    alike = tuple(each.model_copy(update={"persona": "critic"}) for each in FOUR)
    given = assignments(contexts_of(tmp_path), alike)
    assert {each.persona for each in given} == {"You are the critic."}
    assert all("## Instructions" not in each.message for each in given)


def test_who_is_sent_ahead(tmp_path: Path) -> None:
    """Several tickets begin alike, whatever their roles and tools, so that one goes ahead; a single one does not."""
    persona = '\n[personas.other]\nprovider = "openai"\nsystem_prompt = "Be brief."\n'
    contexts = contexts_of(tmp_path, f"[budget]\nmost = 60000\n{persona}")
    terms = WorkerTerms("anthropic", "claude-sonnet-5")
    contexts = WorkerContexts(open_project(tmp_path / "manual_slop.toml"), terms=terms)
    other = ticket("e", "kettle", persona="other")
    contexts.share(FOUR)
    assert contexts.shares_beginning
    contexts.share(FOUR[:1])
    assert not contexts.shares_beginning
    assert contexts.asks(other) == Recipient("openai", "gpt-5.6")


def test_a_large_focus_is_composed_for_itself(tmp_path: Path) -> None:
    """It would make the beginning small for all; a focus that exceeds the budget is shown all the same, with a warning."""
    contexts = contexts_of(tmp_path)
    large = ticket("big", "thimble", *(f"src/thimble_{n}.py" for n in range(4)))
    huge = ticket("huge", "thimble", *(f"src/{topic}_{n}.py" for topic in TOPICS for n in range(2)))
    first, *_, given, exceeding = assignments(contexts, (*FOUR, large, huge))
    assert max(shared(first, given), shared(first, exceeding)) < MOST
    assert given.tokens <= MOST
    assert all(module_about(topic).strip() in exceeding.text for topic in TOPICS)
    assert next(warning for warning in contexts.warnings if "huge" in warning).endswith(
        "it is shown anyway, since no budget is set"
    )


def test_a_named_budget_is_a_maximum(tmp_path: Path) -> None:
    """One for all tickets is a maximum for each of them (rules B-4 and B-11)."""
    for each in assignments(contexts_of(tmp_path, f"[budget]\ntier3 = {MOST}\n"), FOUR):
        assert 0.7 * MOST < each.tokens <= MOST


def test_no_file_is_shown_at_more_than_its_view(tmp_path: Path) -> None:
    """A Python file that is configured as an outline or a summary is not enlarged to its skeleton, unless in focus."""
    paths = '[files]\npaths = [{ path = "src/a*.py", view_mode = "outline" }, { path = "src/b.py", view_mode = "summary" }, "src/c.py"]\n'
    text = 'def f(x: int) -> int:\n    """Say it."""\n    return x + 1\n'
    files = {f"src/{name}.py": text for name in ("a", "aa", "b", "c")}
    track_project(tmp_path, "", **files, **{"manual_slop.toml": paths})
    contexts = WorkerContexts(open_project(tmp_path / "manual_slop.toml"))
    given = contexts.assignment(Ticket(id="t", prompt="x", focus_files=("src/aa.py",)), {}, "t")
    shown = {segment.source: segment.text for segment in given.prompt.segments}
    assert '"""Say it."""' not in shown["src/a.py"]
    assert "def f(x: int)" not in shown["src/b.py"]
    assert '"""Say it."""' in shown["src/c.py"]
    assert "return x + 1" not in shown["src/c.py"]
    assert "return x + 1" in shown["src/aa.py"]


def test_the_specification_and_the_focus_are_shown(tmp_path: Path) -> None:
    """Each worker reads what its track is for, in full, and is told which files it is to look at."""
    spec = "# Lamps\n\nWe want brighter lamps.\n"
    for config in (f"[budget]\nmost = {MOST}\n", "[budget]\nmost = 60000\n"):
        given = assignments(contexts_of(tmp_path, config, spec=spec), FOUR)
        path = f"conductor/tracks/{TRACK}/spec.md"
        for each in given:
            assert f"### File {path}\n\n```markdown\n{spec}" in each.text
            assert (
                f'This is one ticket of the track "A demo"; `{path}` above states its purpose'
                in each.message
            )
        assert "In focus, shown in full above: `src/lantern_0.py`." in given[0].message
        assert given[0].message.endswith("\n\nSay what the upper part of the lantern does.")


def test_a_specification_elsewhere_is_not_read(tmp_path: Path) -> None:
    """A link out of the project is refused by name, and nothing of it is shown."""
    outside = tmp_path / "secret.txt"
    outside.write_text("hidden", encoding="utf-8")
    folder = tmp_path / "demo"
    contexts_of(folder)
    link = folder / "conductor" / "tracks" / TRACK / "spec.md"
    link.unlink()
    link.symlink_to(outside)
    contexts = WorkerContexts(
        open_project(folder / "manual_slop.toml"), track=open_track(folder, TRACK)
    )
    with pytest.raises(ScopeError, match=r"spec\.md"):
        assignments(contexts, FOUR)


@pytest.mark.parametrize(
    ("recipient", "tokens"),
    [
        (Recipient(), 32_000),
        (Recipient("compatible", "unheard-of"), 32_000),
        (Recipient("anthropic", "claude-sonnet-5"), 60_000),
        (Recipient("openai", "gpt-4"), 4_096),
    ],
)
def test_the_default_is_half_of_the_window(recipient: Recipient, tokens: int) -> None:
    """By our count, at most 60,000 tokens; where no window is known it is what ``auto`` takes."""
    assert default_tokens(recipient, most=60_000) == tokens


def test_limits_lower_a_budget() -> None:
    """The context of a ticket with tools is sent with each turn, so that it has less room than one that is sent once."""
    terms = WorkerTerms(limits=TicketLimits(max_tokens=40_000))
    contexts = WorkerContexts(open_project({"budget": {"tokens": 50_000}}), terms=terms)
    asked = (ticket("a", "kettle"), ticket("b", "kettle", tools=("read_file",)))
    assert [contexts.granted(each).budget.tokens for each in asked] == [32_000, 8_000]


def test_a_preview_says_sizes_and_who_is_asked(tmp_path: Path) -> None:
    """Each ticket has its size, its budget and its model."""
    contexts_of(tmp_path)
    terms = WorkerTerms("anthropic", "claude-sonnet-5")
    contexts = WorkerContexts(open_project(tmp_path / "manual_slop.toml"), terms=terms)
    for step in preview(tickets_of(FOUR), contexts):
        assert step.tokens <= step.budget == MOST
        assert step.recipient == Recipient("anthropic", "claude-sonnet-5")


def test_limits_are_only_lowered(tmp_path: Path) -> None:
    """A project and a ticket cannot allow more than the user does."""
    contexts_of(tmp_path, "[conduct]\nmax_tokens = 90000\nmax_turns = 50\n")
    terms = WorkerTerms(limits=TicketLimits(100_000, 30, 3))
    contexts = WorkerContexts(open_project(tmp_path / "manual_slop.toml"), terms=terms)
    plain, asking = ticket("a", "kettle"), ticket("b", "kettle", max_tokens=500_000, max_turns=2)
    assert contexts.limits(plain) == TicketLimits(90_000, 30, 3)
    assert contexts.limits(asking) == TicketLimits(90_000, 30, 2)
    given = contexts.assignment(asking, {}, "r/b")
    assert (given.max_tokens, given.max_turns, given.timeout) == (90_000, 2, 30)
    assert type(given).from_json(given.to_json(), given.prompt) == given
