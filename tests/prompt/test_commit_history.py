"""The history of a project, read from git and kept by the commits' ids."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from aggregate.prompt.corpus import CommitHistory
from aggregate.ranking import Commit
from tests.project.history import Repository
from tests.project.index.samples import opened
from tests.project.repository import git
from tests.prompt.composing import kept_nothing


def project(root: Path, count: int = 6) -> Repository:
    repository = Repository(root)
    for number in range(count + 1):
        source = f"def f():\n    return {number}\n"
        repository.commit(
            f"Number the {'retry' if number == 2 else 'session'} {number}", {"a.py": source}
        )
    return repository


def read(root: Path, index: Any, places: Sequence[int] = (0, 2)) -> tuple[Commit, ...]:
    """Return the commits of a folder, with names at ``places``, and keep them."""
    history = CommitHistory(str(root), index=index)
    commits = history.with_names([place for place in places if place < len(history.commits)])
    index.flush()
    return commits


def test_commits_with_the_names_that_were_asked_for(tmp_path: Path) -> None:
    """Each commit has the terms of its message and its files, and some the definitions that they changed (rule T-2)."""
    project(tmp_path / "p")
    commits = read(tmp_path / "p", kept_nothing())
    assert commits[0] == Commit(
        frozenset({"number", "session"}),
        ("a.py",),
        (("a.py", "f"),),
        frozenset({"number", "session"}),
    )
    assert commits[4].terms == {"number", "retry"}
    assert [bool(commit.names) for commit in commits] == [True, False, True, False, False, False]


def test_the_same_with_and_without_an_index(tmp_path: Path) -> None:
    """Cold, warm, without any index and after new commits the history is the same (rules I-2 and I-6)."""
    repository = project(tmp_path / "p")
    repository.commit("Ü 登", {"ä b\n\x01登.py": "x = 1\n"})
    for _ in range(2):
        expected = read(tmp_path / "p", kept_nothing())
        for _ in range(2):
            with opened(tmp_path / "cache") as index:
                assert read(tmp_path / "p", index) == expected
        repository.commit("More", {"a.py": "def g():\n    return 1\n", "b.py": ""})
    assert expected[0].paths == ("a.py", "b.py")


def test_what_is_kept_is_not_asked_again(tmp_path: Path) -> None:
    """A second run reads commits from the index alone: it does without the objects of the past (rule I-6)."""
    project(tmp_path / "p")
    with opened(tmp_path / "cache") as index:
        expected = read(tmp_path / "p", index)
    head = git(tmp_path / "p", "rev-parse", "HEAD").decode().strip()
    for path in (tmp_path / "p" / ".git" / "objects").rglob("*"):
        if path.is_file() and f"{path.parent.name}{path.name}" != head:
            path.unlink()
    with opened(tmp_path / "cache") as index:
        assert read(tmp_path / "p", index) == expected


def test_subfolders_have_histories_of_their_own(tmp_path: Path) -> None:
    """Paths are relative to the folder that is asked about, and are kept apart (rule I-2)."""
    repository = project(tmp_path / "p")
    repository.commit("sub", {"sub/c.py": "1", "d.py": "1"})
    with opened(tmp_path / "cache") as index:
        assert read(tmp_path / "p", index)[0].paths == ("d.py", "sub/c.py")
        assert read(tmp_path / "p" / "sub", index)[0].paths == ("c.py",)
        assert read(tmp_path / "p", index)[0].paths == ("d.py", "sub/c.py")


@pytest.mark.parametrize("kind", ["none", "empty", "single", "without git"])
def test_the_reason_of_no_history(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No repository, no commit, a single one, no git: nothing fails, and the reason is told (rule T-5)."""
    if kind != "none":
        git(tmp_path, "init", "-q")
    if kind == "single":
        Repository(tmp_path).commit("one", {"a.py": "1"})
    if kind == "without git":
        monkeypatch.setenv("PATH", str(tmp_path))
    history = CommitHistory(str(tmp_path), index=kept_nothing())
    assert history.commits == ()
    assert history.with_names([0]) == ()
    assert history.missing is not None
    assert history.missing.evidence == "history"
    reasons = {"none": "not in a git repository", "without git": "not installed"}
    assert reasons.get(kind, "no commit with a parent") in history.missing.reason
