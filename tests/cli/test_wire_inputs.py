"""Inputs in the forms that people paste and hosts send: chat lines, arguments of MCP, whom ``--pick`` asks."""

from pathlib import Path
from typing import Any

import pytest

from aggregate.base import ToolError
from aggregate.cli.chat_commands import is_command
from aggregate.mcp import ComposeArguments, ResultsArguments, parse
from tests.cli.command_line import start
from tests.fakes.chat_server import chat_server
from tests.projects import project

CONFIG = '[files]\npaths = ["*.py"]\n'


@pytest.mark.parametrize(
    "line",
    ["/usr/lib/python3/x.py: no such file", "// a comment", "//", "/** doc */", "/tmp/a b", "/[a-z]+/ matches", "/usr\nfails", " /help", "Why?"],
)  # fmt: skip
def test_lines_that_are_texts(line: str) -> None:
    """A path, a comment or an expression is sent (S-7)."""
    assert not is_command(line)


@pytest.mark.parametrize("line", ["/help", "/model gpt-5.6", "/retry", "/nope", "/", "/edit a\nb"])
def test_lines_that_are_commands(line: str) -> None:
    """A known first word, and a mistyped one alone, which is answered with the nearest (S-7)."""
    assert is_command(line)


@pytest.mark.parametrize(
    ("values", "name", "expected"),
    [
        ({"budget": "8k"}, "budget", 8_000),
        ({"budget": "8000"}, "budget", 8_000),
        ({"budget": 8_000}, "budget", 8_000),
        ({"focus": '["a.py", "b.py:3"]'}, "focus", ["a.py", "b.py:3"]),
        ({"focus": "a.py"}, "focus", ["a.py"]),
        ({"focus": ""}, "focus", []),
        ({"symbols": "[broken"}, "symbols", ["[broken"]),
        ({"symbols": "3"}, "symbols", ["3"]),
    ],
)
def test_arguments_as_hosts_send_them(values: dict[str, Any], name: str, expected: object) -> None:
    """A budget in words, a list as JSON in a string, and one string in place of a list."""
    arguments = parse(ComposeArguments, {"task": "Fix it", **values}, tool="compose")
    assert getattr(arguments, name) == expected


def test_results_as_one_string() -> None:
    """Results in a JSON string are read, and a budget that is none is a mistake with its field."""
    text = '[{"label": "a", "value": 1}, {"value": "[2]"}]'
    outputs = parse(ResultsArguments, {"outputs": text}, tool="results").outputs
    assert [(one.label, one.value) for one in outputs] == [("a", 1), ("", "[2]")]
    with pytest.raises(ToolError, match=r"compose: .*such as"):
        parse(ComposeArguments, {"task": "x", "budget": "much"}, tool="compose")


def test_pick_reaches_its_server(tmp_path: Path) -> None:
    """``--pick compatible:MODEL`` has the option that its own error names."""
    folder = project(tmp_path, {"a.py": "def f():\n    return 1\n", "manual_slop.toml": CONFIG})
    asked = ("run", "fix f", "--budget", "900", "--pick", "compatible:m")
    assert "add --base-url" in start(folder, *asked).err
    with chat_server('{"files": [{"file": 1, "confidence": 0.9, "why": "it"}]}') as server:
        told = start(folder, *asked, "--base-url", f"{server.url}/v1")
    assert len(server.bodies) == 1
    assert "second look: compatible:m picks a.py" in told.err


def test_a_plan_without_a_provider(tmp_path: Path) -> None:
    """``send --dry-run`` compares what known models cost for this prompt, the cheapest first (S-10)."""
    folder = project(tmp_path, {"a.py": "A = 1\n" * 900, "manual_slop.toml": CONFIG})
    told = start(folder, "send", "Why?", "--dry-run")
    assert told.code == 0
    rows = [line.split("\t") for line in told.out.splitlines()]
    prices = [float(row[2].split()[0][1:]) for row in rows]
    assert prices == sorted(prices)
    assert {"anthropic/claude-sonnet-5", "openai/gpt-5.6"} <= {row[0] for row in rows}
    assert not (folder / "md_gen").exists()
    assert start(folder, "send", "Why?").code != 0
