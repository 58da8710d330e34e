"""The page on goals: its examples give what it shows."""

import contextlib
import io
import re
import shlex
from pathlib import Path

import click.testing
import pytest

from aggregate.cli.program import program

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/goals.md").read_text(encoding="utf-8")


def test_the_console_example(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The command prints the lines below it."""
    shown = re.search(r"```console\n\$ cd (.*?)\n\$ aggregate (.*?)\n(.*?)```", PAGE, re.DOTALL)
    assert shown is not None
    monkeypatch.chdir(ROOT / shown.group(1))
    given = [*shlex.split(shown.group(2)), "--state-dir", str(tmp_path)]
    assert click.testing.CliRunner().invoke(program, given).stdout == shown.group(3)


def test_the_trial_of_a_limit(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A goal that ran out of tokens, and the command that goes on with it, print what the page shows (X-4)."""
    blocks = re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL)
    (shown,) = (block for block in blocks if "--resume" in block)
    commands = re.findall(r"\$ aggregate (.*?)\n(.*?)(?=\$ |\Z)", shown, re.DOTALL)
    assert len(commands) == 2
    monkeypatch.chdir(ROOT / "docs/examples/goal")
    monkeypatch.setenv("AGGREGATE_STATE_DIR", str(tmp_path / "states"))
    for command, printed in commands:
        given = [*shlex.split(command), "--state-dir", str(tmp_path)]
        done = click.testing.CliRunner().invoke(program, given)
        told = [line for line in done.stderr.splitlines() if not line.startswith("warning: ")]
        assert done.stdout + "".join(f"{line}\n" for line in told) == printed


def test_the_python_examples(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Each block prints the text below it."""
    monkeypatch.chdir(tmp_path)
    examples = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", PAGE, re.DOTALL)
    assert len(examples) == 2
    for code, text in examples:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, "docs/goals.md", "exec"), {"__name__": "example"})  # noqa: S102 - this project's own page
        assert printed.getvalue() == text
