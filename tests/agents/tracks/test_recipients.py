"""Which model a ticket asks, and what is refused before anything starts."""

from pathlib import Path
from typing import Any

import pytest

from aggregate import (
    ClientSetupError,
    ConfigError,
    Project,
    Prompt,
    make_worker,
    open_project,
    standard_tools,
)
from aggregate.agents import TicketLimits
from aggregate.agents.tracks import (
    Ticket,
    TicketStatus,
    WorkerContexts,
    WorkerTerms,
    open_track,
    worker_of_track,
)
from aggregate.agents.tracks.worker_terms import Recipient, recipient_of
from tests.fakes.chat_server import chat_server
from tests.fakes.conducting import TRACK, asking, assigned, attempted, track_project
from tests.fakes.prompts import part
from tests.fakes.topics import add_areas
from tests.fakes.transports import requests_of, scripted
from tests.fakes.user_files import by_user

PERSONAS = """\
[personas.thinker]
provider = "openai"
model = "gpt-5.6"
budget = 900

[personas.local]
base_url = "http://127.0.0.1:8080/v1"
model = "mine"

[personas.far]
base_url = "https://example.org/v1"
model = "mine"

[personas.plain]
system_prompt = "Be brief."
aggregation_strategy = "summarize"
"""
TERMS = WorkerTerms("anthropic", "claude-sonnet-5")
PICKS = '{"files": [{"file": 9, "confidence": 1, "why": "is it"}], "definitions": []}'
CONTEXT = Prompt((part("files", "## Files"),))


@pytest.fixture
def project(tmp_path: Path) -> Project:
    config = f'[project]\nname = "demo"\n\n[files]\npaths = ["src/*.py"]\n\n{PERSONAS}'
    return open_project(
        track_project(tmp_path, "", **{"manual_slop.toml": config}) / "manual_slop.toml"
    )


def test_whom_a_persona_names(project: Project) -> None:
    """Its provider and model go before the run's; a scripted worker asks nobody, whatever a persona says."""
    openai = Recipient("openai", "gpt-5.6")
    assert recipient_of(project, "thinker", TERMS) == openai
    assert recipient_of(project, "plain", TERMS) == Recipient()
    assert recipient_of(project, "thinker", WorkerTerms()) == Recipient()
    contexts = WorkerContexts(project, terms=TERMS)
    thinking, plain = (Ticket(id="t", prompt="x", persona=name) for name in ("thinker", "plain"))
    given = contexts.assignment(thinking, {}, "r/t")
    assert (given.provider, given.model, given.base_url) == ("openai", "gpt-5.6", "")
    granted = contexts.granted(thinking)
    assert (granted.budget.tokens, granted.is_own) == (900, True)
    assert contexts.asks(plain) == Recipient("anthropic", "claude-sonnet-5")
    assert contexts.assignment(plain, {}, "r/t").text.startswith("## Files (Summary)")


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"persona": "nobody"}, 'no such persona: "nobody"'),
        ({"persona": "far"}, "only the project sets the address https://example.org"),
        ({"tools": ["read_fle"]}, 'names the tool \'read_fle\': did you mean "read_file"'),
        ({"tools": ["saveState"]}, "needs further permissions: add --allow write"),
    ],
)  # fmt: skip
def test_what_is_refused_before_a_run(
    project: Project, fields: dict[str, object], error: str
) -> None:
    """Personas, models, addresses and tools that there are not, or that the user has not allowed."""
    contexts = WorkerContexts(project, terms=TERMS)
    ticket = Ticket.model_validate({"id": "t", "prompt": "x", **fields})
    with pytest.raises(ConfigError, match=error.replace("(", r"\(")):
        contexts.check(ticket)


def test_tools_of_the_user(project: Project) -> None:
    """What the user grants, and tools of their own, may be named."""
    registry = standard_tools(permissions=("read", "write"))
    registry.register("count_words", lambda text: len(text.split()), "Count words.")
    contexts = WorkerContexts(project, terms=WorkerTerms(tools=registry))
    contexts.check(Ticket(id="t", prompt="x", tools=("saveState", "count_words")))


def test_a_key_that_is_missing_is_known_before_a_run(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Clients of personas are opened first; an address of this machine needs none."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    local = Recipient("compatible", "mine", "http://127.0.0.1:8080/v1")
    assert asked_by(project, "local", "plain", "local") == [local]
    with pytest.raises(ClientSetupError, match="OPENAI_API_KEY"):
        asked_by(project, "thinker")


def asked_by(project: Project, *personas: str) -> list[Recipient]:
    """Return the models that the personas of a track's tickets ask."""
    tickets = "".join(
        f'[[tickets]]\nid = "t{i}"\nprompt = "x"\npersona = "{name}"\n'
        for i, name in enumerate(personas)
    )
    (project.folder / f"conductor/tracks/{TRACK}/tickets.toml").write_text(tickets)
    track = open_track(project.folder, TRACK)
    return [*worker_of_track(project, track, "scripted", TERMS, tell=print)[1]]


def test_a_worker_asks_whom_the_ticket_names() -> None:
    """An address that the worker was not started for is not asked, for the database may hold anybody's."""
    mine, theirs = scripted(["mine"]), scripted(["theirs"])
    local = Recipient("compatible", "m", "http://127.0.0.1:1/v1")
    worker = asking(mine, clients={local: theirs})
    asked = assigned(prompt=CONTEXT, provider=local.provider, model="m", base_url=local.base_url)  # fmt: skip
    assert attempted(worker, asked).text == "theirs"
    foreign = assigned(prompt=CONTEXT, provider="compatible", model="m", base_url="http://example.org/v1")  # fmt: skip
    made = attempted(worker, foreign)
    assert (made.status, made.again) == (TicketStatus.FAILED, False)
    assert "which this worker does not offer" in made.text
    assert attempted(worker, assigned("b", prompt=CONTEXT)).text == "mine"


def test_a_limit_bounds_the_answer() -> None:
    """What the context leaves of it is what the model may write; without any the ticket fails with a reason."""
    client = scripted(["yes"])
    worker = asking(client, terms=WorkerTerms(limits=TicketLimits(max_tokens=100)))
    asked = assigned(prompt=CONTEXT, max_tokens=50)
    assert attempted(worker, asked).text == "yes"
    assert 30 < requests_of(client)[0].max_output < 50
    long = assigned(prompt=CONTEXT, message="word " * 200, max_tokens=5_000)
    made = attempted(worker, long)
    assert "exceeds max_tokens, 100: raise max_tokens" in made.text
    assert not made.again


def test_the_user_allows_more_than_a_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The user's own configuration says what is allowed, options before it, and workers carry it."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))

    def limits(**options: Any) -> TicketLimits:
        return WorkerTerms.of_user(tmp_path, "scripted", **options).limits

    assert limits() == TicketLimits()
    by_user("[conduct]\nmax_tokens = 500000\nmax_turns = 9\n")
    assert limits() == TicketLimits(500_000, None, 9)
    assert limits(max_turns=12, max_seconds=5) == TicketLimits(500_000, 5, 12)


def test_workers_by_name() -> None:
    """The tools and limits that come with one are those of its user."""
    worker = make_worker("compatible:m", base_url="http://127.0.0.1:1/v1")
    terms = worker.terms  # type: ignore[attr-defined]
    assert terms.recipient == Recipient("compatible", "m", "http://127.0.0.1:1/v1")
    assert "read_file" in terms.tools


def test_a_ticket_with_its_own_budget_has_a_second_look(tmp_path: Path) -> None:
    """With ``pick = "auto"`` its own model is asked when it starts, not in a plan, and a warning says so (rule T-17)."""
    with chat_server(PICKS) as server:
        persona = f'[personas.near]\nbase_url = "{server.url}"\nmodel = "tiny"\n'
        config = f'[files]\npaths = ["*.py"]\n{persona}'
        folder = track_project(tmp_path, "", **{"manual_slop.toml": config})
        add_areas(folder)
        by_user('[task]\npick = "auto"\n')
        loaded = open_project(folder / "manual_slop.toml")
        contexts = WorkerContexts(loaded, terms=WorkerTerms("compatible", ""))
        vague = Ticket(id="t", prompt="Why is the weather strange?", persona="near", budget=2_000)
        plan = contexts.assignment(vague, {}, "r/t")
        assert not server.bodies
        begun = contexts.context(vague, {}, "r/t", asks=True).assignment
        assert len(server.bodies) == 1
        assert begun.prompt != plan.prompt
        assert any("second look: compatible:tiny picks" in each for each in contexts.warnings)
        shared = Ticket(id="t", prompt="Why is the weather strange?", persona="near")
        contexts.context(shared, {}, "r/t", asks=True)
        assert len(server.bodies) == 1
