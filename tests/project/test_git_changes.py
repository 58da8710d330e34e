"""What changed since a revision, in small repositories."""

from pathlib import Path

import pytest

from aggregate import ConfigError
from aggregate.project.git import changed_lines
from aggregate.project.git.git_changes import ChangedRange
from tests.project.history import Repository
from tests.project.repository import git

LINES = "".join(f"line {number}\n" for number in range(1, 11))


def test_committed_staged_changed_and_new_files(tmp_path: Path) -> None:
    """All that differs from the revision counts, wherever it is; ignored and deleted files do not (rule T-2)."""
    repository = Repository(tmp_path)
    texts = dict.fromkeys(["committed.py", "staged.py", "changed.py", "same.py", "gone.py"], LINES)
    repository.commit("begin", {**texts, ".gitignore": "*.log\n"})
    repository.commit("more", {"committed.py": LINES.replace("line 3\n", "line 3a\nline 3b\n")})
    repository.write({"staged.py": LINES.replace("line 9\n", ""), "born.py": LINES})
    git(tmp_path, "add", "-A")
    repository.write(
        {"changed.py": LINES.replace("line 1\n", "LINE 1\n"), "sub/ü b.py": "x", "x.log": ""}
    )
    (tmp_path / "gone.py").unlink()
    uncommitted = [
        ChangedRange("born.py"),
        ChangedRange("changed.py", 1, 1),
        ChangedRange("staged.py", 8, 8),
        ChangedRange("sub/ü b.py"),
    ]
    assert changed_lines(str(tmp_path), "HEAD") == uncommitted
    since = [*uncommitted, ChangedRange("committed.py", 3, 4)]
    assert changed_lines(str(tmp_path), "HEAD~1") == sorted(since)
    assert changed_lines(str(tmp_path / "sub"), "HEAD") == [ChangedRange("ü b.py")]


REVISIONS = [
    "-h", "--output=x", "nowhere", "HEAD~9", "HEAD:a.py", "a b", "\n", " ", "x\0y", "HEAD..",
    "x" * 5000,
    "@{",
]  # fmt: skip


def test_a_revision_that_there_is_not(tmp_path: Path) -> None:
    """What names no commit is refused in one sentence, and nothing of it reaches git as an option (rule T-2)."""
    Repository(tmp_path).commit("begin", {"a.py": LINES})
    assert changed_lines(str(tmp_path), "HEAD") == []
    for revision in REVISIONS:
        with pytest.raises(ConfigError, match="no revision") as caught:
            changed_lines(str(tmp_path), revision)
        assert len(str(caught.value)) < 400
        assert "\n" not in str(caught.value)
    assert [path.name for path in tmp_path.iterdir() if path.name != ".git"] == ["a.py"]


def test_no_repository_to_compare_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a repository, or without git, the sentence says so (rule T-2)."""
    with pytest.raises(ConfigError, match="no git repository"):
        changed_lines(str(tmp_path), "HEAD")
    git(tmp_path, "init", "-q")
    with pytest.raises(ConfigError, match="no revision"):
        changed_lines(str(tmp_path), "HEAD")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ConfigError, match="not installed"):
        changed_lines(str(tmp_path), "HEAD")


def test_large_changes_are_told_by_file(tmp_path: Path) -> None:
    """Where the differences are longer than what is read, the files behind them count as a whole (rule T-5)."""
    repository = Repository(tmp_path)
    repository.commit("begin", {"a.py": "1\n", "b.py": "1\n", "c.py": "1\n"})
    repository.write({"a.py": "2\n", "b.py": "x" * 10_000 + "\n", "c.py": "2\n"})
    assert changed_lines(str(tmp_path), "HEAD", most_bytes=1_000) == [
        ChangedRange("a.py", 1, 1),
        ChangedRange("b.py", 1, 1),
        ChangedRange("c.py"),
    ]


def test_large_files_are_not_compared(tmp_path: Path) -> None:
    """A file of more than a megabyte counts as a whole (rule T-5)."""
    repository = Repository(tmp_path)
    repository.commit("begin", {"a.txt": "1\n" * 600_000})
    repository.write({"a.txt": "2\n" * 600_000})
    assert changed_lines(str(tmp_path), "HEAD") == [ChangedRange("a.txt")]
