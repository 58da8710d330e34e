"""Trees start from what the user sees: changes that are not committed, new files, any state of a repository."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from simulation.trees import commit_all, git

from aggregate import TrackError
from aggregate.agents.tracks import depot, run_control
from aggregate.agents.tracks.merged_changes import LARGE_BYTES, locate_top, snapshot
from tests.agents.tracks.test_acting import Scripts, edit, scripts
from tests.fakes.acting import MemoryPacks
from tests.fakes.conducting import TRACK

WHO = ["-c", "user.name=x", "-c", "user.email=x@y", "-c", "protocol.file.allow=always"]


def write(root: Path, **files: str) -> None:
    for name, text in files.items():
        path = root / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def tree_of(project: Path) -> dict[str, str]:
    """Return the files of the tree that a run in ``project`` starts from, by path: text, link or ``x`` for programs."""
    packs = MemoryPacks.of(project)
    with depot(packs) as repository:
        base = packs.ref("base")
        repository.take(base)
        files = {}
        for line in repository.git("ls-tree", "-r", "-z", base).decode().split("\0")[:-1]:
            about, _, path = line.partition("\t")
            mode, kind, blob = about.split()
            text = repository.content(blob).decode() if kind == "blob" else kind
            files[path] = {"120000": "-> ", "100755": "x "}.get(mode, "") + text
        return files


def trace(repository: Path) -> dict[str, bytes]:
    """Return all that git keeps of a repository, but for what it may fetch anew."""
    folder = repository / ".git"
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "repository"
    write(root, **{"a.py": "a = 1\n", "b.py": "b = 1\n", "sub__c.py": "c = 1\n"})
    write(root, **{".gitignore": "*.log\n", "run.sh": "echo\n", "gone.py": "gone\n"})
    commit_all(root)
    return root


COMMITTED = {
    "a.py": "a = 1\n",
    "b.py": "b = 1\n",
    "sub/c.py": "c = 1\n",
    ".gitignore": "*.log\n",
    "run.sh": "echo\n",
    "gone.py": "gone\n",
}


def test_a_tree_has_what_the_user_sees(repository: Path) -> None:
    """Changed, staged, new, deleted and linked files, and modes, are there; what is ignored or secret is not (K-2)."""
    write(repository, **{"a.py": "a = 2\n", "new.py": "new\n", "x.log": "x", ".env": "KEY=1"})
    write(repository, **{"b.py": "staged\n", "forced.log": "forced", "history.toml": "x"})
    git(repository, "add", "-f", "b.py", "forced.log")
    write(repository, **{"b.py": "b = 3\n"})
    (repository / "gone.py").unlink()
    (repository / "run.sh").chmod(0o755)
    (repository / "link").symlink_to("a.py")
    before = trace(repository)
    expected = {
        **COMMITTED,
        "a.py": "a = 2\n",
        "b.py": "b = 3\n",
        "new.py": "new\n",
        "forced.log": "forced",
        "run.sh": "x echo\n",
        "link": "-> a.py",
    }
    del expected["gone.py"]
    assert tree_of(repository) == expected
    assert tree_of(repository / "sub") == expected
    assert trace(repository) == before


def test_the_base_is_the_commit_where_nothing_is_changed(repository: Path) -> None:
    """A clean checkout starts from its own commit, and the same changes are the same commit (K-2)."""
    os.utime(repository / "a.py")
    assert (
        MemoryPacks.of(repository).ref("base")
        == git(repository, "rev-parse", "HEAD").decode().strip()
    )
    write(repository, **{"a.py": "a = 2\n"})
    assert MemoryPacks.of(repository).ref("base") == MemoryPacks.of(repository).ref("base")


def unborn(repository: Path) -> None:
    git(repository, "update-ref", "-d", "HEAD")
    git(repository, "rm", "-q", "--cached", "b.py")


def conflicted(repository: Path) -> None:
    git(repository, "checkout", "-q", "-b", "other")
    write(repository, **{"a.py": "a = 3\n"})
    git(repository, *WHO, "commit", "-qam", "x")
    git(repository, "checkout", "-q", "-")
    write(repository, **{"a.py": "a = 4\n"})
    git(repository, *WHO, "commit", "-qam", "x")
    with pytest.raises(Exception, match="merge"):
        git(repository, *WHO, "merge", "-q", "other")
    write(repository, **{"a.py": "a = 1\n"})


def folder_for_file(repository: Path) -> None:
    for name, inside in (("a.py", "x"), ("b.py", "y")):
        (repository / name).unlink()
        write(repository, **{f"{name}__{inside}": "in\n"})


def file_for_folder(repository: Path) -> None:
    (repository / "sub/c.py").unlink()
    (repository / "sub").rmdir()
    (repository / "sub").symlink_to(".", target_is_directory=True)


def line_ends(repository: Path) -> None:
    git(repository, "config", "core.autocrlf", "true")
    git(repository, "config", "core.safecrlf", "true")
    (repository / "a.py").write_bytes(b"a = 2\r\nb\n")


def sparse(repository: Path) -> None:
    git(repository, "sparse-checkout", "set", "sub")
    write(repository, **{"sub__c.py": "c = 2\n"})


def nested(repository: Path) -> None:
    write(repository, **{"other__x.py": "x\n"})
    commit_all(repository / "other")


def split(repository: Path) -> None:
    git(repository, "config", "core.splitIndex", "true")
    git(repository, "update-index", "--split-index")
    write(repository, **{"a.py": "a = 2\n"})


def queue(repository: Path) -> None:
    (repository / "a.py").unlink()
    os.mkfifo(repository / "a.py")
    os.mkfifo(repository / "new")


WITHOUT_AB = {key: text for key, text in COMMITTED.items() if key not in ("a.py", "b.py")}
STATES: list[tuple[Callable[[Path], None], dict[str, str]]] = [
    (unborn, COMMITTED),
    (conflicted, COMMITTED),
    (folder_for_file, {**WITHOUT_AB, "a.py/x": "in\n", "b.py/y": "in\n"}),
    (file_for_folder, {**{k: v for k, v in COMMITTED.items() if k != "sub/c.py"}, "sub": "-> ."}),
    (line_ends, {**COMMITTED, "a.py": "a = 2\nb\n"}),
    (sparse, {**COMMITTED, "sub/c.py": "c = 2\n"}),
    (nested, COMMITTED),
    (split, {**COMMITTED, "a.py": "a = 2\n"}),
    (queue, {key: text for key, text in COMMITTED.items() if key != "a.py"}),
]  # fmt: skip


@pytest.mark.parametrize(("change", "expected"), STATES)
def test_states_of_a_repository(
    repository: Path, change: Callable[[Path], None], expected: dict[str, str]
) -> None:
    """Whatever state a repository is in, the tree is what stands in its folder, and it stays as it is (K-2)."""
    change(repository)
    before = trace(repository)
    assert tree_of(repository) == expected
    assert trace(repository) == before


def test_submodules_stay_what_the_commit_has(repository: Path, tmp_path: Path) -> None:
    """No git runs in a submodule, whose own configuration could name programs."""
    git(repository, *WHO, "submodule", "add", "-q", str(repository), "module")
    git(repository, *WHO, "commit", "-qam", "x")
    program = tmp_path / "program.sh"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path / 'ran'}\n")
    program.chmod(0o755)
    for key in ("core.fsmonitor", "filter.f.clean"):
        git(repository / "module", "config", key, str(program))
    write(repository / "module", **{"a.py": "a = 5\n", ".gitattributes": "* filter=f\n"})
    write(repository, **{"a.py": "a = 2\n"})
    tree = tree_of(repository)
    assert (tree["module"], tree["a.py"]) == ("commit", "a = 2\n")
    assert not (tmp_path / "ran").exists()


def test_no_program_of_a_project_runs(repository: Path, tmp_path: Path) -> None:
    """Filters, hooks and monitors that a repository configures are not started."""
    program = tmp_path / "program.sh"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path / 'ran'}\ncat\n")
    program.chmod(0o755)
    for key in ("filter.f.clean", "filter.f.process", "core.fsmonitor", "diff.external"):
        git(repository, "config", key, str(program))
    git(repository, "config", "filter.f.required", "true")
    for hook in ("post-index-change", "reference-transaction", "pre-commit"):
        (repository / ".git/hooks" / hook).write_text(program.read_text())
        (repository / ".git/hooks" / hook).chmod(0o755)
    write(repository, **{".gitattributes": "* filter=f\n", "a.py": "a = 2\n"})
    assert tree_of(repository)["a.py"] == "a = 2\n"
    assert not (tmp_path / "ran").exists()


def test_a_configuration_cannot_name_another_folder(repository: Path, tmp_path: Path) -> None:
    """A repository that claims its parent as its files is no repository: only the project's files are in the tree."""
    write(tmp_path, **{"diary.txt": "private"})
    git(repository, "config", "core.worktree", str(tmp_path))
    tree = tree_of(repository)
    assert "a.py" in tree
    assert not any("diary" in name for name in tree)


def test_an_ignored_project_is_one_without_git(repository: Path) -> None:
    """A project in a folder that the repository around it ignores has its own files in the tree."""
    write(repository, **{".gitignore": "mine/\n", "mine__x.py": "x\n"})
    assert tree_of(repository / "mine") == {"x.py": "x\n"}


def test_large_files_are_left_out_and_named(repository: Path) -> None:
    """A file above 10 MB that is not committed is in no tree, and the user is told which (K-2)."""
    (repository / "data.bin").write_bytes(b"0" * (LARGE_BYTES + 1))
    (repository / "a.py").write_bytes(b"1" * (LARGE_BYTES + 1))
    told: list[str] = []
    snapshot(locate_top(repository), MemoryPacks(), tell=told.append)
    assert told == ["work trees do not contain changes of files larger than 10 MB: a.py, data.bin"]
    assert tree_of(repository) == COMMITTED


def run_on(tmp_path: Path, *, is_git: bool = True) -> Scripts:
    """Return a run whose ticket edits a file that has an uncommitted line, and one that is not tracked."""
    run = scripts(
        tmp_path,
        [{"id": "one"}, {"id": "two"}],
        {
            "one": edit("return 10", "return 11"),
            "two": edit("new = 1", "new = 2", path="src/new.py"),
        },
        is_git=is_git,
    )
    text = (run.folder / "src/one.py").read_text().replace("return 1", "# mine\n    return 10")
    write(run.folder / "src", **{"one.py": text, "new.py": "new = 1\n"})
    return run


@pytest.mark.parametrize("is_git", [True, False])
def test_tickets_edit_what_is_not_committed(tmp_path: Path, is_git: bool) -> None:
    """A quote of an uncommitted line is found, and apply keeps the user's own lines (K-2)."""
    run = run_on(tmp_path, is_git=is_git)
    result = run.run()
    assert result.succeeded, result.report.read_text()
    assert run.told == []
    assert run.apply() == ["src/new.py", "src/one.py"]
    assert "# mine\n    return 11\n" in (run.folder / "src/one.py").read_text()
    assert (run.folder / "src/new.py").read_text() == "new = 2\n"
    assert "md_gen" not in run_control.diff(run.project, TRACK, database=run.database)


def test_what_changed_since_the_run_began_is_a_conflict(tmp_path: Path) -> None:
    """What the user has changed since is not overwritten, committed or not (K-2)."""
    run = run_on(tmp_path)
    run.run()
    git(run.folder, *WHO, "commit", "-qam", "Mine")
    mine = (run.folder / "src/one.py").read_text().replace("mine", "still mine")
    write(run.folder / "src", **{"one.py": mine})
    with pytest.raises(TrackError, match=r"src/one\.py has changed since the run began"):
        run.apply()
    assert (run.folder / "src/one.py").read_text() == mine


def test_branches_build_on_what_was_not_committed(tmp_path: Path) -> None:
    """A ticket's branch has the user's changes as a commit of their own between HEAD and its own (K-2)."""
    run = run_on(tmp_path)
    run.run()
    branch = f"aggregate/{TRACK}/one"
    log = git(run.folder, "log", "--format=%s", branch).decode().splitlines()
    assert log[-2:] == ["Changes that are not committed", "Begin"]
    assert git(run.folder, "fsck", "--strict") == b""
    assert b"return 10" in git(run.folder, "show", f"{branch}~1:src/one.py")


def branches(run: Scripts) -> list[str]:
    names = git(run.folder, "branch", "--list", "aggregate*", "--format=%(refname:short)")
    return names.decode().split()


OTHERS = [f"aggregate-2/{TRACK}/one", f"aggregate-2/{TRACK}/two"]


def run_beside(tmp_path: Path, taken: str) -> Scripts:
    """Return a run that gave its branches another prefix, because the user has a branch in the way."""
    run = run_on(tmp_path)
    git(run.folder, "branch", taken)
    assert run.run().succeeded
    assert run.told == [
        f"your branch {taken} blocks the names aggregate/{TRACK}/...: this run uses aggregate-2/{TRACK}/... instead"
    ]
    assert {*branches(run)} == {taken, *OTHERS}
    return run


@pytest.mark.parametrize("taken", ["aggregate", f"aggregate/{TRACK}"])
def test_a_branch_in_the_way(tmp_path: Path, taken: str) -> None:
    """Where a branch of the user's leaves no room for a run's, these get another prefix (K-8)."""
    run_beside(tmp_path, taken)


def test_a_run_keeps_the_prefix_of_its_branches(tmp_path: Path) -> None:
    """A branch in the way that is gone changes nothing for a run that has another prefix, to its end (K-8)."""
    taken = f"aggregate/{TRACK}/one/more"
    run = run_beside(tmp_path, taken)
    run.told.clear()
    git(run.folder, "branch", "-D", taken)
    run.run(retry=("one",))
    assert not any("branch" in sentence for sentence in run.told)
    assert branches(run) == OTHERS
    run.apply()
    run_control.drop(run.project, TRACK, database=run.database)
    assert branches(run) == []
