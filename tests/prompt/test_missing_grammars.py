"""Files of known languages whose grammars are not installed."""

import json
import os
import sys

import pytest

from tests.processes import python
from tests.projects import project

# A module that is None in this table is one that is not found.
_WITHOUT_RUBY = """\
import json, sys
sys.modules["tree_sitter_ruby"] = None
from tests.cli.command_line import start
from pathlib import Path
told = [start(Path.cwd(), *arguments) for arguments in json.loads(sys.argv[1])]
print(json.dumps(told))
"""
_RUBY = "class Parcel\n  def weigh\n    1 + 2 + 3 + 4\n  end\nend\n" * 3
_SENTENCE = "as the grammar of ruby is not installed: aggregate languages says how to install it"


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, str]]:
    """Return output and errors of run, view, stats and languages where Ruby's grammar is not installed."""
    config = '[files]\npaths = [{ path = "[abc].*", view_mode = "skeleton" }]\n'
    files = {"a.rb": _RUBY, "b.rb": _RUBY, "c.py": "def f():\n    return 123456789\n"}
    files |= {"d.rb": _RUBY * 15, "d.toml": '[files]\npaths = ["d.rb"]\n'}
    folder = project(tmp_path_factory.mktemp("p"), {**files, "manual_slop.toml": config})
    task = ["run", "-c", "d.toml", "--stdout", "--budget", "900", "weigh the parcel"]
    commands = json.dumps([["run", "--stdout"], ["view", "a.rb"], ["stats"], ["languages"], task])
    path = os.pathsep.join(sys.path)
    answers = json.loads(python(_WITHOUT_RUBY, commands, folder=folder, PYTHONPATH=path))
    assert [code for code, *_ in answers] == [0] * len(answers)
    return [(out, err) for _, out, err in answers]


def test_a_run_says_once_what_to_install(told: list[tuple[str, str]]) -> None:
    """Such files are shown as those of no known kind, in the same fence; one warning tells how many and what to do."""
    document, said = told[0]
    assert "```text\nruby, 15 lines\nclass Parcel\ndef weigh\n1 + 2 + 3 + 4\n```" in document
    assert "def f():\n    ...\n" in document
    warnings = [line for line in said.splitlines() if "grammar" in line]
    assert warnings == [
        f"warning: a.rb: shown without its structure (and 1 more file), {_SENTENCE}"
    ]


def test_commands_that_look_say_so_too(told: list[tuple[str, str]]) -> None:
    """``view``, ``stats`` and ``languages`` name the language and the command that installs it."""
    assert [said.count(_SENTENCE) for _, said in told[1:3]] == [1, 1]
    rows = [row for row in told[3][0].splitlines() if "not installed" in row]
    assert [row.split()[0] for row in rows] == ["ruby"]


def test_a_choice_for_a_task_says_what_it_lacks(told: list[tuple[str, str]]) -> None:
    """Files of such a language are ranked by their words alone, which the user learns without asking for reasons."""
    sentence = "ruby is read as plain text, as its grammar is not installed"
    assert f"warning: {sentence}: aggregate languages says how to install it\n" in told[4][1]
