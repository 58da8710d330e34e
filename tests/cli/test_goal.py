"""``aggregate goal``."""

import json
from pathlib import Path
from typing import Any

import pytest

from aggregate import ConfigError
from aggregate.agents.goals import Trace, TraceKind
from aggregate.cli.goal import read_instruction, trace_lines
from tests.cli.command_line import Ended, aggregate
from tests.fakes.chat_server import chat_server

SCRIPT = {
    "decompose": "1. Greet Ann",
    "find_tool": "greet",
    "parameters": '{"name": "Ann"}',
    "validate": "yes",
    "complete": "yes",
}
TOOLS = '''
from aggregate.agents.tools import tool
@tool(permissions="network")
def greet(name: str) -> dict:
    """Greet somebody."""
    return {"success": True, "result": "Hello " + name}
'''


def run(folder: Path, *arguments: str, script: dict[str, Any] = SCRIPT) -> Ended:
    """Run the command in ``folder`` with a script and a folder of tools."""
    (folder / "tools").mkdir(exist_ok=True)
    (folder / "tools/greet.py").write_text(TOOLS, encoding="utf-8")
    (folder / "script.json").write_text(json.dumps(script), encoding="utf-8")
    made = (
        "--script",
        str(folder / "script.json"),
        "--tools",
        str(folder / "tools"),
        "--state-dir",
        str(folder / "state"),
    )
    given = ("goal", *made, "--root", str(folder), *arguments)
    return aggregate(*given)


def test_the_trace_is_drawn_beside(tmp_path: Path) -> None:
    """The tree goes to standard error, with times and tokens."""
    done = run(tmp_path, "Greet Ann", "--allow", "network", "--trace")
    assert done.out == "Hello Ann\n"
    lines = done.err.splitlines()
    assert [line.split("(")[0].strip() for line in lines] == [
        "goal Greet Ann",
        "decompose 1. Greet Ann",
        "0.1 Greet Ann",
        "find_tool greet",
        'parameters {"name": "Ann"}',
        "greet name='Ann'",
        "validate yes",
        "complete yes",
    ]
    assert all(" ms" in line for line in lines)
    assert "tokens)" in lines[0]


def test_json(tmp_path: Path) -> None:
    """The whole envelope, with warnings and tokens."""
    told = json.loads(run(tmp_path, "Greet Ann", "--allow", "network", "--json").out)
    assert told["final"]["summary"] == "Hello Ann"
    assert (told["success"], told["warnings"], told["tokens"] > 0) == (True, [], True)


def test_a_failed_goal(tmp_path: Path) -> None:
    """Nothing on standard output, the reason on standard error, exit code 1; permissions are not given by default (D-85)."""
    done = run(tmp_path, "Greet Ann")
    assert (done.out, done.code) == ("", 1)
    assert "greet needs the permission network" in done.err
    assert done.err.endswith("aggregate: No step gave a usable result.\n")


def test_the_trace_says_nothing_twice() -> None:
    """The one step of a sub-task is not repeated below it; what failed says so, with its reason."""
    call = Trace(TraceKind.TOOL, "greet", "name='Ann'", 0.001)
    step = Trace(TraceKind.NEURON, "1.1", "Greet Ann", 0.002, own_tokens=5, children=[call])
    task = Trace(TraceKind.DENDRITE, "1.1", "Greet Ann", 0.003, children=[step])
    goal = Trace(TraceKind.GOAL, "goal", "Greet", 0.004, ok=False, note="gone", children=[task])
    assert [*trace_lines(goal)] == [
        "failed: goal Greet (4.0 ms, 5 tokens) - gone",
        "  1.1 Greet Ann (3.0 ms, 5 tokens)",
        "    greet name='Ann' (1.0 ms)",
    ]


ODD = '''
from aggregate.agents.tools import tool
@tool
def greet(name: str) -> dict:
    """Greet somebody."""
    return {"success": True, "result": "half \\ud800 a pair"}
@tool
def fail(name: str) -> dict:
    """Fail somebody."""
    return {"success": False, "error": "\\x1b[2J gone"}
'''


def test_odd_characters_are_printed_safely(tmp_path: Path) -> None:
    """Half a surrogate pair is shown by its number; what goes to a terminal's side holds no control characters."""
    script = SCRIPT | {
        "decompose": "1. Fail Ann\n2. Greet Ann",
        "find_tool: Step: Fail": ["fail", "NONE"],
    }
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd/tools.py").write_text(ODD, encoding="utf-8")
    done = run(tmp_path, "Greet Ann", "--trace", "--tools", str(tmp_path / "odd"), script=script)
    assert done.out == "half \\ud800 a pair\n"
    assert "\\x1b[2J gone" in done.err
    assert "\x1b" not in done.err


MISTAKES = [((), "give either a goal or --instruction FILE"), (("  ",), "the goal is empty")]


@pytest.mark.parametrize(("arguments", "message"), MISTAKES)
def test_mistakes(tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    """They are one sentence, with exit code 2."""
    done = run(tmp_path, *arguments)
    assert done.code == 2
    assert message in done.err


def test_an_unknown_provider_is_explained() -> None:
    """The sentence names the providers that there are."""
    ended = aggregate("goal", "x", "--provider", "nobody")
    assert ended.code == 2
    assert ended.err.startswith("aggregate: no such provider: 'nobody': use one of anthropic, ")


def test_secrets_of_a_goal_are_not_sent(tmp_path: Path) -> None:
    """They are replaced in all that a model is asked, and said; ``--no-redact`` keeps them."""
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    for option, is_sent in ((), False), (("--no-redact",), True):
        with chat_server() as server:
            asked = ("--provider", "compatible", "--model", "m", "--base-url", f"{server.url}/v1")
            aggregate("goal", f"Tell of {key}", *asked, "--root", str(tmp_path), *option)
        sent = json.dumps(server.requests)
        assert ("Tell of" in sent, key in sent) == (True, is_sent)


YAML = """\
# A check of every day
goal: "Greet Ann"   # whom
description: >
  Says hello
  to Ann
schedule: daily
constraints:
  - be kind
enabled: true
"""
TOML = 'goal = "Greet Ann"\ndescription = "Says hello"\nenabled = true\n'


@pytest.mark.parametrize(("name", "text", "ignored"), [("i.yaml", YAML, 3), ("i.toml", TOML, 1)])
def test_instruction_files(tmp_path: Path, name: str, text: str, ignored: int) -> None:
    """YAML and TOML; keys that nothing reads are named."""
    (tmp_path / name).write_text(text, encoding="utf-8")
    done = run(tmp_path, "--instruction", str(tmp_path / name), "--allow", "network")
    assert done.out == "Hello Ann\n"
    assert done.err.count("is not used") == ignored


VALUES = [
    ("goal: 'It''s done'", "It's done"),
    ('goal: "a \\"b\\" #c"', 'a "b" #c'),
    ("goal: |\n  line 1\n  line 2", "line 1\nline 2"),
    ("goal: one\n  two", "one two"),
    ("---\ngoal: x # y", "x"),
    ("\ngoal: |\n  a\n\n  b\n# no more\n", "a\n\nb"),
]


@pytest.mark.parametrize(("text", "goal"), VALUES)
def test_values_of_yaml(tmp_path: Path, text: str, goal: str) -> None:
    """Plain, quoted and block values are read as YAML reads them."""
    (tmp_path / "i.yml").write_text(text, encoding="utf-8")
    assert read_instruction(tmp_path / "i.yml") == goal


@pytest.mark.parametrize(
    "text",
    ["", "description: x", "goal:", "goal: [x]", "just words", "goal: 'a' b: c\n\tx\nnot yaml"],
)
def test_files_without_a_goal(tmp_path: Path, text: str) -> None:
    """The error names the file."""
    (tmp_path / "i.yml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=r"i\.yml"):
        read_instruction(tmp_path / "i.yml")


def test_a_limit_has_an_exit_code(tmp_path: Path) -> None:
    """What was done is printed, the limit is named beside it, and the exit code is 3 (X-4, X-12)."""
    script = SCRIPT | {"decompose": "1. Greet Ann\n2. Greet Bo"}
    done = run(tmp_path, "Greet", "--allow", "network", "--max-steps", "1", script=script)
    assert (done.out, done.code) == ("Hello Ann\n", 3)
    assert done.err.endswith(
        "aggregate: Stopped at the limit of 1 steps, 1 of 2 steps done: Greet Ann\n"
    )
