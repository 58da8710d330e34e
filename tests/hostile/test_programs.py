"""A project with programs of its own under the names of those that we start."""

import os
import sys
from pathlib import Path

import pytest

from aggregate import SandboxError
from aggregate.agents.sandbox import run_command
from aggregate.project.beads import read_bd
from tests.fakes.bd import install_bd
from tests.hostile.planted import Planted, plant
from tests.hostile.running import aggregate
from tests.project.repository import git
from tests.projects import project

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the planted programs are scripts")

NAMES = ("git", "bd", "gemini", "bwrap", "python3", "node", "sh", "env")
CONFIG = '[project]\nname = "demo"\nexecution_mode = "beads"\n[files]\npaths = ["*.py"]\n'


@pytest.fixture
def planted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Planted]:
    """Return the programs of a project that is the current folder, with an entry for them at the front of PATH."""
    tree = project(
        tmp_path / "tree",
        {"manual_slop.toml": CONFIG, "a.py": "a = 1\n", ".beads/metadata.json": "{}"},
    )
    git(tree, "init", "-q")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / ".xdg"))
    monkeypatch.setenv("PATH", str(tree / "bin"), prepend=os.pathsep)
    monkeypatch.chdir(tree)
    return [plant(folder, name, says="[]") for folder in (tree, tree / "bin") for name in NAMES]


def test_a_program_that_is_only_in_the_project_is_missing(
    planted: list[Planted], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where PATH has nothing but the project, each program counts as missing and the message says so."""
    monkeypatch.setenv("PATH", os.environ["PATH"].split(os.pathsep)[0])
    with pytest.raises(SandboxError, match="install the package bubblewrap"):
        run_command([sys.executable], Path(), seconds=1)
    assert read_bd(Path(), environ={"PATH": os.environ["PATH"]}) is None
    assert aggregate("run", "--stdout").code == 0
    assert [one.path for one in planted if one.was_run] == []


def test_bd_gets_what_guards_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The git that bd runs has our settings behind the user's, no folder of the project on its PATH, no other's tree."""
    tree = project(tmp_path / "tree", {"bin/x": ""})
    environ = dict(install_bd(tmp_path / "programs"))
    script = tmp_path / "programs" / "bd"
    script.write_text(f"#!/bin/sh\n/usr/bin/env > '{tmp_path}/seen'\necho '[]'\n", encoding="utf-8")
    environ["PATH"] += os.pathsep + str(tree / "bin") + os.pathsep
    environ |= {"GIT_DIR": "elsewhere", "GIT_SSH_COMMAND": "x", "HOME": "/h"}
    environ |= {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "user.name",
        "GIT_CONFIG_VALUE_0": "me",
    }
    assert read_bd(tree, environ=environ) is not None
    seen = dict(
        line.split("=", 1) for line in (tmp_path / "seen").read_text(encoding="utf-8").splitlines()
    )
    settings = {
        seen[f"GIT_CONFIG_KEY_{i}"]: seen[f"GIT_CONFIG_VALUE_{i}"]
        for i in range(int(seen["GIT_CONFIG_COUNT"]))
    }
    ours = {"user.name": "me", "core.fsmonitor": "", "safe.bareRepository": "explicit"}
    assert settings.items() >= ours.items()
    kept = {"PATH": str(tmp_path / "programs"), "GIT_ALLOW_PROTOCOL": "", "HOME": "/h"}
    assert seen.items() >= kept.items()
    assert {"GIT_DIR", "GIT_SSH_COMMAND"}.isdisjoint(seen)
