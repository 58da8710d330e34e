"""What the user's own configuration says of models goes before the shipped tables."""

from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from aggregate import ConfigError, Usage, open_client, open_project
from aggregate.agents.goals import ChatModel
from aggregate.agents.goals.models import as_model
from aggregate.agents.tracks import Ticket, WorkerContexts, WorkerTerms, preview
from aggregate.agents.tracks.tickets import Tickets
from aggregate.project.configuration import global_config_path
from aggregate.sending import ModelSelection, select_model
from aggregate.sending.cache.policy import policy_for
from aggregate.sending.clients import cache_policy, context_window, cost
from aggregate.sending.clients.own_models import age_note

OWN = """
[models."my-model"]
window = "64k"
input = 2.0
output = 10.0
cache_read = 0.5
minimum = 2048
lifetime = 900
"""


@pytest.fixture
def users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the path of the user's own configuration, which says something of a model."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    path = global_config_path()
    path.parent.mkdir(parents=True)
    path.write_text(OWN, encoding="utf-8")
    return path


def test_price_window_and_cache(users: Path) -> None:
    """Each follows the user's table; what it leaves out follows the provider's rules (S-8)."""
    usage = Usage(fresh=1_000_000, cache_read=1_000_000, cache_write=1_000_000, output=1_000_000)
    assert cost(usage, "My-Model", provider="anthropic") == Decimal(
        "15.0"
    )  # 2 + 0.5 + 2 * 1.25 + 10
    assert context_window("my-model") == 64_000
    policy = cache_policy("anthropic", "my-model")
    assert (policy.read, policy.minimum, policy.seconds) == (0.25, 2048, 900)
    assert policy.write == policy_for("anthropic", "my-model").write
    assert cache_policy("anthropic", "my-model-2") == policy_for("anthropic", "my-model-2")
    assert cost(usage, "my-model-2", provider="anthropic") is None


def test_a_change_is_seen(users: Path) -> None:
    """A process that lives on reads a table that was written anew (S-8)."""
    assert context_window("my-model") == 64_000
    users.write_text(OWN.replace("64k", "128k"), encoding="utf-8")
    assert context_window("my-model") == 128_000


def test_half_a_price_is_refused(users: Path) -> None:
    """Input without output would make every answer free (S-8)."""
    users.write_text("[models.m]\ninput = 2.0\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"models\.m.*must have both input and output"):
        context_window("m")


def test_a_project_says_nothing_of_models(users: Path) -> None:
    """A wrong price would hide what is paid: it is not used, and said (S-8)."""
    theirs = open_project({"models": {"claude-opus-5": {"input": 0, "output": 0}}})
    chosen = select_model(theirs, ModelSelection("scripted", "claude-opus-5"))
    assert chosen.warnings == (f"[models] of a project is not used: write it to {users}",)
    amount = cost(Usage(fresh=1_000_000), "claude-opus-5", provider="scripted")
    assert amount is not None
    assert amount > 0


@pytest.mark.parametrize(
    ("provider", "model", "today", "is_old"),
    [
        ("anthropic", "claude-opus-5", date(2027, 2, 18), False),
        ("anthropic", "claude-opus-5", date(2027, 2, 19), True),
        ("anthropic", "my-model", date(2027, 2, 19), False),
        ("compatible", "m", date(2030, 1, 1), False),
        ("scripted", "claude-opus-5", date(2030, 1, 1), False),
    ],
)
def test_old_tables_are_said(
    users: Path, provider: str, model: str, today: date, is_old: bool
) -> None:
    """After 90 days, where the tables matter and the user has not written what holds now (S-8)."""
    note = age_note(provider, model, today)
    assert bool(note) is is_old
    if is_old:
        assert note.startswith(
            "prices, windows and rules of caches are those of 2026-11-20, 91 days ago: "
        )


def test_goals_and_tracks_know_the_users_cache(users: Path, tmp_path: Path) -> None:
    """What a goal charges and a preview expects follows the user's table, as a turn does (S-8)."""
    users.write_text('[models."claude-sonnet-5"]\ninput = 2.0\noutput = 10.0\ncache_read = 1.0\n')
    client = open_client("anthropic", model="claude-sonnet-5", environ={"ANTHROPIC_API_KEY": "x"})
    model = as_model(client)
    assert isinstance(model, ChatModel)
    assert model.read_price == 0.5

    users.write_text('[models."claude-sonnet-5"]\nminimum = 1000000\n')
    project = open_project({"files": {"base_dir": str(tmp_path), "paths": ["*.md"]}})
    (tmp_path / "long.md").write_text("What the tool reads again.\n" * 1_000)
    contexts = WorkerContexts(project, terms=WorkerTerms("anthropic", "claude-sonnet-5"))
    ticket = Ticket.model_validate({"id": "a", "prompt": "Say it.", "tools": ["read_file"]})
    (step,) = preview(Tickets(tickets=(ticket,)), contexts)
    assert (step.usage.cache_read, step.usage.cache_write) == (0, 0)
    assert step.usage.input > 10_000
