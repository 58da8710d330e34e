"""What ``run`` adds to a prompt for a task: changes, instructions, what a command prints; and what leaves it out."""

import io
import os
import sys
from pathlib import Path

import pytest

from tests.cli.command_line import Ended, start
from tests.project.history import Repository
from tests.projects import project

TASK = ("retry once more", "--budget", "900")
FILES = {"src/a.py": "def retry():\n    return 1\n", "src/b.py": "x = 2\n"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A repository with a change that is not committed."""
    folder = tmp_path / "demo"
    folder.mkdir()
    Repository(folder).commit("Begin", FILES)
    (folder / "src/a.py").write_text("def retry():\n    return 2\n")
    return folder


def refused(folder: Path, *options: str) -> str:
    """Return the last line that a run tells which writes nothing."""
    ended = start(folder, *options)
    assert (ended.code in (1, 2), ended.out) == (True, "")
    return ended.err.splitlines()[-1].removeprefix("aggregate: ")


def printed(folder: Path, *options: str) -> str:
    ended = start(folder, *TASK, "--stdout", *options)
    assert ended.code == 0, ended.err
    return ended.out


def test_a_prompt_says_project_and_task_unless_it_is_bare(folder: Path) -> None:
    """``--bare`` and ``[prompt] frame`` leave the first line and the task out (rule T-7)."""
    framed = printed(folder)
    assert framed.startswith("Parts of the project demo. ")
    assert framed.endswith("\n\nretry once more\n")
    bare = printed(folder, "--bare")
    assert bare.startswith("## Files\n")
    assert "## Task" not in bare
    (folder / "manual_slop.toml").write_text("[prompt]\nframe = false\n")
    assert printed(folder, "--bare").startswith("## Files\n")
    assert printed(folder).startswith("## Files\n")


def test_changes_are_shown_since_a_revision(folder: Path) -> None:
    """``--diff`` takes what is not committed or a revision, and ``--since`` is the same (rules T-8 and T-14)."""
    for options in (("--diff",), ("--diff=HEAD",), ("--since", "HEAD")):
        text = printed(folder, *options)
        assert "\n## Changes\n\nWhat has changed since HEAD, committed or not; " in text
        assert "\n-    return 1\n+    return 2\n" in text
    assert start(folder, *TASK).code == 0
    assert "more file" not in printed(folder, "--diff")  # a prompt of ours is no change
    assert "## Changes" not in printed(folder)
    assert "unknown git revision 'nowhere'" in refused(folder, *TASK, "--diff=nowhere")
    reason = "--diff needs a budget: leave out --budget all"
    assert refused(folder, "retry once", "--diff", "--budget", "all").endswith(reason)


def test_instructions_are_a_text_or_a_file(folder: Path) -> None:
    """A file of that name is read; the user's own configuration may name some for every prompt (rule T-8)."""
    assert "\n## Instructions\n\nBe brief.\n\n## Task\n" in printed(
        folder, "--instructions", "Be brief."
    )
    (folder / "rules.md").write_text("# Rules\n")
    quoted = "\n## Instructions\n\n```text\n# Rules\n```\n"
    assert quoted in printed(folder, "--instructions", "rules.md")
    assert refused(folder, *TASK, "--instructions", "rule.md") == (
        "rule.md: no such file of instructions"
    )
    project(folder, {"manual_slop.toml": '[files]\npaths = ["src/*"]\n'})
    plain = start(folder, "run", "--stdout", "--instructions", "Be brief.")
    assert plain.out.endswith("\n\n## Instructions\n\nBe brief.\n")


def test_instructions_are_the_users_own(folder: Path) -> None:
    """Those of the user stand in every prompt, a project's in none, trusted or not (T-8)."""
    own, theirs = folder / ".xdg/manual_slop/manual_slop.toml", folder / "manual_slop.toml"
    theirs.write_text('[files]\npaths = ["src/*"]\n[prompt]\ninstructions = "Obey the project."\n')
    assert start(folder, "trust", ".").code == 0
    ended = start(folder, *TASK, "--stdout")
    assert "Obey" not in ended.out
    assert "prompt.instructions: only your own configuration can give some" in ended.err
    own.write_text(f'{own.read_text()}\n[prompt]\ninstructions = "Mind the user."\n')
    assert "\n## Instructions\n\nMind the user.\n" in printed(folder)
    assert "Mind the user." in start(folder, "run", "--stdout").out


def test_a_commands_output_is_attached(folder: Path) -> None:
    """It runs as in the user's shell, failing too, and standard input may be attached in its place (rule T-8)."""
    text = printed(folder, "--attach", "echo one; echo two >&2; exit 3")
    block = "### Output of echo one; echo two >&2; exit 3 (exit code 3)\n\n```text\none\n```\n"
    assert f"\n## Attached\n\n{block}" in text
    assert refused(folder, *TASK, "--attach", "no-such-program") == (
        "the command cannot be run (exit code 127): no-such-program"
    )
    assert "prints more than 5,000,000 bytes" in refused(folder, *TASK, "--attach", "yes")


def test_a_program_of_the_project_may_be_attached(folder: Path) -> None:
    """The user has typed it, so that it is found on their PATH, though the program itself starts none there (T-8)."""
    tool = folder / "bin/check-it"
    project(folder, {"bin/check-it": "#!/bin/sh\necho checked\n"})
    tool.chmod(0o755)
    path = f"{tool.parent}{os.pathsep}{os.environ['PATH']}"
    ended = start(folder, *TASK, "--stdout", "--attach", "check-it", PATH=path, PYTHONUTF8="1")
    assert "```text\nchecked\n```" in ended.out, ended.err


def test_standard_input_is_attached(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``-`` stands for it (rule T-8)."""
    stdin = io.TextIOWrapper(io.BytesIO(b"FAILED test_a\n"), encoding="utf-8")
    monkeypatch.setattr(sys, "stdin", stdin)
    assert "\n### Standard input\n\n```text\nFAILED test_a\n```\n" in printed(
        folder, "--attach", "-"
    )


def test_edited_lines_keep_their_numbers(folder: Path) -> None:
    """A run after an edit numbers lines as the first one does, and each is located (rules T-8, L-2)."""
    project(folder, {"manual_slop.toml": '[files]\npaths = ["src/*"]\n'})

    def shown() -> Ended:
        return start(folder, "run", "--stdout", "--line-numbers")

    assert "\n1 | def retry():\n2 |     return 2\n" in shown().out
    (folder / "src/a.py").write_text("def retry():\n    return 3\n")
    assert "\n1 | def retry():\n2 |     return 3\n" in shown().out
    written = start(folder, *TASK, "--line-numbers")
    prompt = (folder / written.out.strip()).read_text().split("\n")
    place = prompt.index("2 |     return 3") + 1
    assert start(folder, "locate", f"1:{place}").out == "src/a.py:2\n"
