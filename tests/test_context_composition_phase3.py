"""What the context panel needs of a file list."""

from pathlib import Path

from aggregate import FileItem, compute_file_stats, group_files_by_dir


def test_group_files_by_dir() -> None:
    """Items, mappings and paths are grouped by folder in their order; root files stand under a dot (M-3)."""
    item, mapping, windows = FileItem("src/a.py"), {"path": "src/b.py"}, "src\\sub\\c.py"
    assert group_files_by_dir([item, "README.md", mapping, windows, Path("x/y.py")]) == {
        "src": [item, mapping],
        ".": ["README.md"],
        "src/sub": [windows],
        "x": [Path("x/y.py")],
    }


def test_compute_file_stats(tmp_path: Path) -> None:
    """Lines of every file, definitions of Python files; a missing file has zeros (M-4)."""
    code = "class A:\n    def m(self):\n        pass\n\ndef f():\n    pass"
    (tmp_path / "a.py").write_text(code, encoding="utf-8")
    (tmp_path / "a.txt").write_text("one\ntwo\n", encoding="utf-8")
    assert compute_file_stats(str(tmp_path / "a.py")) == {"lines": 6, "ast_elements": 3}
    assert compute_file_stats(str(tmp_path / "a.txt")) == {"lines": 2, "ast_elements": 0}
    assert compute_file_stats(str(tmp_path / "gone.py")) == {"lines": 0, "ast_elements": 0}
