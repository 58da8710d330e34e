"""Paths of configured entries."""

from pathlib import Path

import pytest

from aggregate import resolve_paths
from tests.projects import project


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """A project with files, folders and history files."""
    names = [
        "b.py",
        "a.py",
        "sub/c.py",
        "sub/deep/d.py",
        "sub/x.txt",
        "history.toml",
        "sub/My_History.TOML",
    ]
    return project(tmp_path, dict.fromkeys(names, ""))


def test_resolve_paths_blacklist(base: Path) -> None:
    """History files are dropped in all three forms, whatever their case (M-2)."""
    for entry in (
        "history.toml",
        "sub/My_History.TOML",
        "**/*.toml",
        "**/*.TOML",
        str(base / "history.toml"),
    ):
        assert resolve_paths(base, entry) == []


@pytest.mark.parametrize(
    ("entry", "names"),
    [
        ("*.py", ["a.py", "b.py"]),
        ("**/*.py", ["a.py", "b.py", "sub/c.py", "sub/deep/d.py"]),
        ("sub/*", ["sub/c.py", "sub/x.txt"]),
        ("sub/**", ["sub/c.py", "sub/deep/d.py", "sub/x.txt"]),
        ("s?b/*.{py,txt}", ["sub/c.py", "sub/x.txt"]),
        ("*.rs", []),
    ],
)
def test_resolve_paths_glob(base: Path, entry: str, names: list[str]) -> None:
    """A glob gives its files sorted, each once; no match gives an empty list (M-2)."""
    assert resolve_paths(base, entry) == [base / name for name in names]


def test_resolve_paths_absolute(base: Path) -> None:
    """An absolute path gives itself, an absolute glob its files (M-2)."""
    assert resolve_paths(Path("/elsewhere"), str(base / "a.py")) == [base / "a.py"]
    assert resolve_paths(Path("/elsewhere"), f"{base}/*.py") == [base / "a.py", base / "b.py"]
