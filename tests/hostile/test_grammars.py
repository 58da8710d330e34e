"""No grammar runs in the user's process, whatever is asked for."""

import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from tests.cli.command_line import start
from tests.projects import project

HOSTILE = "hello:\n" + ("- " * 500 + "\n") * 80
"""YAML that its grammar crashes over."""
NAMED = '[files]\npaths = [{path = "bad.yaml", view_mode = "outline"}]\n'
FILES = {
    "manual_slop.toml": """\
        [files]
        paths = [
          {path = "a.py", view_mode = "skeleton"},
          {path = "b.js", view_mode = "masked", ast_mask = {f = "sig"}},
          {path = "c.html", view_mode = "outline"},
          {path = "d.md", view_mode = "summary"},
          {path = "e.ipynb", view_mode = "skeleton"},
        ]
        """,
    "wrong.toml": "[files]\npathz = 1\n",
    "bad.toml": NAMED,
    "a.py": "import os\n\ndef f(x):\n    return os.path.join(x)\n",
    "b.js": "function f(a) {\n  return a\n}\n",
    "c.html": "<script>function g() { return 1 }</script>\n",
    "d.md": "# A\n\n## B\n",
    "e.ipynb": '{"cells": [{"cell_type": "code", "source": "def h():\\\\n  return 1", "outputs": []}],'
    ' "metadata": {}, "nbformat": 4, "nbformat_minor": 5}\n',
    "bad.yaml": HOSTILE,
}
COMMANDS = (
    ("run",),
    ("run", "--stdout", "--budget", "2000", "--task", "f"),
    ("run", "--stdout", "--strategy", "summarize"),
    ("run", "--stdout", "--tier", "3", "--focus", "d.md"),
    ("stats",),
    ("view", "a.py"),
    ("view", "b.js", "--symbol", "f"),
    ("view", "e.ipynb", "--mode", "outline"),
    ("view", "bad.yaml"),
    ("run", "--stdout", "--config", "wrong.toml"),
    ("run", "--stdout", "--config", "bad.toml"),
    ("check",),
    ("locate", "a.py:3"),
)
PROGRAMS = {
    "commands": f"""
        from aggregate.cli.program import run_program
        for command in {COMMANDS}:
            print(command, flush=True)
            assert run_program(list(command)) in (0, 1, 2)
        """,
    "calls": """
        import aggregate
        source = Path("a.py").read_text()
        print(aggregate.summarise_file("a.py", source))
        parser = aggregate.ASTParser("python")
        print(parser.get_skeleton(source), parser.get_code_outline(source), parser.get_definition(source, "f"))
        print(aggregate.compute_file_stats("a.py"), aggregate.compute_file_stats("bad.yaml"))
        request = aggregate.request_for(aggregate.open_project("manual_slop.toml"))
        print(aggregate.compose_prompt(request).prompt.markdown)
        """,
    "agents": """
        from tests.mcp.serving import asking
        with asking(Path()) as ask:
            for tool, given in (
                ("compose", {"task": "f", "budget": 2000}), ("outline", {}), ("find", {"query": "f"}),
                ("read", {"path": "a.py", "symbol": "f"}), ("read", {"path": "bad.yaml", "view": "outline"}),
            ):
                print(tool, ask(tool, **given))
        """,
    "panel": """
        from tests.panel.opened import opened
        panel = opened(Path(), {})
        for path, mode in (("a.py", "outline"), ("b.js", ""), ("bad.yaml", "skeleton")):
            print(panel.get("file", path=path, mode=mode))
        print(panel.get("files"))
        """,
}
_TOLD = """
print("loaded by {}:", sorted(name for name in sys.modules if name.startswith("tree_sitter_")))
"""


def test_no_grammar_is_loaded_here(tmp_path: Path) -> None:
    """Whatever shows files, in each view, leaves parsing to other processes, also of a text that ends these."""
    project(tmp_path, FILES)
    parts = [dedent(program) + _TOLD.format(name) for name, program in PROGRAMS.items()]
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(["import sys", "from pathlib import Path", *parts])],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    said = done.stdout
    for name in PROGRAMS:
        told, mark, said = said.partition(f"loaded by {name}: []\n")
        assert mark, said
        assert "def f(x)" in told


@pytest.mark.parametrize("command", [("run", "--budget", "2000", "--task", "hello"), pytest.param(("stats",), marks=pytest.mark.slow)])  # fmt: skip
def test_a_text_that_is_given_up_is_named_once(command: tuple[str, ...], tmp_path: Path) -> None:
    """One sentence says which file its parser was lost over, also where an earlier run is asked what it holds."""
    project(tmp_path, {"bad.yaml": HOSTILE, "manual_slop.toml": NAMED})
    for _ in range(2):
        err = start(tmp_path, *command).err
        assert err.count("bad.yaml: parsing was stopped: the parser crashed") == 1, err
