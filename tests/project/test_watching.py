"""Watching a folder for changes."""

import os
import shutil
import time
from pathlib import Path

import pytest

from aggregate.project.watching import TreeWatch
from tests.project.repository import git

PATIENCE = 10
"""Seconds until a change that was not seen counts as missed: machines are slow at times."""


class Watch(TreeWatch):
    """A watch that looks often."""

    def __init__(self, root: Path) -> None:
        super().__init__(root, least_pause=0.02)
        self.root = root

    def seen(self, *expected: str) -> set[str]:
        """Return the changed names once ``expected`` are among them."""
        seen: set[str] = set()
        end = time.monotonic() + PATIENCE
        while not seen >= set(expected) and time.monotonic() < end:
            seen |= {os.path.relpath(path, self.root) for path in self.wait(1)}
        return seen


def test_changes_of_files_and_new_folders_are_told(tmp_path: Path) -> None:
    """Writes, new files, renames and deletions are reported, also in new folders (E-7)."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src/a.py").write_text("a = 1\n")
    watch = Watch(tmp_path)
    (tmp_path / "src/a.py").write_text("a = 22\n")
    assert watch.seen("src/a.py") == {"src/a.py"}
    (tmp_path / "new/deep").mkdir(parents=True)
    (tmp_path / "new/deep/b.py").write_text("b\n")
    assert watch.seen("new/deep/b.py") == {"new/deep/b.py"}
    (tmp_path / "new").rename(tmp_path / "moved")
    both = {"new/deep/b.py", "moved/deep/b.py"}
    assert watch.seen(*both) == both
    (tmp_path / "moved/deep/b.py").replace(tmp_path / "src/c.py")
    assert watch.seen("moved/deep/b.py", "src/c.py") == {"moved/deep/b.py", "src/c.py"}
    shutil.rmtree(tmp_path / "src")
    assert watch.seen("src/a.py", "src/c.py") == {"src/a.py", "src/c.py"}


def test_what_no_prompt_shows_is_not_watched(tmp_path: Path) -> None:
    """Ignored files, dependencies and git's objects are not reported; named files are."""
    for folder in ("tree/logs", "tree/src", "plain/node_modules", "plain/env", "plain/src"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "tree/.gitignore").write_text("logs/\n*.tmp\n")
    (tmp_path / "plain/env/pyvenv.cfg").write_text("")
    git(tmp_path / "tree", "init", "-q", "-b", "main")
    tree, plain = Watch(tmp_path / "tree"), Watch(tmp_path / "plain")
    tree.watch_files([tmp_path / "tree/logs/named.log"])
    for name in (
        *("tree/logs/x.log", "tree/src/x.tmp", "tree/.git/description"),
        *("plain/node_modules/x.js", "plain/env/x.py"),
        *("tree/logs/named.log", "tree/src/z.py", "plain/src/z.py"),
    ):
        (tmp_path / name).write_text("x")
    assert tree.seen("src/z.py", "logs/named.log") == {"src/z.py", "logs/named.log"}
    assert plain.seen("src/z.py") == {"src/z.py"}


def test_commits_and_branches_are_told(tmp_path: Path) -> None:
    """Staging, commits and checkouts are reported as history, also in a part of a repository."""
    git(tmp_path, "init", "-q", "-b", "main")
    (tmp_path / "part").mkdir()
    (tmp_path / "part/a.py").write_text("a\n")
    watch = Watch(tmp_path / "part")
    git(tmp_path, "add", ".")
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    git(tmp_path, *who, "commit", "-q", "-m", "first")
    seen = watch.seen("../.git/index", "../.git/refs/heads/main")
    assert seen == {"../.git/index", "../.git/refs/heads/main"}
    git(tmp_path, "checkout", "-q", "-b", "other")
    assert "../.git/HEAD" in watch.seen("../.git/HEAD")


def test_new_ignore_rules_hold_at_once(tmp_path: Path) -> None:
    """Newly ignored folders are no longer reported, readmitted ones are; invalid rules wait."""
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
    (tmp_path / ".gitignore").write_text("a/\n")
    watch = Watch(tmp_path)
    (tmp_path / ".gitignore").write_text("b/\n")
    assert watch.seen(".gitignore") == {".gitignore"}
    (tmp_path / "b/x").write_text("")
    (tmp_path / "a/x").write_text("")
    assert watch.seen("a/x") == {"a/x"}
    (tmp_path / ".gitignore").write_text("x" * 5_000)
    (tmp_path / "a/x").write_text("more")
    assert watch.seen(".gitignore", "a/x") == {".gitignore", "a/x"}


def test_a_folder_that_is_made_again_is_watched_again(tmp_path: Path) -> None:
    """The watched folder may be missing, deleted and recreated, or replaced by another."""
    root = tmp_path / "root"
    watch = Watch(root)
    root.mkdir()
    (root / "a").write_text("a")
    assert watch.seen("a") == {"a"}
    shutil.rmtree(root)
    assert watch.seen("a") == {"a"}
    (tmp_path / "new/sub").mkdir(parents=True)
    (tmp_path / "new/sub/b").write_text("b")
    (tmp_path / "new").rename(root)
    assert watch.seen("sub/b") == {"sub/b"}


def test_a_file_in_a_folder_that_is_not_there_yet_is_watched(tmp_path: Path) -> None:
    """A single file is watched before its folder exists, ignored or outside the tree."""
    root = tmp_path / "root"
    root.mkdir()
    (root / ".gitignore").write_text("build/\n")
    watch = Watch(root)
    watch.watch_files([tmp_path / "beside/deep/a", root / "build/b"])
    for name in ("../beside/deep/a", "build/b"):
        (root / name).parent.mkdir(parents=True)
        (root / name).write_text("1")
        assert watch.seen(name) == {name}


def test_looks_are_rare(tmp_path: Path) -> None:
    """There is at most one look a second, and a wait ends in time without one."""
    watch = TreeWatch(tmp_path)
    (tmp_path / "a").write_text("a")
    began = time.monotonic()
    assert watch.wait(0.1) == []
    assert time.monotonic() - began < 0.9
    assert watch.wait(PATIENCE) == [str(tmp_path / "a")]
    assert time.monotonic() - began >= 0.9


@pytest.mark.skipif(os.name != "posix", reason="the slow git is a shell script")
def test_a_busy_machine_delays_no_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A look that waits, as on a busy machine, does not prolong the next pause."""
    root, programs = tmp_path / "root", tmp_path / "programs"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    programs.mkdir()
    (programs / "git").write_text(f'#!/bin/sh\nsleep 0.3\nexec {shutil.which("git")} "$@"\n')
    (programs / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    watch = Watch(root)
    began = time.monotonic()
    (root / "a.py").write_text("a = 1\n")
    assert watch.seen("a.py") == {"a.py"}
    assert time.monotonic() - began < 5
