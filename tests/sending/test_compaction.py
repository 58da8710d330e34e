"""Long discussions made short: a summary in the place of the oldest turns."""

from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from aggregate import (
    AggregateError,
    ConfigError,
    FinishReason,
    OutputError,
    ProviderError,
    Reply,
    Usage,
    load_config,
)
from aggregate.sending import (
    ModelSelection,
    compact_discussion,
    prepare_compaction,
    prepare_turn,
    send_turn,
)
from tests.fakes.transports import scripted
from tests.fakes.user_files import add_turns, turns_in
from tests.projects import project

SCRIPTED = ModelSelection(provider="scripted")
CODE = "".join(f"def name_{n}(value):\n    return value + {n}\n" for n in range(300))
CONFIG = '[project]\nname = "demo"\n[files]\npaths = ["*.py"]\n'
LONG = "What does the parser do with a tab, and why? " * 60


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a project with a discussion of twelve long turns, the last of which a cache holds."""
    made = project(tmp_path, {"manual_slop.toml": CONFIG, "a.py": CODE})
    turns = [{"role": ("User", "AI")[n % 2], "content": f"{n}: {LONG}"} for n in range(10)]
    (made / "manual_slop_history.toml").write_text("# mine\n", encoding="utf-8")
    add_turns(made / "manual_slop_history.toml", turns)
    config = load_config(made / "manual_slop.toml")
    send_turn(prepare_turn(config, "Last?", SCRIPTED))
    return made


def prepared(
    folder: Path, answer: str | Reply | ProviderError = "They spoke of tabs.", **selection: object
) -> Any:
    """Prepare a compaction that will be answered with ``answer``."""
    choice = replace(SCRIPTED, **selection)  # type: ignore[arg-type]
    made = prepare_compaction(load_config(folder / "manual_slop.toml"), choice)
    client = scripted([answer], model=made.turn.client.model)
    return replace(made, turn=replace(made.turn, client=client))


def test_a_summary_comes_in_the_place_of_the_oldest_turns(folder: Path) -> None:
    """The last four stay word for word, and all of them as another discussion, comments included (S-9)."""
    history = folder / "manual_slop_history.toml"
    whole, turns = history.read_bytes(), turns_in(history)
    config = load_config(folder / "manual_slop.toml")
    compact_discussion(prepared(folder), config)
    kept = folder / "manual_slop.default-full_history.toml"
    assert turns_in(history) == [{"role": "Summary", "content": "They spoke of tabs."}, *turns[-4:]]
    assert kept.read_bytes().endswith(whole)
    assert turns_in(kept) == turns
    following = prepare_turn(config, "And now?", SCRIPTED)
    assert following.prompt.markdown.count("They spoke of tabs.") == 1
    assert "0: What does" not in following.prompt.markdown
    assert following.expected.cache_read > 0  # the files


def test_it_is_asked_with_the_turns_alone(folder: Path) -> None:
    """No file goes along, within whatever budget; the price is known before (S-9)."""
    for made in (prepared(folder), prepared(folder, budget=3_000), prepared(folder, budget=1)):
        assert CODE[:40] not in made.turn.plan.text
        assert all(f"{n}: What" in made.turn.plan.text for n in range(8))
        assert made.turn.budget is None
        assert made.price is not None
        assert Decimal(0) < made.price < Decimal("0.1")


def test_without_a_summary_nothing_changes(folder: Path) -> None:
    """Nor where it broke off, or is longer than what it stands for; no other discussion is made (S-9)."""
    history = folder / "manual_slop_history.toml"
    before = history.read_bytes()
    config = load_config(folder / "manual_slop.toml")
    cases: list[tuple[str | Reply | ProviderError, str]] = [
        (ProviderError("overloaded"), "overloaded"),
        (" \n", "answered nothing"),
        (Reply("They spoke", Usage(), FinishReason.LENGTH), r"incomplete \(length at 50 tokens\)"),
        (Reply("They spoke", Usage(), FinishReason.OTHER), r"incomplete \(other\)"),
        ("tab " * 20_000, r"\(20,009 tokens\) is not shorter than the turns"),
    ]
    for answer, error in cases:
        with pytest.raises(ProviderError, match=error):
            compact_discussion(prepared(folder, answer, max_output=50), config)
        assert history.read_bytes() == before
        assert not list(folder.glob("*-full*"))


def test_turns_of_another_process_are_not_lost(folder: Path) -> None:
    """What came behind stays behind the summary; where an old turn was edited, nothing is replaced (S-9)."""
    history = folder / "manual_slop_history.toml"
    config = load_config(folder / "manual_slop.toml")
    made = prepared(folder)
    add_turns(history, [{"role": "User", "content": "Theirs?"}])
    compact_discussion(made, config)
    assert turns_in(history)[-1] == {"role": "User", "content": "Theirs?"}
    shortened = history.read_bytes()
    late = replace(made, turn=replace(made.turn, client=scripted(["Too late."])))
    with pytest.raises(OutputError, match="it stays unchanged") as caught:
        compact_discussion(replace(late, kept_as="default-full-2"), config)
    assert summary_file(caught.value).read_text(encoding="utf-8") == "Too late."
    assert history.read_bytes() == shortened
    assert not (folder / "manual_slop.default-full-2_history.toml").exists()


def summary_file(error: AggregateError) -> Path:
    """Return the file that the note of an error names."""
    return Path(error.__notes__[0].removeprefix("the summary is in "))


def test_a_summary_that_was_paid_for_is_named(folder: Path) -> None:
    """Where another process has taken the name, or has damaged the discussion, the error has its file (S-9)."""
    config = load_config(folder / "manual_slop.toml")
    made = prepared(folder)
    kept = folder / "manual_slop.default-full_history.toml"
    kept.write_text('history = ["Theirs"]', encoding="utf-8")
    with pytest.raises(ConfigError, match="a discussion of this name already exists") as caught:
        compact_discussion(made, config)
    assert summary_file(caught.value).read_text(encoding="utf-8") == "They spoke of tabs."
    assert turns_in(kept) == ["Theirs"]
    damaged = prepared(folder)
    (folder / "manual_slop_history.toml").write_text("= nothing", encoding="utf-8")
    with pytest.raises(ConfigError, match="is not TOML") as caught:
        compact_discussion(damaged, config)
    assert summary_file(caught.value).exists()


def test_the_rest_of_a_file_stays(folder: Path) -> None:
    """Comments, other tables, and permissions, which the discussion with all turns has too (S-5, S-9)."""
    history = folder / "manual_slop_history.toml"
    text = history.read_text(encoding="utf-8").replace("[[history]]", "[[discussion.history]]")
    last = text.rindex("[[discussion.history]]")
    text = f"[discussion]\nauto = true\n{text[:last]}# here\n{text[last:]}\n[other]\nx = 1\n"
    history.write_text(text, encoding="utf-8")
    history.chmod(0o600)
    compact_discussion(prepared(folder), load_config(folder / "manual_slop.toml"))
    written = history.read_text(encoding="utf-8")
    assert written.startswith(
        '[discussion]\nauto = true\n# mine\n\n[[discussion.history]]\nrole = "Su'
    )
    assert written.endswith(text[text.index("# here") :])
    for path in (history, folder / "manual_slop.default-full_history.toml"):
        assert path.stat().st_mode & 0o777 == 0o600


def test_secrets_of_old_turns_are_not_sent(folder: Path) -> None:
    """The turns alone are redacted as a prompt is (S-9)."""
    history = folder / "manual_slop_history.toml"
    text = history.read_text(encoding="utf-8")
    key = "ghp_" + "a1B2c3D4e5" * 4
    history.write_text(text.replace("0: What", f"0: {key[:40]} What"), encoding="utf-8")
    made = prepared(folder, budget=3_000)
    assert key[:40] not in made.turn.plan.text


@pytest.mark.parametrize("name", ["", "none", "new"])
def test_what_is_short_is_refused(tmp_path: Path, name: str) -> None:
    """A discussion that has little before its last turns, no file, or no turns at all (S-9)."""
    made = project(tmp_path, {"manual_slop.toml": CONFIG, "a.py": CODE})
    config = load_config(made / "manual_slop.toml")
    for question in ("One?", "Two?", "Three?", "Four?"):
        send_turn(prepare_turn(config, question, SCRIPTED))
    with pytest.raises(ConfigError, match=r"short enough|has no file of its own to compact"):
        prepare_compaction(config, replace(SCRIPTED, discussion=name))


def test_texts_and_other_keys_stay(folder: Path) -> None:
    """A history of texts, and of tables with more than role and content, is written as it was (S-9)."""
    history = folder / "manual_slop_history.toml"
    old = "".join(f'"User: {n} {LONG}",\n' for n in range(6))
    kept = '"User: 6",\n{role = "AI", content = "7", at = 2026-01-01},\n"User: 8",\n"AI: 9",\n'
    history.write_text(f'continues = "other"\nhistory = [\n{old}{kept}]\n', encoding="utf-8")
    turns = turns_in(history)
    compact_discussion(prepared(folder), load_config(folder / "manual_slop.toml"))
    assert turns_in(history) == [{"role": "Summary", "content": "They spoke of tabs."}, *turns[-4:]]
    written = '{role = "Summary",content = "They spoke of tabs."}'
    assert history.read_text(encoding="utf-8").startswith(
        f'continues = "other"\nhistory = [\n    {written},\n    "User: 6",\n'
    )
