"""Turns of a discussion within a budget: the message is the task, and the provider's own count holds."""

import json
import re
from pathlib import Path

import pytest

from aggregate import BudgetError, Reply, Usage, count, load_config
from aggregate.prompt.audit import read_audit
from aggregate.prompt.output import audit_path, request_log_path
from aggregate.sending import Exchange, ModelSelection, prepare_turn, send_turn
from aggregate.sending.learned_models import Endpoint, record_reply
from tests.fakes.topics import TOPICS, module_about
from tests.projects import project

CONFIG = """
    [project]
    name = "demo"
    [files]
    paths = ["src/*.py"]
    [personas.small]
    provider = "scripted"
    budget = "2k"
    system_prompt = "Be brief and name the lines that you speak of."
"""
BUDGET = 3_000


EVERYTHING = f"What do {', '.join(TOPICS)} do?"
"""A question that is about every file, so that a budget is filled."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a project of a file for each topic, of a user who has sent nothing yet."""
    monkeypatch.setenv("AGGREGATE_STATE_DIR", str(tmp_path / "state"))
    files = {f"src/{topic}.py": module_about(topic) for topic in TOPICS}
    return project(tmp_path / "project", {"manual_slop.toml": CONFIG} | files)


def ready(
    folder: Path, message: str, *, budget: int | str | None = BUDGET, **selection: str
) -> Exchange:
    chosen = ModelSelection(**({"provider": "scripted"} | selection), budget=budget)  # type: ignore[arg-type]
    return prepare_turn(
        load_config(folder / "manual_slop.toml"), message, chosen, environ={}, require_key=False
    )


def say(folder: Path, message: str, *, budget: int = BUDGET) -> tuple[Exchange, Exchange]:
    made = ready(folder, message, budget=budget)
    return made, send_turn(made)


def test_the_message_is_the_task(folder: Path) -> None:
    """What the message speaks of is shown in full, within the budget, and the message stands last (rule T-1)."""
    made = ready(folder, "What does the upper part of the lantern do?")
    assert made.request.task is not None
    assert made.request.task.text == "What does the upper part of the lantern do?"
    assert "def lantern_upper(value):\n" in made.prompt.markdown
    assert "step_7 = value * 7 + len('lantern upper')" in made.prompt.markdown
    assert made.prompt.markdown.endswith("User: What does the upper part of the lantern do?")
    assert 0.9 * BUDGET < made.plan.total == count(made.plan.text) <= BUDGET


def test_without_a_budget_all_is_as_before(folder: Path) -> None:
    """Nothing is ranked, nothing left out, nothing recorded of levels (rule T-3)."""
    made = ready(folder, "What does the lantern do?", budget=None)
    assert (made.budget, made.request.task, made.record.shown) == (None, None, ())
    assert all(module_about(topic) in made.prompt.markdown for topic in TOPICS)


def test_the_providers_count_holds(folder: Path) -> None:
    """The first send goes by the table, the next by what was reported; both numbers are known (rule B-10)."""
    message = EVERYTHING
    first = ready(folder, message, provider="anthropic", model="claude-sonnet-4-5")
    assert first.client.ratio.value == 1.25
    assert first.plan.total <= 0.8 * BUDGET
    assert 0.9 * BUDGET < first.provider_tokens <= BUDGET
    record_reply(Endpoint("anthropic", "claude-sonnet-4-5"), Reply("", Usage(1700)), sent=1000)
    second = ready(folder, message, provider="anthropic", model="claude-sonnet-4-5")
    assert 0.9 * BUDGET < second.plan.total * 1.7 <= BUDGET


def test_a_lower_count_does_not_exceed_the_budget_by_ours(folder: Path) -> None:
    """Where a provider counts fewer tokens than o200k, the markdown still keeps to the budget (rules B-1 and B-10)."""
    record_reply(Endpoint("deepseek", "deepseek-flash"), Reply("", Usage(700)), sent=1000)
    made = ready(folder, "What does the lantern do?", provider="deepseek")
    assert made.client.ratio.value == 0.7
    assert 0.9 * BUDGET < made.plan.total <= BUDGET


def test_instructions_count(folder: Path) -> None:
    """A persona's budget holds with its system prompt; an option goes before it (rules B-1 and B-10)."""
    made = ready(folder, EVERYTHING, budget=None, persona="small")
    assert made.plan.system.startswith("Be brief")
    assert 1_800 < made.plan.total <= made.budget == 2_000  # type: ignore[operator]
    assert ready(folder, "And the kettle?", budget=1_500, persona="small").budget == 1_500


def test_the_smallest_budget_is_exact(folder: Path) -> None:
    """With it a turn can be sent, with one token less it cannot, by the provider's count (rules B-4 and B-10)."""
    message = "What does this mean? " + "lantern harbour " * 300
    ask = {"provider": "anthropic", "model": "claude-sonnet-4-5", "persona": "small"}
    with pytest.raises(BudgetError) as caught:
        ready(folder, message, budget=300, **ask)
    smallest = caught.value.smallest
    assert f"{smallest:,} would be enough" in str(caught.value)
    assert "allow --budget" not in str(caught.value)  # the budget of the markdown alone would not
    assert ready(folder, message, budget=smallest, **ask).provider_tokens <= smallest
    with pytest.raises(BudgetError) as again:
        ready(folder, message, budget=smallest - 1, **ask)
    assert again.value.smallest == smallest


def test_auto_follows_the_model(folder: Path) -> None:
    """The window of the model that is asked decides, and at most what the configuration allows (rule B-1)."""
    assert ready(folder, "The lantern?", budget="auto", model="claude-sonnet-5").budget == 60_000
    assert ready(folder, "The lantern?", budget="auto", model="unknown").budget == 32_000


def test_a_new_question_adds_behind(folder: Path) -> None:
    """Most of the first prompt stays as it is, and what the second question needs is shown (rule B-9)."""
    first, _ = say(folder, "What does the lantern do?", budget=4_000)
    second, _ = say(folder, "What does the inner part of the orchard do?", budget=4_000)
    assert second.prefix is not None
    assert second.prefix.shared >= 0.4 * first.plan.total
    assert "len('orchard inner')" in second.prompt.markdown
    assert second.plan.total <= 4_000
    third, _ = say(folder, "And what does the inner part of the orchard return?", budget=4_000)
    assert third.prefix is not None
    assert third.prefix.shared >= 0.7 * second.plan.total


@pytest.mark.parametrize(
    "shown", ["3", "[3]", '[["a","full",[[3,2]],"",1]]', '[["a","half",[],"",1]]', '[["a"]]']
)
def test_a_record_that_somebody_changed(folder: Path, shown: str) -> None:
    """It is as if there were none: the next turn is fitted anew (rule B-9)."""
    made, done = say(folder, "What does the lantern do?")
    path = request_log_path(done.path)
    data = json.loads(path.read_text(encoding="utf-8"))
    data["sent"]["shown"] = json.loads(shown)
    path.write_text(json.dumps(data), encoding="utf-8")
    again = ready(folder, "What does the kettle do?")
    assert (again.prefix, again.request.kept) == (None, ())
    assert again.plan.total <= BUDGET
    assert made.request.kept == ()


def test_an_edit_keeps_to_the_budget(folder: Path) -> None:
    """A file that was shown in full stays in its older version with a diff, and both count (rules B-1 and B-9)."""
    budget = 6_000
    say(folder, "What does the lantern do?", budget=budget)
    path = folder / "src" / "compass.py"
    path.write_text(path.read_text(encoding="utf-8") + "COMPASS_EDITED = 1\n", encoding="utf-8")
    made = ready(folder, "What does the lantern do now?", budget=budget)
    assert "COMPASS_EDITED = 1" in made.prompt.markdown
    assert made.plan.total == count(made.plan.text) <= budget


def test_a_secret_in_the_message_is_not_recorded(folder: Path) -> None:
    """What is replaced in the prompt is replaced in the account beside it, too (rule A-1)."""
    key = "AKIA" + "IOSFODNN7" + "EXAMPLQ"
    made, done = say(folder, f"Why does the lantern refuse aws_access_key_id = {key}?")
    assert key not in made.prompt.markdown
    account = audit_path(done.path).read_text(encoding="utf-8")
    assert key not in account
    assert "Why does the lantern refuse" in account


def test_the_account_counts_what_was_sent(folder: Path) -> None:
    """Its rows and sections are those of the prompt in the order for sending (rules A-1 and A-2)."""
    made, done = say(folder, "What does the lantern do?")
    account = json.loads(audit_path(done.path).read_text(encoding="utf-8"))
    assert account["tokens"] == made.plan.total == sum(account["sections"].values())
    assert account["task"] == "What does the lantern do?"
    rows = {row["path"]: row["tokens"] for row in account["rows"] if row["tokens"]}
    assert rows == {file.path: file.tokens for file in made.record.shown}


def test_lines_of_a_file_that_stands_twice_have_their_places(folder: Path) -> None:
    """Above and in the diff behind, each line comes from the line of the file that it shows (rules B-9 and L-1)."""
    tools = ["anvil", "drill", *(f"tool{number}" for number in range(20))]
    big = "".join(map(module_about, tools))
    (folder / "src" / "a_tools.py").write_text(big, encoding="utf-8")
    others = " ".join(TOPICS)  # what else is shown behind that file
    say(folder, f"What does anvil_upper do in the upper part of the anvil? {others}", budget=6_000)
    made, done = say(
        folder, f"What does drill_lower do in the lower part of the drill? {others}", budget=6_000
    )
    assert "len('drill lower')" in made.prompt.markdown
    assert "src/a_tools.py" in made.ordered.older
    changed = [one for one in made.prompt.segments if one.section == "changed"]
    lines = "\n".join(one.text for one in changed if one.source).split("\n")
    gone = [line.removeprefix("-").strip() for line in lines if line.startswith("-")]
    assert all(re.fullmatch(r"# \.\.\.\d+", line) for line in gone)
    assert "or more of them is shown now" in made.prompt.markdown
    assert made.plan.total <= 6_000
    audit = read_audit(done.path)
    assert audit is not None
    assert audit.source_map is not None
    kinds = set()
    lines = made.prompt.written.split("\n")
    for line, origin in zip(lines, audit.source_map.origins(), strict=True):
        if origin.source != "src/a_tools.py" or "step_" not in line or line.startswith("-"):
            continue
        kinds.add(line[0])
        shown = line if origin.is_verbatim else line[1:]
        assert big.split("\n")[origin.first - 1] == shown
    assert kinds == {" ", "+"}
