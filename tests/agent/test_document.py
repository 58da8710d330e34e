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
