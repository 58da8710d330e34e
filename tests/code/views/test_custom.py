"""Slices as a view shows them."""

from tests.viewing import viewed

from aggregate import FuzzyAnchor, ViewMode

OLD = "import os\n\n\ndef first():\n    return os.name\n\n\ndef second():\n    return os.sep\n"


def shown(slices: list[dict[str, object]], text: str) -> str:
    """Return the custom view of ``text``."""
    return viewed("a.py", text, ViewMode.CUSTOM, slices=slices).text


def captured(start: int, end: int, **names: str) -> dict[str, object]:
    """Capture lines of the old text."""
    return dict(FuzzyAnchor.create_slice(OLD, start, end, **names))


def test_a_moved_slice_is_found_and_says_so() -> None:
    """Lines above it were added: the numbers are those of the file as it is now (M-X9)."""
    view = shown([captured(8, 9)], "# one\n# two\n" + OLD)
    head, _, body = view.partition("\n")
    assert head.startswith("--- [Slice] Lines 10-11: --- (moved: ")
    assert body == "def second():\n    return os.sep"


def test_a_lost_slice_leaves_its_reason_and_no_lines() -> None:
    """What cannot be found is never replaced by lines that happen to stand there (M-X9)."""
    view = shown(
        [captured(4, 5), captured(8, 9)], "import sys\n\n\ndef other():\n    return sys.path\n"
    )
    assert [line.split(": ")[1] for line in view.split("\n\n")] == ["orphaned", "orphaned"]
    assert "sys.path" not in view


def test_spans_name_the_lines_of_the_file() -> None:
    """Every line of a slice maps to its own line; the line above it maps to none."""
    view = viewed("a.py", OLD, ViewMode.CUSTOM, slices=[captured(1, 1), captured(8, 9)])
    lines = view.text.split("\n")
    assert [view.source_line(i) for i in range(1, len(lines) + 1)] == [None, 1, None, None, 8, 9]


def test_tags_cannot_break_the_line() -> None:
    """Line breaks in a tag or comment are escaped."""
    view = shown([captured(1, 1, tag="a\nb", comment="c\r\nd")], OLD)
    assert view == "--- [Slice: a\\x0ab] (c\\x0d\\x0ad) Lines 1-1: ---\nimport os"
