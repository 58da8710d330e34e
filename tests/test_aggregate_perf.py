"""The number of the next output."""

from pathlib import Path

import pytest

from aggregate import find_next_increment
from tests.projects import project


@pytest.mark.parametrize(
    ("names", "number"),
    [
        ([], 1),
        (["demo_001.md"], 2),
        (["demo_001.md", "demo_007.md"], 8),
        (["demo_999.md"], 1000),
        (["demo_1000.md", "demo_2.md"], 1001),
        (["other_005.md", "demo_003.txt", "xdemo_004.md", "demo_x.md", "demo_003.md.tmp"], 1),
    ],
)
def test_find_next_increment_counts_from_the_highest(
    tmp_path: Path, names: list[str], number: int
) -> None:
    """One above the highest number of this namespace (M-1)."""
    assert find_next_increment(project(tmp_path, dict.fromkeys(names, "")), "demo") == number


def test_find_next_increment_missing_folder(tmp_path: Path) -> None:
    """A folder that does not exist has no outputs (M-1)."""
    assert find_next_increment(tmp_path / "gone", "demo") == 1


def test_find_next_increment_takes_the_namespace_as_text(tmp_path: Path) -> None:
    """The namespace is literal text, not a pattern (M-1)."""
    project(tmp_path, {"a.b_003.md": "", "axb_009.md": "", "c+_002.md": ""})
    assert [find_next_increment(tmp_path, name) for name in ("a.b", "c+", "[x")] == [4, 3, 1]


def test_find_next_increment_ignores_folders(tmp_path: Path) -> None:
    """Only files count (M-1)."""
    (tmp_path / "demo_005.md").mkdir()
    assert find_next_increment(tmp_path, "demo") == 1
