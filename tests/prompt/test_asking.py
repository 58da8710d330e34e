"""What is asked of a prompt: options over a preset over the configuration."""

import subprocess
from dataclasses import astuple
from pathlib import Path
from typing import Any

import pytest

from aggregate import (
    Budget,
    ConfigError,
    Place,
    Task,
    compose_prompt,
    open_project,
    request_for,
    run,
)
from aggregate.prompt import AskedViews, auto_budget
from aggregate.prompt.asking import Request
from tests.projects import project
from tests.prompt.composing import in_index

PRESETS = """\
[budget]
tokens = 1_000
[context_presets.small]
files = ["a.py"]
budget = "2k"
[context_presets.plain]
files = ["a.py"]
"""


def asked(config: dict[str, Any] | Path, **options: Any) -> Request:
    views = {name: options.pop(name) for name in ("preset", "tier") if name in options}
    return request_for(open_project(config), views=AskedViews(**views), **options)


@pytest.mark.parametrize(
    ("option", "standing", "task"),
    [
        (None, "", None),
        (None, "  \n", None),
        (None, "ship it", Task("ship it")),
        ("now", "ship it", Task("now")),
        ("", "ship it", Task("")),
        (Task(symbols=("f",)), "ship it", Task("ship it", symbols=("f",))),
        (Task("now", since="HEAD"), "ship it", Task("now", since="HEAD")),
        (Task(), "ship it", Task()),
    ],
)
def test_options_win_over_the_standing_task(
    option: str | Task | None, standing: str, task: Task | None
) -> None:
    """``[task] text`` counts where no other text is asked for; seeds alone go beside it (rule T-1)."""
    assert asked({"task": {"text": standing}}, task=option).task == task


@pytest.mark.parametrize(
    ("options", "tokens"),
    [
        ({}, 1_000),
        ({"preset": "plain"}, 1_000),
        ({"preset": "small"}, 2_000),
        ({"preset": "small", "budget": 3_000}, 3_000),
        ({"preset": "small", "budget": "3k"}, 3_000),
        ({"budget": "auto"}, 32_000),
        ({"budget": auto_budget(30_000, 7_000)}, 20_000),
    ],
)
def test_options_win_over_a_preset_and_that_over_the_table(
    tmp_path: Path, options: dict[str, Any], tokens: int
) -> None:
    """The budget comes from the caller, else from the preset, else from ``[budget]`` (rule B-1)."""
    folder = project(tmp_path, {"manual_slop.toml": PRESETS})
    request = asked(folder / "manual_slop.toml", **options)
    assert request.budget == Budget(tokens)


def test_the_table_says_how_a_budget_is_shared() -> None:
    """Shares and order come from ``[budget]`` whoever names the tokens; a whole budget is taken as it is (rule B-1)."""
    config = {"budget": {"history": 0.5, "results": 0, "order": "edges"}}
    assert asked(config).budget is None
    shared = asked(config, budget=9).budget
    assert shared is not None
    assert astuple(shared) == (9, 0.5, 0, "edges")
    assert asked(config, budget=Budget(9)).budget == Budget(9)


@pytest.mark.parametrize(
    ("table", "tier", "tokens"),
    [
        ({"tokens": 1}, None, 1),
        ({"tokens": 1}, 3, 1),
        ({"tokens": 1, "tier3": 2}, 3, 2),
        ({"tokens": 1, "tier3": 2}, None, 1),
        ({"tier3": 2}, None, None),
        ({"tokens": "auto", "most": 50}, None, 50),
    ],
)
def test_tier_3_may_have_a_budget_of_its_own(
    table: dict[str, Any], tier: int | None, tokens: int | None
) -> None:
    """``[budget] tier3`` goes before ``tokens`` for Tier 3 alone, and ``most`` caps ``auto`` (rules B-1 and B-11)."""
    budget = asked({"budget": table}, tier=tier).budget
    assert (budget.tokens if budget else None) == tokens


@pytest.mark.parametrize(
    ("budget", "said"),
    [
        ("32x", "the budget must be a number of tokens"),
        (0, "the budget must be a number of tokens"),
        (True, "the budget must be a number of tokens"),
        (1.5, "the budget must be a number of tokens"),
        (Budget(0), "the budget must have 1 to 1,000,000,000 tokens, not 0"),
        (Budget(5, history=1.5), r"the budget's share of history must be 0 to 1, not 1\.5"),
        (Budget(5, results=float("nan")), "the budget's share of results must be 0 to 1, not nan"),
    ],
)
def test_what_is_no_budget_is_one_sentence(budget: Any, said: str) -> None:
    """A caller's mistake is a ``ConfigError`` that names the value (rule B-1)."""
    with pytest.raises(ConfigError, match=said):
        asked({}, budget=budget)


@pytest.mark.parametrize(
    ("options", "focus_files", "places"),
    [
        ({}, ("a.py",), None),
        ({"tier": 3}, ("a.py",), None),
        ({"task": "x"}, (), (Place("a.py"),)),
        ({"budget": 9}, (), (Place("a.py"),)),
        ({"budget": 9, "tier": 3}, ("a.py",), (Place("a.py"),)),
        ({"task": Task("x", (Place("b.py", 2, 3),))}, (), (Place("a.py"), Place("b.py", 2, 3))),
    ],
)
def test_focus_is_a_place_with_a_task_or_budget_and_else_tier_3(
    options: dict[str, Any], focus_files: tuple[str, ...], places: tuple[Place, ...] | None
) -> None:
    """Focus files make a Tier 3 context only without task and budget, or where that tier is asked for (rule T-2)."""
    request = asked({}, focus_files=["a.py"], **options)
    assert request.focus_files == focus_files
    assert request.is_tier3 is bool(focus_files)
    assert (request.task.focus if request.task else None) == places


def test_lines_are_read_and_a_file_of_such_a_name_is_a_file(tmp_path: Path) -> None:
    """``PATH:LINE-LINE`` are lines, but not where the whole is a file; absolute paths become relative (rule T-2)."""
    folder = project(tmp_path, {"b.py:3": "", "a.py": ""})
    config = {"files": {"base_dir": str(folder)}}
    focus = ["a.py:9-2", "b.py:3", f"{folder}/a.py:4", "c:d"]
    request = asked(config, task="x", focus_files=focus)
    assert request.task == Task(
        "x", (Place("a.py", 2, 9), Place("b.py:3"), Place("a.py", 4, 4), Place("c:d"))
    )
    assert asked(config, focus_files=["b.py:3"]).focus_files == ("b.py:3",)


@pytest.mark.parametrize("options", [{}, {"tier": 3}, {"tier": 3, "task": "x"}])
def test_a_tier_3_context_takes_no_lines(options: dict[str, Any]) -> None:
    """Lines without task and budget, or for tier 3, are refused in one sentence (rule T-2)."""
    with pytest.raises(ConfigError, match=r"^focus a\.py:3: a Tier 3 context shows whole files: "):
        asked({}, focus_files=["a.py:3"], **options)


def test_without_files_all_that_git_would_take_are_candidates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a task or a budget, no files means all; without either it still means none (rules T-3 and T-6)."""
    files = {
        ".gitignore": "*.log\n",
        "a.py": "x = 1\n",
        "src/b.md": "# B\n",
        "c.log": "",
        ".env": "K=1",
    }
    folder = project(tmp_path / "demo", files)
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    monkeypatch.chdir(folder)
    for options in ({"task": "x"}, {"budget": "auto"}):
        paths = [record["path"] for record in run({}, **options)[2] if not record["error"]]  # type: ignore[arg-type]
        assert paths == [".gitignore", "a.py", "src/b.md"]
    assert run({})[2] == []
    assert (folder / "md_gen/demo_001.md").is_file()


def test_what_takes_time_is_counted(tmp_path: Path) -> None:
    """With a budget the files that are not known yet are counted while they are read; known ones take no time (I-6)."""
    files = {f"src/m{number}.py": f"x = {number}\n" for number in range(150)}
    folder = project(tmp_path / "demo", files)
    request = asked({"files": {"base_dir": str(folder)}}, task="x", budget="2k")
    totals: list[int] = []
    done: list[int] = []
    for _ in range(2):
        index = in_index(tmp_path)
        compose_prompt(request, index=index, on_start=totals.append, on_done=done.append)
        index.flush()
    assert totals == [150, 0]
    assert sum(done) == 150
    assert len(done) > 1


@pytest.mark.parametrize(
    ("window", "answer", "most", "tokens"),
    [
        (None, 16_000, 60_000, 32_000),
        (None, 16_000, 10_000, 10_000),
        (200_000, 16_000, 60_000, 60_000),
        (200_000, 16_000, 1_000_000, 164_000),
        (64_000, 16_000, 60_000, 41_600),
        (8_192, 16_000, 60_000, 2_048),
        (1, 1, 60_000, 1),
        (0, 0, 60_000, 1),
    ],
)
def test_auto_is_what_the_window_leaves(
    window: int | None, answer: int, most: int, tokens: int
) -> None:
    """The window less the answer and a tenth, a quarter of it at least, up to the cap; 32,000 for no model (rule B-1)."""
    assert auto_budget(window, answer, most=most) == tokens
