"""The first configuration, its presets, and whether all that it names is there."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.cli.command_line import Ended, aggregate, mistake, start, succeeded
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
        == "manual_slop.toml: already exists: edit it, or delete it first"
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
        ended = succeeded("init")
        text = config.read_text(encoding="utf-8")
        exclude = 'exclude = ["/odd/", "build/", "node_modules/", "venv/"]'
        assert (exclude in text) is make_repository
        assert ended.err.startswith("it matches 2 files, 31 tokens (o200k); next: aggregate run\n")
        ended = succeeded("run", "--stdout", "-q")
        assert ended.out.count("### File ") == 2
        config.unlink()
    subprocess.run(["git", "add", "web/build"], check=True)
    ended = succeeded("init")
    assert 'exclude = ["/odd/", "node_modules/", "venv/"]' in config.read_text(encoding="utf-8")
    assert "it matches 5 files, " in ended.err


def test_a_large_project_is_told_of_a_budget(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where all is more than a model reads well, what comes next is a task with a budget."""
    text = "value = [" + ", ".join(map(str, range(40_000))) + "]\n"
    monkeypatch.chdir(project(tmp_path, {"a.py": text}))
    assert succeeded("init").err.startswith("it matches 1 file, ")
    (tmp_path / "manual_slop.toml").unlink()
    said = 'tokens (o200k); next: aggregate "what you are about to do" --budget 32k\n'
    assert said in succeeded("init").err


def test_what_runs_write_is_better_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``init`` says which of the folders that runs write to nothing ignores, and changes no other file."""
    monkeypatch.chdir(project(tmp_path, {"a.py": "", ".gitignore": "*.log\nstate"}))
    ended = succeeded("init")
    assert ended.err.endswith("\nruns write to md_gen/: add that to .gitignore\n")
    assert (tmp_path / ".gitignore").read_text(encoding="utf-8") == "*.log\nstate"


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


CONFIG = """\
# my notes, with odd   spacing
[project]   # a comment
name='demo'

[files]
paths = [ "a.py",   # keep this
  "b.py" ]

[context_presets.old]   # an old one
description = 'Two'
files = ["a.py", { path = "b.py", view_mode = "outline" }]

[discussion]
history = ["Hi"]
# the end
"""


def test_a_preset_lives_its_life(tmp_path: Path) -> None:
    """Saved, listed, shown, applied and deleted: at the end the file has its first bytes again (M-43, M-X10)."""
    files = {"manual_slop.toml": CONFIG, "a.py": "x = 1\n", "b.py": "y = 1\n"}
    path = project(tmp_path, files) / "manual_slop.toml"

    saved = start(tmp_path, "preset", "save", "new one", "a.py", "gone.py", "--description", "Café")
    warning = 'warning: preset "new one": gone.py does not exist: restore it or remove it from the preset\n'
    assert saved == Ended(0, "", f'saved "new one": 2 files\n{warning}')
    assert (
        without(path.read_text(encoding="utf-8"), '[context_presets."new one"]')
        == CONFIG.splitlines()
    )

    listed = start(tmp_path, "preset", "list")
    assert (listed.code, listed.out.splitlines()) == (
        0,
        ["old\tproject\t2 files\tTwo", "new one\tproject\t2 files\tCafé"],
    )
    assert listed.err.startswith('warning: preset "new one": gone.py does not exist')

    shown = start(tmp_path, "preset", "show", "old")
    assert shown.out.splitlines()[:2] == ["[context_presets.old]", 'description = "Two"']
    assert '{path = "b.py", view_mode = "outline"}' in shown.out

    applied = start(tmp_path, "preset", "apply", "old")
    assert applied == Ended(0, "", '"old" is active: 2 files\n')
    run = start(tmp_path, "run", "--stdout", "-q")
    assert "### File b.py" in run.out

    for name in ("old", "new one"):
        assert start(tmp_path, "preset", "delete", name) == Ended(0, "", f'deleted "{name}"\n')
    rest = CONFIG.splitlines()
    assert path.read_text(encoding="utf-8").splitlines() == [*rest[:8], *rest[12:]]


def test_a_preset_for_all_projects_is_hidden_by_the_projects_own(tmp_path: Path) -> None:
    """``--global`` stores it in the user's folder; the project's one of that name wins until it is deleted (M-43)."""
    project(tmp_path, {"manual_slop.toml": '[files]\npaths = ["a.py"]\n', "a.py": ""})
    assert start(tmp_path, "preset", "save", "mine", "a.py", "b.py", "--global").code == 0
    assert start(tmp_path, "preset", "save", "mine").code == 0
    assert start(tmp_path, "preset", "list").out == "mine\tproject\t1 file\n"
    assert start(tmp_path, "preset", "delete", "mine").code == 0
    assert start(tmp_path, "preset", "list").out == "mine\tglobal\t2 files\n"
    assert (tmp_path / ".xdg/manual_slop/manual_slop.toml").is_file()


def without(text: str, heading: str) -> list[str]:
    """Return the lines of a TOML text without the table at ``heading`` and the blank lines around it."""
    before, _, table = text.partition(heading)
    _, end, behind = table.partition("[discussion]")
    return f"{before}{end}{behind}".splitlines()


CHECKED = """
    [files]
    paths = ["a.py", { path = "src/*.py", view_mode = "skeleton" }]
    [context_presets.small]
    files = ["a.py"]
"""


@pytest.fixture
def demo(tmp_path: Path) -> Path:
    """A project in which all is there."""
    files = {"manual_slop.toml": CHECKED, "a.py": "a = 1\n", "src/b.py": "def f(): ...\n"}
    return project(tmp_path, files)


def test_what_is_there_is_no_news(demo: Path) -> None:
    """All right is exit code 0 and nothing on standard output; nothing is written (W-3)."""
    ended = start(demo, "check")
    assert (ended.code, ended.out) == (0, "")
    assert ended.err == "manual_slop.toml: everything exists\n"
    assert not (demo / "md_gen").exists()
    assert start(demo, "check", "--quiet").err == ""


def test_what_is_missing_is_listed(demo: Path) -> None:
    """A file that is gone is told where it is named, also in a preset, and the exit code is 1 (W-3)."""
    (demo / "a.py").unlink()
    ended = start(demo, "check")
    assert (ended.code, ended.err) == (1, "")
    assert ended.out.splitlines() == [
        "manual_slop.toml: file not found: a.py",
        'manual_slop.toml: preset "small": file not found: a.py',
    ]


def test_a_configuration_that_cannot_be_used_is_2(demo: Path) -> None:
    """Its mistake is told with its line, and other configurations are checked all the same (W-3)."""
    (demo / "other.toml").write_text("[files]\npath = 1\n", encoding="utf-8")
    ended = start(demo, "check", "other.toml", "manual_slop.toml")
    assert ended.code == 2
    assert ended.out.startswith("other.toml:")
    assert "manual_slop.toml: everything exists" in ended.err
