"""``check``, as a user and as pre-commit start it."""

import json
from pathlib import Path

import pytest

from tests.cli.command_line import start
from tests.projects import project

CONFIG = """
    [files]
    paths = ["a.py", { path = "src/*.py", view_mode = "skeleton" }]
    [context_presets.small]
    files = ["a.py"]
"""


@pytest.fixture
def demo(tmp_path: Path) -> Path:
    """A project in which all is there."""
    files = {"manual_slop.toml": CONFIG, "a.py": "a = 1\n", "src/b.py": "def f(): ...\n"}
    return project(tmp_path, files)


def test_what_is_there_is_no_news(demo: Path) -> None:
    """All right is exit code 0 and nothing on standard output; nothing is written (W-3)."""
    ended = start(demo, "check")
    assert (ended.code, ended.out) == (0, "")
    assert ended.err == "manual_slop.toml: all that it names is there\n"
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
    assert "manual_slop.toml: all that it names is there" in ended.err
    data = json.loads(start(demo, "check", "--json", "manual_slop.toml").out)
    assert data == {"problems": {"manual_slop.toml": []}}
