"""Discussion history: where it lives, where it stands, what it never does."""

from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from aggregate import (
    build_discussion_text,
    build_file_items,
    build_markdown,
    build_markdown_from_items,
    build_markdown_no_history,
    run,
)
from tests.projects import project

CONFIG = """\
    [project]
    name = "demo"

    [files]
    paths = ["**/*.toml", "a.py"]

    [discussion]
    history = ["User: in the configuration"]
    """


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """A project whose history lives beside its configuration."""
    return project(
        tmp_path,
        {
            "manual_slop.toml": CONFIG,
            "manual_slop_history.toml": 'history = ["User: hi", { role = "AI", content = " hello " }]\n',
            "a.py": "x = 1\n",
        },
    )


def test_aggregate_blacklist(base: Path) -> None:
    """History files are never aggregated as files, named or by a glob (M-2)."""
    items = build_file_items(base, ["**/*.toml", "manual_slop_history.toml", "history.toml"])
    assert [item["path"] for item in items] == ["manual_slop.toml"]


def test_aggregate_includes_segregated_history(base: Path) -> None:
    """The configuration's turns come first, then those of the history's own file (M-50)."""
    markdown, _, _ = run(base / "manual_slop.toml")
    assert markdown.removesuffix("\n").endswith(
        dedent(
            """\
            ## Discussion History

            ### Discussion Excerpt 1

            User: in the configuration

            ---

            ### Discussion Excerpt 2

            User: hi

            ---

            ### Discussion Excerpt 3

            AI: hello"""
        )
    )


def test_aggregate_respects_section_order(base: Path) -> None:
    """Files, screenshots, beads, discussion: each only if it is not empty (M-9, M-13)."""
    project(
        base, {".beads/issues.jsonl": '{"id":"b-1","title":"Do it","status":"open"}\n', "s.png": ""}
    )
    markdown = build_markdown(base, ["a.py"], base, ["s.png"], ["hi"], execution_mode="beads")
    heads = [line for line in markdown.splitlines() if line.startswith("## ")]
    assert heads == [
        "## Files",
        "## Screenshots",
        "## Beads Mode: Progress Track",
        "## Discussion History",
    ]
    assert build_markdown(base, [], base, [], []) == ""
    assert build_markdown(base, [], base, [], ["hi"]).startswith("## Discussion History")


@pytest.mark.parametrize("history", [[], ["a"], ["a", {"role": "AI", "content": "b"}], [""]])
@pytest.mark.parametrize("mode", ["native", "beads"])
def test_aggregate_respects_the_static_prefix(base: Path, history: list[Any], mode: str) -> None:
    """The full text is the static prefix, two line breaks and the discussion; the prefix never moves (M-X5, M-10)."""
    project(base, {".beads/issues.jsonl": '{"id":"b-1","title":"Do it","status":"open"}\n'})
    items = build_file_items(base, ["a.py"])
    full = build_markdown_from_items(items, base, [], history, execution_mode=mode, base_dir=base)
    prefix = build_markdown_no_history(items, base, [], execution_mode=mode, base_dir=base)
    assert full == "\n\n".join(part for part in (prefix, build_discussion_text(history)) if part)
    assert ("## Beads Mode: Progress Track" in prefix) is (mode == "beads")


@pytest.mark.parametrize(
    ("strategy", "summary_only", "title"),
    [
        ("auto", False, "## Files"),
        ("auto", True, "## Files (Summary)"),
        ("summarize", False, "## Files (Summary)"),
        ("full", True, "## Files"),
        ("anything", True, "## Files (Summary)"),
        ("anything", False, "## Files"),
    ],
)
def test_aggregate_respects_strategy(
    base: Path, strategy: str, summary_only: bool, title: str
) -> None:
    """Only auto, and whatever is unknown, looks at summary_only (M-30)."""
    items = build_file_items(base, ["a.py"])
    markdown = build_markdown_from_items(items, base, [], [], summary_only, strategy)
    assert markdown.split("\n\n")[0] == title


def test_aggregate_respects_view_modes_under_every_strategy(base: Path) -> None:
    """Full and auto leave each file's view in force; summarize works on the raw text (M-X2)."""
    project(base, {"b.py": "def f():\n    return 1 + 2 + 3 + 4\n"})
    items = build_file_items(base, [{"path": "b.py", "view_mode": "skeleton"}])
    full = build_markdown_from_items(items, base, [], [], aggregation_strategy="full")
    assert full == build_markdown_from_items(items, base, [], [])
    assert "```python\ndef f():\n    ...\n```" in full
    digest = build_markdown_from_items(items, base, [], [], aggregation_strategy="summarize")
    assert "```text\npython, 2 lines, 1 function\n```" in digest


def test_aggregate_respects_a_missing_history(base: Path) -> None:
    """Without history there is no section (M-X4)."""
    (base / "manual_slop_history.toml").unlink()
    config = {
        "files": {"base_dir": str(base), "paths": ["a.py"]},
        "output": {"output_dir": str(base / "out")},
    }
    markdown, path, items = run(config)
    assert "Discussion" not in markdown
    assert path.read_text(encoding="utf-8") == markdown
    assert [item["path"] for item in items] == ["a.py"]
