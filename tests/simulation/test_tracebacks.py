"""The benchmark of tracebacks: projects that fail, and whether the line with the bug is shown."""

from dataclasses import replace
from pathlib import Path

import pytest
from simulation.prompt_makers import Ask
from simulation.recall_metrics import Blocks, read_blocks
from simulation.traceback_projects import PROJECTS
from simulation.tracebacks import Found, failure_of, measure, table

PYTHON = PROJECTS[0]


class Everything:
    """Shows the files of one name whole, whatever is asked for."""

    name = "all"

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.asked: list[str] = []

    def make(self, tree: Path, ask: Ask, budget: int) -> str:
        """Show the files."""
        self.asked.append(ask.text)
        paths = sorted(tree.glob(self.pattern))
        return "".join(
            f"### File {path.relative_to(tree).as_posix()}\n\n```\n{path.read_text(encoding='utf-8')}```\n\n"
            for path in paths
        )

    def read(self, prompt: str) -> Blocks:
        """Read the blocks."""
        return read_blocks(prompt)


def test_bugs_fail_where_they_are_said_to(tmp_path: Path) -> None:
    """Each bug's traceback names the file that fails, and the bug's own file only where it lies in a caller of it."""
    for number, bug in enumerate(PYTHON.bugs):
        folder = tmp_path / str(number)
        PYTHON.write(folder, bug)
        text = failure_of(PYTHON, folder)
        assert "Error" in text
        assert (bug.path in text) is (bug.where != "returned before")


def test_a_project_without_a_bug_is_no_question(tmp_path: Path) -> None:
    """It does not fail, which is an error of the benchmark; so is a bug whose line is not there."""
    bug = PYTHON.bugs[0]
    PYTHON.write(tmp_path, replace(bug, wrong=bug.right))
    with pytest.raises(AssertionError, match="did not fail"):
        failure_of(PYTHON, tmp_path)
    for project in PROJECTS:
        with pytest.raises(AssertionError, match="does not hold"):
            project.write(tmp_path, replace(project.bugs[0], right="no such line"))


def test_only_the_right_file_counts() -> None:
    """The same module of another shop is no answer."""
    right, wrong = Everything("shop/rates.py"), Everything("*/orders.py")
    found = list(measure(PYTHON, PYTHON.bugs[0], [right, wrong], [100, 5_000]))
    assert [(each.budget, each.is_shown, each.is_over) for each in found] == [
        (100, True, True),
        (5_000, True, False),
        (100, False, True),
        (5_000, False, True),
    ]
    assert "KeyError: 'others'" in right.asked[0]


def test_the_table() -> None:
    """It names the languages whose bug is not shown."""
    rows = [
        Found("python", "where it fails", "ours", 1_000, True, False),
        Found("go", "where it fails", "ours", 1_000, False, True),
    ]
    assert list(table(rows)) == [
        "| bug | program | 1,000 tokens |",
        "|---|---|---|",
        "| where it fails | ours | 1 of 2 (not go), over the budget |",
    ]
