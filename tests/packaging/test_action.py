"""The action for pull requests and the hook of pre-commit, run as scripts."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.command_line import start
from tests.project.repository import ENVIRONMENT, git
from tests.projects import project

ROOT = Path(__file__).parents[2]
WHO = ("-c", "user.name=a", "-c", "user.email=a@example.org")

pytestmark = pytest.mark.skipif(not shutil.which("bash"), reason="there is no bash")


def _steps() -> list[dict[str, Any]]:
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    steps: list[dict[str, Any]] = action["runs"]["steps"]
    return steps


@pytest.fixture
def pull_request(tmp_path: Path) -> tuple[Path, str]:
    """A checkout with one commit on its base, and the base."""
    folder = project(tmp_path / "checkout", {"a.py": "def area(): ...\n", "b.py": "b = 1\n"})
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", ".")
    git(folder, *WHO, "commit", "-q", "-m", "base")
    base = git(folder, "rev-parse", "HEAD").decode().strip()
    (folder / "b.py").write_text('KEY = "sk-ant-api03-' + "Ab1" * 31 + 'AA"\n')
    git(folder, *WHO, "commit", "-q", "-a", "-m", "change")
    return folder, base


def _compose(folder: Path, **variables: str) -> subprocess.CompletedProcess[bytes]:
    """Run the step that composes, as a runner does."""
    temporary = folder.parent / "temporary"
    temporary.mkdir(exist_ok=True)
    program = folder.parent / "aggregate"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m aggregate "$@"\n')
    program.chmod(0o755)
    environment = {
        **ENVIRONMENT,
        "AGGREGATE": str(program),
        "RUNNER_TEMP": str(temporary),
        "GITHUB_ACTION_PATH": str(ROOT),
        "GITHUB_OUTPUT": str(temporary / "output"),
        "GITHUB_STEP_SUMMARY": str(temporary / "summary"),
        "AGGREGATE_CACHE_DIR": str(temporary / "cache"),
        **variables,
    }
    script = _steps()[1]["run"]
    return subprocess.run(
        ["bash", "-c", script], cwd=folder, env=environment, capture_output=True, timeout=60
    )


def test_a_pull_request_becomes_a_prompt_and_a_comment(pull_request: tuple[Path, str]) -> None:
    """Title and text are the task, whatever they hold; secrets are replaced, and the checkout stays as it was."""
    folder, base = pull_request
    title = 'Change `b` $(touch stolen) "; exit 1'
    done = _compose(folder, TITLE=title, BODY="", TASK="", BASE=base, BUDGET="1k", CONFIG="")
    assert done.returncode == 0, done.stderr
    temporary = folder.parent / "temporary"
    outputs = dict(line.split("=", 1) for line in (temporary / "output").read_text().splitlines())
    prompt = Path(outputs["prompt"]).read_text()
    assert "### File b.py" in prompt
    assert "sk-ant-api03" not in prompt
    comment = Path(outputs["comment"]).read_text()
    assert "b.py" in comment
    assert comment == (temporary / "summary").read_text()
    assert git(folder, "status", "--porcelain", "--ignored") == b""
    assert not (folder / "stolen").exists()


def test_without_a_pull_request_a_task_is_asked_for(pull_request: tuple[Path, str]) -> None:
    """An empty task ends with a sentence."""
    folder, _ = pull_request
    empty = {"TITLE": "", "BODY": "", "BASE": "", "BUDGET": "1k", "CONFIG": ""}
    done = _compose(folder, **empty, TASK="")
    assert done.returncode == 2
    assert b"name a task" in done.stderr


def test_names_are_no_commands_of_the_runner(pull_request: tuple[Path, str]) -> None:
    """A revision has one line, and the runner takes no commands while names of files are told."""
    folder, _ = pull_request
    (folder / "##[warning]stolen.py").write_text("area = 1\n")
    (folder / "manual_slop.toml").write_text('[files]\npaths = ["*.py", "::error::gone.py"]\n')
    empty = {"TITLE": "", "BODY": "", "BUDGET": "1k", "CONFIG": ""}
    done = _compose(folder, **empty, BASE="x\n::error::stolen", TASK="area")
    assert done.returncode == 0, done.stderr
    lines = done.stderr.decode().splitlines()
    assert lines[0].startswith("::warning::revision x ::error::stolen is not there")
    (stop,) = [line for line in lines[1:] if line.startswith("::stop-commands::")]
    word = stop.removeprefix("::stop-commands::")
    assert len(word) == 32
    told = lines[lines.index(stop) + 1 : lines.index(f"::{word}::")]
    assert [line for line in told if "##[warning]stolen.py" in line]
    assert lines[-1] == f"::{word}::"


@pytest.mark.slow
def test_a_long_table_is_cut_between_lines(pull_request: tuple[Path, str]) -> None:
    """A comment holds whole lines and stays below what a comment may have."""
    folder, base = pull_request
    for number in range(700):
        (folder / f"{'ü' * 40}_{number}.py").write_text("def area(): ...\n")
    empty = {"TITLE": "", "BODY": "", "BUDGET": "60k", "CONFIG": ""}
    done = _compose(folder, **empty, BASE=base, TASK="area")
    assert done.returncode == 0, done.stderr
    temporary = folder.parent / "temporary/aggregate"
    table = (temporary / "table.txt").read_bytes()
    comment = (temporary / "comment.md").read_bytes()
    assert len(comment) < 61_000 < len(table)
    _, _, shown = comment.decode().partition("~~~~text\n")
    shown = shown.removesuffix("\n~~~~\n")
    assert shown.endswith("\n")
    assert table.decode().startswith(shown)


def test_no_script_of_the_action_holds_an_expression() -> None:
    """What an expression stands for would become part of the script; variables do not, and no other action is used."""
    for step in _steps():
        assert "${{" not in step["run"]
        assert "uses" not in step
    text = (ROOT / "action.yml").read_text(encoding="utf-8")
    assert "secrets." not in text
    for workflow in re.findall(r"uses: (\S+)", (ROOT / "docs/automation.md").read_text("utf-8")):
        assert re.search(r"@([0-9a-f]{40}|COMMIT)$", workflow), f"{workflow} is not pinned"


def test_the_hook_checks_the_configuration(tmp_path: Path) -> None:
    """The hook's command is one of ours, and fails where a file is gone that the configuration names."""
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    program, *arguments = hook["entry"].split()
    assert program == "aggregate"
    folder = project(tmp_path, {"manual_slop.toml": '[files]\npaths = ["a.py"]\n'})
    assert start(folder, *arguments).code == 1
    (folder / "a.py").write_text("")
    assert start(folder, *arguments).code == 0
    assert not (folder / "md_gen").exists()
