"""Watching a folder for changes."""

import errno
import os
import shutil
import time
from functools import partial
from pathlib import Path
from threading import Thread

import pytest

from aggregate import ConfigError
from aggregate.project.watching import Backend, Entry, Observed, Report, TreeWatch, system_backend
from tests.project.repository import git

PATIENCE = 10
"""Seconds until a change that was not seen counts as missed: machines are slow at times."""


BACKENDS = pytest.mark.parametrize("backend", [system_backend, Observed])
# What waits until the watch itself looks at a folder, every half a second, is the same for each of them.
LOOKING = pytest.mark.parametrize(
    "backend", [system_backend, pytest.param(Observed, marks=pytest.mark.slow)]
)


def _seen(watch: TreeWatch, root: Path, *expected: str) -> set[str]:
    """Return the changed names once ``expected`` are among them."""
    seen: set[str] = set()
    end = time.monotonic() + PATIENCE
    while not seen >= set(expected) and time.monotonic() < end:
        changes = watch.wait(0.05)
        seen |= {os.path.relpath(path, root) for path in (changes.paths if changes else ())}
    return seen


# On Linux, where the program does not use it, watchdog may meet a new folder twice, and says so on its own thread.
@pytest.mark.filterwarnings("ignore:Callback with id:RuntimeWarning")
@BACKENDS
def test_changes_of_files_and_new_folders_are_told(
    tmp_path: Path, backend: partial[Backend]
) -> None:
    """Writes, new files, renames and deletions are reported, also in new folders."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src/a.py").write_text("a = 1\n")
    with TreeWatch(tmp_path, make_backend=backend) as watch:
        (tmp_path / "src/a.py").write_text("a = 22\n")
        assert _seen(watch, tmp_path, "src/a.py") == {"src/a.py"}
        (tmp_path / "new/deep").mkdir(parents=True)
        (tmp_path / "new/deep/b.py").write_text("b\n")
        assert _seen(watch, tmp_path, "new/deep/b.py") >= {"new", "new/deep/b.py"}
        (tmp_path / "new").rename(tmp_path / "moved")
        _seen(watch, tmp_path, "moved", "moved/deep/b.py")
        (tmp_path / "moved/deep/b.py").write_text("b = 2\n")
        assert "moved/deep/b.py" in _seen(watch, tmp_path, "moved/deep/b.py")
        (tmp_path / "moved/deep/b.py").replace(tmp_path / "src/c.py")
        assert _seen(watch, tmp_path, "moved/deep/b.py", "src/c.py") >= {"src/c.py"}
        shutil.rmtree(tmp_path / "moved")
        assert "moved" in _seen(watch, tmp_path, "moved")


@BACKENDS
def test_what_no_prompt_shows_is_not_watched(tmp_path: Path, backend: partial[Backend]) -> None:
    """Ignored files, dependencies and git's objects are not reported; named files are."""
    for folder in ("node_modules/a", "logs", "src", "env/lib"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / ".gitignore").write_text("logs/\n*.tmp\n")
    (tmp_path / "env/pyvenv.cfg").write_text("")
    git(tmp_path, "init", "-q", "-b", "main")
    with TreeWatch(tmp_path, make_backend=backend) as watch:
        watch.watch_files([tmp_path / "logs/named.log"])
        hidden = ("node_modules/a/x.js", "logs/x.log", "src/x.tmp", "env/lib/x.py")
        for name in (*hidden, ".git/objects/x", ".git/description", "logs/named.log", "src/z.py"):
            (tmp_path / name).write_text("x")
        seen = _seen(watch, tmp_path, "src/z.py", "logs/named.log")
        assert seen == {"src/z.py", "logs/named.log"}


def test_commits_and_branches_are_told(tmp_path: Path) -> None:
    """Staging, commits and checkouts are reported as history."""
    git(tmp_path, "init", "-q", "-b", "main")
    (tmp_path / "a.py").write_text("a\n")
    with TreeWatch(tmp_path) as watch:
        git(tmp_path, "add", ".")
        who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        git(tmp_path, *who, "commit", "-q", "-m", "first")
        seen = _seen(watch, tmp_path, ".git/index", ".git/refs/heads/main")
        assert seen >= {".git/index", ".git/refs/heads/main"}
        assert not [path for path in seen if path.endswith(".lock")]


def test_new_ignore_rules_hold_at_once(tmp_path: Path) -> None:
    """Newly ignored folders are no longer reported, readmitted ones are."""
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
    (tmp_path / ".gitignore").write_text("a/\n")
    with TreeWatch(tmp_path) as watch:
        (tmp_path / ".gitignore").write_text("b/\n")
        _seen(watch, tmp_path, ".gitignore")
        time.sleep(0.05)
        (tmp_path / "b/x").write_text("")
        (tmp_path / "a/x").write_text("")
        assert "b/x" not in _seen(watch, tmp_path, "a/x")


def test_a_limit_of_the_system_is_said(tmp_path: Path) -> None:
    """Reaching the system's limit of watches is reported with a remedy."""
    reports: list[Report] = []

    def keep(root: str, report: Report) -> Backend:
        reports.append(report)
        return _Limited(root, report)

    with TreeWatch(tmp_path, make_backend=keep) as watch:
        (tmp_path / "src").mkdir()
        reports[0](Entry(os.path.realpath(tmp_path), "src", is_folder=True))
        with pytest.raises(ConfigError, match="max_user_watches"):
            watch.wait(PATIENCE)
    for backend in (_Limited, _refused):
        with pytest.raises(ConfigError, match="max_user_watches"):
            TreeWatch(tmp_path, make_backend=backend)


class _Limited:
    def __init__(self, _root: str, _report: Report) -> None:
        self._folders: set[str] = set()

    def add(self, folder: str) -> None:
        self._folders.add(folder)
        if len(self._folders) > 1:
            raise OSError(errno.ENOSPC, "no room for more")

    def discard(self, folder: str) -> None:
        self._folders.discard(folder)

    def close(self) -> None:
        self._folders.clear()


def _refused(_root: str, _report: Report) -> Backend:
    raise OSError(errno.EMFILE, "too many watchers")


class _Slow:
    """A backend that is slow for each folder but the first."""

    def __init__(self, root: str, report: Report) -> None:
        self.report = report
        self._root = root

    def add(self, folder: str) -> None:
        if folder != self._root:
            time.sleep(0.1)

    def discard(self, folder: str) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""


def test_what_a_new_folder_holds_is_told_of_with_it(tmp_path: Path) -> None:
    """A new folder's files are reported with it, however slow the backend."""
    backends: list[_Slow] = []

    def keep(root: str, report: Report) -> Backend:
        backends.append(_Slow(root, report))
        return backends[0]

    (tmp_path / ".gitignore").write_text("a.py/\n")  # no file, but a folder of this name
    with TreeWatch(tmp_path, make_backend=keep) as watch:
        (tmp_path / "new").mkdir()
        (tmp_path / "new/a.py").write_text("a")
        come = Entry(os.path.realpath(tmp_path), "new", is_folder=True)
        told = Thread(target=backends[0].report, args=(come,))
        told.start()
        changes = watch.wait(PATIENCE)
        told.join()
    assert changes is not None
    assert [Path(path).name for path in changes.paths] == ["new", "a.py"]


def test_lost_events_are_told(tmp_path: Path) -> None:
    """Events lost by the system are reported as any change."""
    reports: list[Report] = []

    def keep(_root: str, report: Report) -> Backend:
        reports.append(report)
        return _Limited("", report)

    with TreeWatch(tmp_path, make_backend=keep) as watch:
        reports[0](None)
        changes = watch.wait(PATIENCE)
        assert changes is not None
        assert changes.is_incomplete


@LOOKING
def test_a_folder_that_is_made_again_is_watched_again(
    tmp_path: Path, backend: partial[Backend]
) -> None:
    """The watched folder may be deleted and recreated, or replaced by another."""
    root = tmp_path / "root"
    root.mkdir()
    with TreeWatch(root, make_backend=backend) as watch:
        shutil.rmtree(root)
        _lost(watch)
        root.mkdir()
        _lost(watch)
        (root / "a").write_text("a")
        assert "a" in _seen(watch, root, "a")
        root.rename(tmp_path / "old")
        (tmp_path / "new/sub").mkdir(parents=True)
        (tmp_path / "new").rename(root)
        _lost(watch)
        (root / "sub/b").write_text("b")
        assert "sub/b" in _seen(watch, root, "sub/b")


@pytest.mark.parametrize(
    "backend", [system_backend, pytest.param(Observed, marks=pytest.mark.slow)]
)
def test_a_folder_that_is_made_again_at_once_is_watched_again(
    tmp_path: Path, backend: partial[Backend]
) -> None:
    """A replacement with the same inode number is noticed too."""
    root = tmp_path / "root"
    root.mkdir()
    with TreeWatch(root, make_backend=backend) as watch:
        shutil.rmtree(root)
        root.mkdir()
        _lost(watch)
        (root / "a").write_text("a")
        assert "a" in _seen(watch, root, "a")


@LOOKING
def test_a_file_in_a_folder_that_is_not_there_yet_is_watched(
    tmp_path: Path, backend: partial[Backend]
) -> None:
    """A single file is watched before its folder exists, ignored or outside the tree."""
    root = tmp_path / "root"
    root.mkdir()
    (root / ".gitignore").write_text("build/\n")
    files = [tmp_path / "beside/deep/a", root / "build/b"]
    with TreeWatch(root, make_backend=backend) as watch:
        watch.watch_files(files)
        for file in files:
            file.parent.mkdir(parents=True)
            _lost(watch)
            file.write_text("1")
            assert _seen(watch, file.parent, file.name) >= {file.name}


def _lost(watch: TreeWatch) -> None:
    """Wait until the watch reports unknown changes."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        changes = watch.wait(0.05)
        if changes and changes.is_incomplete:
            return
    raise AssertionError("nothing was said to be lost")


def test_folders_that_came_while_events_were_lost_are_watched(tmp_path: Path) -> None:
    """Folders created while events were lost are watched."""

    def forgetful(root: str, report: Report) -> Backend:
        return system_backend(
            root, lambda entry: report(None if entry and entry.name == "new" else entry)
        )

    with TreeWatch(tmp_path, make_backend=forgetful) as watch:
        (tmp_path / "new").mkdir()
        _lost(watch)
        (tmp_path / "new/a").write_text("a")
        assert "new/a" in _seen(watch, tmp_path, "new/a")
