"""git is asked about a hostile repository, and runs nothing that the repository names."""

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from aggregate import ConfigError
from aggregate.base import Entry
from aggregate.project.git import changed_lines, list_files, read_changes
from aggregate.project.git.guarded_git import StoppedError, git as ask
from aggregate.project.index import Index
from aggregate.prompt.corpus import CommitHistory
from aggregate.prompt.files import resolve_entries
from tests.hostile.planted import plant
from tests.hostile.repositories import (
    ATTACKS,
    Attack,
    clean_filter,
    embedded_bare_repository,
    external_diff,
    hooks,
    included_filter,
    monitor,
    process_filter,
    promisor,
    promisor_by_ext,
    promisor_by_ssh,
    repository,
    signatures,
    submodule,
    text_conversion,
    worktree_elsewhere,
)
from tests.hostile.running import ends
from tests.project.repository import ENVIRONMENT, git

_PLAIN: dict[Attack, tuple[str, ...]] = {
    clean_filter: ("diff-index", "HEAD"),
    process_filter: ("diff-index", "HEAD"),
    included_filter: ("diff-index", "HEAD"),
    text_conversion: ("diff",),
    external_diff: ("diff",),
    monitor: ("ls-files", "-o"),
    hooks: ("status",),
    signatures: ("log",),
    promisor: ("log", "--name-only"),
    promisor_by_ext: ("log", "--name-only"),
    promisor_by_ssh: ("log", "--name-only"),
    embedded_bare_repository: ("ls-files", "-o"),
    submodule: ("diff-index", "HEAD"),
    worktree_elsewhere: ("ls-files", "-o"),
}
"""What runs the program where nothing guards it."""


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.__name__)
def test_no_program_of_a_repository_is_run(tmp_path: Path, attack: Attack) -> None:
    """Files, commits with their contents and comparisons run no program that a repository names (T-2, T-8).

    The attacks are real: the same repository runs its program when git is asked without our guards.
    """
    planted = plant(tmp_path / "elsewhere")
    folder = str(attack(tmp_path / "tree", planted.path))
    list_files(folder)
    history = CommitHistory(folder, index=Index(None, limit=0))
    history.with_names(range(len(history.commits)))
    for revision in ("HEAD", "HEAD~1", "--ext-diff", "--textconv"):
        with suppress(ConfigError):
            changed_lines(folder, revision)
            read_changes(folder, revision)
    assert not planted.was_run
    if plain := _PLAIN.get(attack):
        command = ["git", "-C", folder, *plain]
        environment = {**ENVIRONMENT, "PATH": os.environ["PATH"]}
        subprocess.run(command, env=environment, capture_output=True, timeout=30)
        assert planted.was_run


def test_variables_for_programs_are_not_passed_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Variables that name programs or another repository do not reach git, those of the user's configuration do."""
    planted = plant(tmp_path / "elsewhere")
    folder = str(text_conversion(tmp_path / "tree", planted.path))
    for name in ("EXTERNAL_DIFF", "SSH_COMMAND", "PAGER", "ASKPASS", "PROXY_COMMAND"):
        monkeypatch.setenv(f"GIT_{name}", str(planted.path))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "nowhere"))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.excludesFile")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", str(tmp_path / "rules"))
    (tmp_path / "rules").write_text("*.log\n", encoding="utf-8")
    Path(folder, "b.log").touch()
    assert list_files(folder) == ["a.py"]
    read_changes(folder, "HEAD")
    assert not planted.was_run


def test_git_writes_nothing_into_the_repository(tmp_path: Path) -> None:
    """Asking leaves every file of the repository as it was."""
    root = repository(tmp_path / "tree")
    os.utime(root / "a.py", (1_000_000_000, 1_000_000_000))
    before = {path: path.stat().st_mtime_ns for path in (root / ".git").rglob("*")}
    list_files(str(root))
    CommitHistory(str(root), index=Index(None, limit=0)).with_names([0])
    changed_lines(str(root), "HEAD~1")
    assert {path: path.stat().st_mtime_ns for path in (root / ".git").rglob("*")} == before


def test_an_old_git_meets_no_embedded_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where git does not know ``safe.bareRepository`` a bare repository among the files is still not used."""
    planted = plant(tmp_path / "elsewhere")
    folder = embedded_bare_repository(tmp_path / "tree", planted.path)
    old = tmp_path / "bin" / "git"
    old.parent.mkdir()
    real = subprocess.run(
        ["which", "git"], check=True, capture_output=True, text=True
    ).stdout.strip()
    old.write_text(
        f'#!{sys.executable} -S\nimport os, sys\nlate = ("safe.", "core.fsmonitor")\n'
        'arguments = [one if not one.startswith(late) else "a.b=c" for one in sys.argv[1:]]\n'
        f'os.execv("{real}", ["git", *arguments])\n',
        encoding="utf-8",
    )
    old.chmod(0o755)
    monkeypatch.setenv("PATH", str(old.parent), prepend=os.pathsep)
    assert list_files(str(folder)) is None
    assert not planted.was_run


@pytest.mark.skipif(
    sys.platform != "linux", reason="elsewhere a process that waits is not told from one that works"
)
@pytest.mark.parametrize("place", [".gitignore", pytest.param("fifo", marks=pytest.mark.slow)])
def test_a_fifo_does_not_keep_git_waiting(tmp_path: Path, place: str) -> None:
    """A FIFO in the place of a file that git reads, or that its configuration names, ends git soon."""
    root = repository(tmp_path / "tree")
    if place == "fifo":
        git(root, "config", "core.excludesFile", str(root / place))
    (root / place).unlink(missing_ok=True)
    os.mkfifo(root / place)
    with ends(), pytest.raises(StoppedError):
        list_files(str(root))


@pytest.mark.slow
@pytest.mark.skipif(
    sys.platform != "linux", reason="elsewhere a process that waits is not told from one that works"
)
def test_a_git_that_gets_no_processor_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A git that is kept from running for seconds, and does not sleep, gives its answer all the same."""
    late = tmp_path / "bin" / "git"
    late.parent.mkdir()
    late.write_text(
        f"#!{sys.executable} -S\nimport os, signal, time\nchild = os.fork()\n"
        "if child:\n    time.sleep(0.1)\n    os.write(1, b'late')\nelse:\n    stopped = os.getppid()\n"
        "    os.kill(stopped, signal.SIGSTOP)\n    time.sleep(3)\n    os.kill(stopped, signal.SIGCONT)\n",
        encoding="utf-8",
    )
    late.chmod(0o755)
    monkeypatch.setenv("PATH", str(late.parent), prepend=os.pathsep)
    (tmp_path / "tree" / ".git").mkdir(parents=True)
    assert ask(str(tmp_path / "tree"), "ls-files") == b"late"


def starry(root: Path) -> None:
    """Add a rule to a repository that git matches for minutes, and names for it to be tried on."""
    (root / "kept.log").write_text("kept\n", encoding="utf-8")
    git(root, "add", "kept.log")
    (root / ".gitignore").write_text("**/a/" * 14 + "b\n*.log\n", encoding="utf-8")
    deep = root / ("a/" * 40)
    deep.mkdir(parents=True)
    for path in (deep / "x.py", root / "new.log", root / "new.py"):
        path.touch()


@pytest.mark.skipif(sys.platform != "linux", reason="needs the limit of Linux to a process's work")
def test_rules_that_git_matches_for_minutes_end(tmp_path: Path) -> None:
    """Over a rule with many stars git is stopped: what it tracks stays, the walk takes the rest, and it is said."""
    root = repository(tmp_path / "tree")
    starry(root)
    before = os.times()
    selection = resolve_entries(root, [Entry.of("**")])
    after = os.times()
    assert after.children_user - before.children_user < 2
    names = {".gitignore", "a/" * 40 + "x.py", "a.py", "kept.log", "new.py"}
    assert {file.path for file in selection.files} == names
    assert [place for place, _ in selection.skipped] == ["."]
    assert "git was stopped, since it took too long" in selection.skipped[0][1]


@pytest.mark.slow
def test_rules_end_where_no_system_limits_processor_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On other systems than Linux, which this test feigns, such rules end by the clock."""
    root = repository(tmp_path / "tree")
    starry(root)
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(StoppedError):
        list_files(str(root))


def test_a_folder_that_is_ignored_is_not_listed_by_git(tmp_path: Path) -> None:
    """A folder that its repository ignores counts as outside of it; a repository of its own in there is one."""
    root = repository(tmp_path / "tree")
    (root / ".gitignore").write_text("build/\n", encoding="utf-8")
    (root / "build").mkdir()
    (root / "build" / "b.py").touch()
    assert list_files(str(root / "build")) is None
    assert list_files(str(repository(root / "build" / "own"))) == ["a.py"]


@pytest.mark.skipif(sys.platform != "linux", reason="needs the memory limit of Linux and /dev/zero")
def test_an_endless_reference_ends(tmp_path: Path) -> None:
    """A branch that is a link to ``/dev/zero`` ends with no commits instead of filling the memory."""
    root = repository(tmp_path / "tree")
    branch = next((root / ".git" / "refs" / "heads").iterdir())
    branch.unlink()
    branch.symlink_to("/dev/zero")
    with ends():
        assert not CommitHistory(str(root), index=Index(None, limit=0)).commits


def test_settings_that_git_lists_files_by_are_not_hung_by_endless_files(tmp_path: Path) -> None:
    """Files that the configuration names for order, excludes, attributes and mail names may be endless."""
    root = repository(tmp_path / "tree")
    for name in ("diff.orderFile", "core.excludesFile", "core.attributesFile", "mailmap.file"):
        git(root, "config", name, "/dev/zero")
    assert list_files(str(root)) == ["a.py"]
    assert [change.path for change in read_changes(str(root), "HEAD~1")] == ["a.py"]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="needs the limit of Linux to a process's work")
def test_a_pattern_for_definitions_that_git_matches_for_minutes_ends(tmp_path: Path) -> None:
    """A repository that says how definitions begin by a pattern of many stars costs its names, and little time (T-5)."""
    root = repository(tmp_path / "tree")
    git(root, "config", "diff.python.xfuncname", r"^(((a*)*)*)*((b*)*)*(\1\2)*$")
    (root / "a.py").write_text("a" * 2000 + "x\n" + "one\n" * 5, encoding="utf-8")
    git(root, "commit", "-qam", "three")
    (root / "a.py").write_text("a" * 2000 + "x\n" + "one\n" * 4 + "two\n", encoding="utf-8")
    git(root, "commit", "-qam", "four")
    before = os.times()
    history = CommitHistory(str(root), index=Index(None, limit=0))
    assert len(history.with_names([0, 1])) == 3
    assert os.times().children_user - before.children_user < 4


@pytest.mark.slow
def test_a_flood_of_commits_and_names_ends(tmp_path: Path) -> None:
    """A commit of 90,000 files and a message of 18 MB are read in little time, and the others are told (T-5)."""
    root = repository(tmp_path / "tree")
    blob = git(root, "rev-parse", "HEAD:a.py").decode().strip()
    stream = [
        f"commit refs/heads/flood\ncommitter M <m@example.org> {n} +0000\ndata {len(message)}\n{message}\n{changes}"
        for n, (message, changes) in enumerate(
            [
                ("begin", f"M 100644 {blob} a.py\n"),
                ("x " * 9_000_000, f"M 100644 {blob} b.py\n"),
                ("many", "".join(f"M 100644 {blob} f/{n % 999}/{n:0200}\n" for n in range(90_000))),
                ("last", f"M 100644 {blob} c.py\n"),
            ]
        )
    ]
    command = ["git", "-C", str(root), "fast-import", "--quiet"]
    subprocess.run(command, input="".join(stream).encode(), env=ENVIRONMENT, check=True)
    git(root, "symbolic-ref", "HEAD", "refs/heads/flood")
    with ends():
        commits = CommitHistory(str(root), index=Index(None, limit=0)).commits
    assert [commit.paths for commit in commits][:2] == [("c.py",), ()]


def test_a_folder_that_is_no_name_is_in_no_repository() -> None:
    """A NUL in a folder's name is no error here."""
    assert ask("a\0b", "ls-files") is None
