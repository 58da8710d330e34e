"""``run --timings``: where the time of a run went."""

import json
from pathlib import Path

import pytest

from tests.cli.command_line import start
from tests.projects import project

STEPS = {"select_files", "read_files", "render_files", "write_numbered", "log_written_prompt"}
COUNTED = STEPS | {"count_tokens", "all"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project of one file."""
    return project(tmp_path, {"a.py": "x = 1\n", "manual_slop.toml": '[files]\npaths = ["*.py"]\n'})


def test_the_steps_are_a_table(folder: Path) -> None:
    """Each step has a row on standard error with calls, seconds and share, all of it the last (M-18)."""
    ended = start(folder, "run", "--timings")
    assert ended.out.endswith("_001.md\n")
    lines = ended.err.splitlines()
    head = lines.index(next(line for line in lines if line.startswith("scope ")))
    rows = [line.split() for line in lines[head + 1 :]]
    assert {row[0] for row in rows} == COUNTED
    assert [row[1] for row in rows] == ["1"] * len(rows)
    assert rows[-1][0] == "all"
    assert rows[-1][3] == "100%"


def test_json_holds_the_steps_that_were_asked_for(folder: Path) -> None:
    """The JSON has ``timings`` with the option only, longest first; shares are of all seconds (M-18)."""
    plain = json.loads(start(folder, "run", "--json", "-q").out)
    assert "timings" not in plain
    timings = json.loads(start(folder, "run", "--json", "--timings").out)["timings"]
    assert {row["scope"] for row in timings} == COUNTED
    *steps, everything = timings
    assert [row["seconds"] for row in steps] == sorted(
        (row["seconds"] for row in steps), reverse=True
    )
    assert everything["share"] == 1.0
    assert all(0 <= row["share"] <= 1 for row in steps)
