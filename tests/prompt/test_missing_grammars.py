"""Files of known languages whose grammars are not installed."""

import subprocess
import sys
from pathlib import Path

# A module that is None in this table is one that is not found.
_WITHOUT_RUBY = """\
import sys
sys.modules["tree_sitter_ruby"] = None
from aggregate.cli import main
main()
"""
_RUBY = "class Parcel\n  def weigh\n    1 + 2 + 3 + 4\n  end\nend\n" * 3


def without_ruby(folder: Path, *arguments: str) -> tuple[str, str]:
    """Run the program where Ruby's grammar is not installed; return its standard output and error."""
    ended = subprocess.run(
        [sys.executable, "-P", "-c", _WITHOUT_RUBY, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout, ended.stderr


def make_project(folder: Path, mode: str) -> None:
    """Write a project of two Ruby scripts and a Python module."""
    for name in ("a.rb", "b.rb"):
        (folder / name).write_text(_RUBY, encoding="utf-8")
    (folder / "c.py").write_text("def f():\n    return 123456789\n", encoding="utf-8")
    (folder / "manual_slop.toml").write_text(
        f'[files]\npaths = [{{ path = "[abc].*", view_mode = "{mode}" }}]\n', encoding="utf-8"
    )


def test_a_run_says_once_what_to_install(tmp_path: Path) -> None:
    """Such files are shown as those of no known kind, in the same fence; one warning tells how many and what to do."""
    make_project(tmp_path, "skeleton")
    document, said = without_ruby(tmp_path, "run", "--stdout")
    assert "```text\nruby, 15 lines\nclass Parcel\ndef weigh\n1 + 2 + 3 + 4\n```" in document
    assert "def f():\n    ...\n" in document
    warnings = [line for line in said.splitlines() if "grammar" in line]
    assert warnings == [
        "warning: a.rb: shown without its structure (and 1 more file), as the grammar of ruby is not "
        "installed: pip install 'manual-slop[languages]'"
    ]


def test_commands_that_look_say_so_too(tmp_path: Path) -> None:
    """``view``, ``stats`` and ``languages`` name the language and the command that installs it."""
    make_project(tmp_path, "outline")
    sentence = "as the grammar of ruby is not installed: pip install 'manual-slop[languages]'"
    for command in (("view", "a.rb"), ("stats",)):
        _, said = without_ruby(tmp_path, *command)
        assert said.count(sentence) == 1
    listed, _ = without_ruby(tmp_path, "languages")
    rows = [row for row in listed.splitlines() if "not installed" in row]
    assert [row.split()[0] for row in rows] == ["ruby"]
