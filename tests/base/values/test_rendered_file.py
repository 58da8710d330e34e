"""The one form of a file inside, and its records outside."""

from pathlib import Path
from typing import Any

import pytest

from aggregate import FileRecord, ViewMode, build_file_items
from aggregate.base.values import FileEntry, RenderedFile
from tests.projects import project


def test_a_record_of_the_pipeline_is_kept_whole(tmp_path: Path) -> None:
    """A record becomes a file and the same record again, keys in their order (M-5)."""
    project(tmp_path, {"a.py": "def f():\n    return 1\n", "b.bin": "\0"})
    outline = {"path": "a.py", "view_mode": "outline", "tier": 3, "ast_mask": {"f": "def"}}
    entries: list[FileEntry] = [outline, "gone.py", "b.bin"]
    for record in build_file_items(tmp_path, entries):
        again = RenderedFile.from_record(record).to_record()
        assert list(again.items()) == list(record.items())
        assert list(again) == list(FileRecord.__annotations__)


def test_a_record_shares_nothing_with_the_file() -> None:
    """Who changes a record changes no file."""
    file = RenderedFile("a.py", ast_mask={"f": "def"}, custom_slices=({"start_line": 1},))
    record = file.to_record()
    record["ast_mask"].clear()
    record["custom_slices"][0].clear()
    assert file == RenderedFile("a.py", ast_mask={"f": "def"}, custom_slices=({"start_line": 1},))


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ({}, RenderedFile("")),
        ({"entry": "a.py"}, RenderedFile("a.py", "a.py")),
        ({"path": Path("a.py"), "content": "x"}, RenderedFile("a.py", content="x", source="x")),
        ({"path": "a", "content": "x", "source": ""}, RenderedFile("a", content="x")),
        ({"path": "a", "content": "ERROR", "error": 1}, RenderedFile("a", content="ERROR", error=True)),
        ({"path": "a", "view_mode": "none"}, RenderedFile("a", view_mode=ViewMode.NONE)),
        ({"path": "a", "view_mode": "NONE", "language": None}, RenderedFile("a")),
    ],
)  # fmt: skip
def test_a_record_written_by_hand_may_lack_any_key(
    record: dict[str, Any], expected: RenderedFile
) -> None:
    """What a record does not say is what a file in full would have."""
    assert RenderedFile.from_record(record) == expected
