"""Flags and view modes, as a caller of ``build_file_items`` and of the composed markdown sees them."""

from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from aggregate import FileItem, build_file_items, build_markdown_from_items, summarise_file
from tests.projects import project

SOURCE = '''\
"""Shapes."""

import math

UNIT = 1


class Circle:
    """A round thing."""

    def __init__(self, radius: float) -> None:
        self.radius = radius

    def area(self) -> float:
        """Return the area."""
        return math.pi * self.radius**2


def unit() -> Circle:
    return Circle(UNIT)
'''


DIGEST = """\
python, 20 lines, 1 class, 3 functions
Shapes.
imports: math
constants: UNIT
class Circle: __init__, area
functions: unit"""


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """A project with one Python file and one text."""
    return project(tmp_path, {"shapes.py": SOURCE, "notes.txt": "one\ntwo\nthree\n"})


def only(base: Path, entry: Any) -> dict[str, Any]:
    """Return the single record of one entry."""
    (record,) = build_file_items(base, [entry])
    return dict(record)


def markdown(items: list[Any], **options: Any) -> str:
    """Compose records alone."""
    return build_markdown_from_items(items, ".", [], [], **options)


def test_auto_aggregate_skip(base: Path) -> None:
    """With auto_aggregate off an item keeps its place in the items, but not in the markdown (M-40, M-X12)."""
    items = build_file_items(
        base, [FileItem("shapes.py", auto_aggregate=False, view_mode="outline"), "notes.txt"]
    )
    assert [(item["path"], item["view_mode"], item["mtime"] > 0) for item in items] == [
        ("shapes.py", "outline", True),
        ("notes.txt", "full", True),
    ]
    for strategy in ("auto", "full", "summarize"):
        shown = markdown(items, aggregation_strategy=strategy)
        assert ("### File shapes.py" in shown, "### File notes.txt" in shown) == (False, True)
    assert FileItem("x").auto_aggregate is True


def test_force_full(base: Path) -> None:
    """force_full shows the raw text over the item's view mode and over the summarize strategy (M-X3)."""
    item = only(base, FileItem("shapes.py", view_mode="none", force_full=True))
    assert (item["content"], item["view_mode"]) == (SOURCE, "full")
    text = markdown([item], aggregation_strategy="summarize")
    assert text == f"## Files (Summary)\n\n### File shapes.py\n\n```python\n{SOURCE}```"


def test_view_mode_full(base: Path) -> None:
    """Plain strings, mappings without a mode and items are shown raw, line ends kept (M-31, M-X1)."""
    (base / "crlf.txt").write_bytes(b"a\r\nb\r\n")
    assert only(base, "crlf.txt")["content"] == "a\r\nb\r\n"
    for entry in ("shapes.py", {"path": "shapes.py"}, FileItem("shapes.py")):
        assert only(base, entry)["content"] == SOURCE


def test_view_mode_summary(base: Path) -> None:
    """The summary names doc, imports, constants, classes with methods, functions, and is shorter (M-32, M-16)."""
    assert only(base, FileItem("shapes.py", view_mode="summary"))["content"] == DIGEST
    assert summarise_file("shapes.py", SOURCE) == DIGEST


@pytest.mark.parametrize("mode", ["", "sideways", "custom"])
def test_view_mode_default_summary(base: Path, mode: str) -> None:
    """An unknown or empty mode, and custom without slices, mean summary (M-X1, M-37)."""
    assert only(base, {"path": "shapes.py", "view_mode": mode})["content"] == DIGEST


def test_view_mode_skeleton(base: Path) -> None:
    """The skeleton keeps all but the bodies, docstrings included (M-33); the two shortcuts mean the same."""
    skeleton = dedent(
        '''\
        """Shapes."""

        import math

        UNIT = 1


        class Circle:
            """A round thing."""

            def __init__(self, radius: float) -> None:
                ...

            def area(self) -> float:
                """Return the area."""
                ...


        def unit() -> Circle:
            ...
        '''
    )
    assert only(base, FileItem("shapes.py", view_mode="skeleton"))["content"] == skeleton
    assert only(base, FileItem("shapes.py", ast_signatures=True))["content"] == skeleton
    assert only(base, FileItem("shapes.py", ast_definitions=True))["content"] == skeleton


def test_view_mode_outline(base: Path) -> None:
    """The outline is a row per definition with its lines in the file (M-34)."""
    assert only(base, FileItem("shapes.py", view_mode="outline"))["content"] == dedent(
        """\
        8-16   class Circle
        11-12    def __init__(self, radius: float) -> None
        14-16    def area(self) -> float
        19-20  def unit() -> Circle
        """
    )


def test_view_mode_none(base: Path) -> None:
    """The file is read and named, its content left out (M-36)."""
    item = only(base, FileItem("shapes.py", view_mode="none"))
    assert (item["content"], item["source"]) == ("(context excluded)", SOURCE)
    assert markdown([item]) == "## Files\n\n### File shapes.py (excluded)\n\n(context excluded)"


def test_view_mode_custom(base: Path) -> None:
    """Only the slices are shown, each under its line, parted by a blank line (M-37, M-42)."""
    slices: list[dict[str, object]] = [
        {"start_line": 5, "end_line": 5},
        {"start_line": 19, "end_line": 20, "tag": "unit", "comment": "why"},
    ]
    assert only(base, FileItem("shapes.py", view_mode="custom", custom_slices=slices))[
        "content"
    ] == dedent(
        """\
        --- [Slice] Lines 5-5: ---
        UNIT = 1

        --- [Slice: unit] (why) Lines 19-20: ---
        def unit() -> Circle:
            return Circle(UNIT)"""
    )


@pytest.mark.parametrize(
    ("start", "end", "line"),
    [
        (0, 1, "--- [Slice] Lines 1-1: ---"),
        (19, 99, "--- [Slice] Lines 19-20: ---"),
        (3, 2, "--- [Slice] Lines 3-2: orphaned"),
        (90, 99, "--- [Slice] Lines 90-99: orphaned"),
    ],
)
def test_slices_outside_the_file(base: Path, start: int, end: int, line: str) -> None:
    """Slices are clamped; reversed ones and those outside leave a note and no lines (M-X17)."""
    slices = [{"start_line": start, "end_line": end}]
    shown = {"path": "shapes.py", "view_mode": "custom", "custom_slices": slices}
    content = only(base, shown)["content"]
    assert content.startswith(line)
    assert "\n" not in content or "orphaned" not in line


def test_a_file_stands_once(base: Path) -> None:
    """A path named by a glob and by itself is shown once, as its own entry says."""
    again = {"path": "shapes.py", "view_mode": "summary"}
    items = build_file_items(base, [{"path": "*.py", "view_mode": "none"}, again])
    assert [(item["path"], item["view_mode"]) for item in items] == [("shapes.py", "summary")]


def test_view_mode_masked(base: Path) -> None:
    """Definitions and signatures in the mask's order; hide shows nothing, a missing symbol an error (M-35, M-X15)."""
    mask = {"Circle.area": "def", "unit": "sig", "Circle.__init__": "hide", "Square": "sig"}
    assert only(base, FileItem("shapes.py", view_mode="masked", ast_mask=mask))[
        "content"
    ] == dedent(
        '''\
        class Circle:
            ...
            def area(self) -> float:
                """Return the area."""
                return math.pi * self.radius**2

        def unit() -> Circle:

        ERROR: symbol not found: Square in shapes.py'''
    )


def test_masked_without_a_mask_is_the_skeleton(base: Path) -> None:
    """An empty mask means the skeleton (M-X15)."""
    masked = only(base, FileItem("shapes.py", view_mode="masked"))
    assert masked["content"] == only(base, FileItem("shapes.py", view_mode="skeleton"))["content"]


def test_a_failing_file_never_ends_the_run(base: Path) -> None:
    """A missing file, a glob without hits and a binary file become visible, short error items (M-5, M-X18)."""
    (base / "data.bin").write_bytes(b"\0\1\2")
    (base / "sub").mkdir()
    items = build_file_items(base, ["gone.py", "*.rs", "data.bin", "sub"])
    assert [(item["content"], item["error"]) for item in items] == [
        ("ERROR: file not found: gone.py", True),
        ("ERROR: no file matches this pattern (globs skip ignored files): *.rs", True),
        ("ERROR: binary content (3 bytes): data.bin", True),
        ("ERROR: is a directory: name its files or use a glob such as dir/**: sub", True),
    ]
    assert [item["mtime"] > 0 for item in items] == [False, False, True, True]
    assert "### File gone.py\n\n```text\nERROR: file not found: gone.py\n```" in markdown(items)


def test_records_carry_the_documented_keys(base: Path) -> None:
    """Every record has at least the keys of the contract (M-5)."""
    keys = [
        "path", "entry", "content", "mtime", "error", "view_mode", "auto_aggregate", "force_full",
        "tier", "ast_mask", "custom_slices",
    ]  # fmt: skip
    assert set(keys) <= set(only(base, {"path": "shapes.py", "tier": 3}))
    assert only(base, {"path": "shapes.py", "tier": 3})["tier"] == 3
