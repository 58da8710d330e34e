"""``init``: the first configuration."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.cli.command_line import aggregate, mistake, start, succeeded
from tests.projects import project


def test_the_first_configuration_is_one_that_a_run_accepts(tmp_path: Path) -> None:
    """``init`` writes a file, prints its path and names the next command; ``run`` takes the code and the README."""
    folder = project(
        tmp_path / "my [odd] näme",
        {
            "README.md": "# Hi\n",
            "lib/a.py": "def f(): return 1\n",
            "top.py": "",
            "[b]/c.py": "x = 1\n",
            "a{b/d.py": "",
        },
    )
    made = start(folder, "init")
    assert (made.code, made.out) == (0, "manual_slop.toml\n")
    assert "aggregate run" in made.err
    ended = start(folder, "run", "--stdout", "-q")
    assert (ended.code, ended.err) == (0, "")
    heads = [line for line in ended.out.splitlines() if line.startswith("### ")]
    assert heads == [
        "### File README.md",
        "### File top.py",
        "### File [b]/c.py",
        "### File a{b/d.py",
        "### File lib/a.py",
    ]


def test_a_configuration_that_is_there_is_left_alone(tmp_path: Path) -> None:
    """A second ``init`` refuses and does not touch a byte."""
    path = project(tmp_path, {"manual_slop.toml": "# mine\n"}) / "manual_slop.toml"
    assert (
        mistake(start(tmp_path, "init"))
        == "manual_slop.toml: exists already: edit it, or delete it first"
    )
    assert path.read_bytes() == b"# mine\n"


@pytest.mark.parametrize(
    "name",
    [
        'quo"te', "back\\slash", "tab\there", "line\nbreak", "del\x7f", "sm\U0001f600ile",
        "[brackets]", "{braces,x}", "*",
    ],
)  # fmt: skip
def test_odd_folder_names_survive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Whatever a project and its folders are called, what ``init`` writes names their files."""
    folder = project(tmp_path / name, {f"{name}/inner.py": "x = 1\n"})
    monkeypatch.chdir(folder)
    assert aggregate("init").code == 0
    captured = succeeded("run", "--stdout", "-q")
    assert captured.out.count("### File ") == 1
    assert "x = 1" in captured.out


def test_names_that_are_no_utf8_do_not_end_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that is no UTF-8 cannot stand in a TOML file; a glob for it can (M-X18)."""
    odd = os.fsdecode(b"b\xffd")
    monkeypatch.chdir(project(tmp_path / odd, {"good/a.py": "x = 1\n", f"{odd}/c.py": "y = 1\n"}))
    assert aggregate("init").code == 0
    ended = succeeded("run", "--stdout", "-q")
    out = ended.out
    assert "### File good/a.py" in out
    assert "### File b\\udcffd/c.py" in out


FILLED = [
    f"{folder}/{i}.py"
    for folder in ("node_modules/x", "venv/lib", "web/build", "odd")
    for i in range(3)
]


def test_what_tools_have_filled_is_excluded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Dependencies and outputs are not counted, and in git written into ``exclude``; tracked ones are counted.

    What is counted is what the first run takes.
    """
    files = dict.fromkeys([*FILLED, "odd/pyvenv.cfg"], "x = 1\n")
    monkeypatch.chdir(
        project(tmp_path, {**files, "src/a.py": "def f(): return 1\n", "README.md": "# Hi\n"})
    )
    config = tmp_path / "manual_slop.toml"
    for make_repository in (False, True):
        if make_repository:
            subprocess.run(["git", "init", "-q"], check=True)
        ended = succeeded("init", "--no-gitignore")
        text = config.read_text(encoding="utf-8")
        exclude = 'exclude = ["/odd/", "build/", "node_modules/", "venv/"]'
        assert (exclude in text) is make_repository
        assert ended.err == "it takes 2 files, 30 tokens (o200k); next: aggregate run\n"
        ended = succeeded("run", "--stdout", "-q")
        assert ended.out.count("### File ") == 2
        config.unlink()
    subprocess.run(["git", "add", "web/build"], check=True)
    ended = succeeded("init", "--no-gitignore")
    assert 'exclude = ["/odd/", "node_modules/", "venv/"]' in config.read_text(encoding="utf-8")
    assert "it takes 5 files, " in ended.err


def test_gitignore_is_changed_only_if_the_user_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a terminal ``init`` only says what to add; ``--gitignore`` adds what is missing behind what is there."""
    monkeypatch.chdir(project(tmp_path, {"a.py": "", ".gitignore": "*.log\nstate"}))
    rules, config = tmp_path / ".gitignore", tmp_path / "manual_slop.toml"
    ended = succeeded("init")
    assert ended.err.endswith("\nruns write to md_gen/: better add that to .gitignore\n")
    assert rules.read_text(encoding="utf-8") == "*.log\nstate"
    config.unlink()
    assert aggregate("init", "--gitignore").code == 0
    assert rules.read_text(encoding="utf-8") == "*.log\nstate\nmd_gen/\n"
    config.unlink()
    assert aggregate("init", "--gitignore").code == 0
    assert rules.read_text(encoding="utf-8") == "*.log\nstate\nmd_gen/\n"


def test_gitignore_that_is_a_link_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is added to what a link leads to, which may be any file of the user."""
    monkeypatch.chdir(project(tmp_path, {"in/a.py": "", "rc": "mine\n"}) / "in")
    (tmp_path / "in/.gitignore").symlink_to("../rc")
    ended = aggregate("init", "--gitignore")
    assert ended.code == 1
    assert ended.err.endswith(
        "cannot add to .gitignore: is a link: add md_gen/ and state/ yourself\n"
    )
    assert (tmp_path / "rc").read_text(encoding="utf-8") == "mine\n"


def test_what_git_ignores_is_not_proposed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ignored folders and hidden ones do not appear; lock files are excluded by name."""
    files = {
        ".gitignore": "out/\n",
        "out/a.py": "",
        ".hid/b.py": "",
        "web/c.js": "",
        "web/package-lock.json": "{}",
    }
    monkeypatch.chdir(project(tmp_path, files))
    subprocess.run(["git", "init", "-q"], check=True)
    ended = succeeded("init")
    text = (tmp_path / "manual_slop.toml").read_text(encoding="utf-8")
    assert 'path = "web/**/*.js"' in text
    assert 'exclude = ["package-lock.json"]' in text
    assert "out/" not in text
    assert ".hid" not in text
    assert ended.out == "manual_slop.toml\n"
