"""View modes in the Files section."""

from pathlib import Path
from typing import Any

import pytest

from aggregate import FileItem, build_file_items, build_markdown_from_items, summarise_file
from tests.projects import project

SOURCE = "import os\n\n\ndef work(x: int) -> int:\n    y = x + 1\n    return y\n"


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """A project with one file."""
    return project(tmp_path, {"a.py": SOURCE})


def shown(base: Path, **fields: Any) -> str:
    """Return the content of ``a.py`` under these fields."""
    return build_file_items(base, [{"path": "a.py", **fields}])[0]["content"]


def test_view_mode_default_summary(base: Path) -> None:
    """An unknown or empty mode means summary; no mode means full (M-X1)."""
    digest = "python, 6 lines, 1 function\nimports: os\nfunctions: work"
    assert shown(base, view_mode="") == digest
    assert shown(base, view_mode="sideways") == digest
    assert shown(base) == SOURCE


def test_view_mode_full(base: Path) -> None:
    """Full is the raw text (M-31)."""
    assert shown(base, view_mode="full") == SOURCE


def test_view_mode_none(base: Path) -> None:
    """None is a fixed note (M-36)."""
    assert shown(base, view_mode="none") == "(context excluded)"


def test_view_mode_outline(base: Path) -> None:
    """Outline is a row per definition (M-34)."""
    assert shown(base, view_mode="outline") == "4-6  def work(x: int) -> int\n"


def test_view_mode_skeleton(base: Path) -> None:
    """Skeleton is the source without bodies (M-33)."""
    assert shown(base, view_mode="skeleton") == "import os\n\n\ndef work(x: int) -> int:\n    ...\n"


def test_view_mode_summary(base: Path) -> None:
    """Summary is ``summarise_file`` of path and text (M-32)."""
    assert shown(base, view_mode="summary") == summarise_file("a.py", SOURCE)


def test_view_mode_custom(base: Path) -> None:
    """Custom is the slices and nothing else (M-37)."""
    assert shown(
        base, view_mode="custom", custom_slices=[{"start_line": 1, "end_line": 1, "tag": "imports"}]
    ) == ("--- [Slice: imports] Lines 1-1: ---\nimport os")


def test_view_mode_custom_empty_default_to_summary(base: Path) -> None:
    """Custom without slices is the summary (M-37)."""
    assert shown(base, view_mode="custom") == summarise_file("a.py", SOURCE)


def test_files_section_rendering(base: Path) -> None:
    """Each file has its heading and a fence by its language that its content cannot break (M-X16)."""
    project(base, {"doc.md": "````\ncode\n````\n", "none.c": "int x;"})
    items = build_file_items(base, ["a.py", "doc.md", "none.c", FileItem("a.py", view_mode="none")])
    assert build_markdown_from_items(items[1:], ".", [], []) == (
        "## Files\n\n### File doc.md\n\n`````markdown\n````\ncode\n````\n`````\n\n### File none.c\n\n```c\nint x;\n```"
    )
