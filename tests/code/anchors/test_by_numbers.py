"""Slices that are taken by their line numbers, or that cannot be taken at all."""

import hashlib
from typing import Any

import pytest

from aggregate import AnchorState, FuzzyAnchor, Resolution
from aggregate.base import AnchorError

TEN = "".join(f"line {n}\n" for n in range(1, 11))


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        (3, 5, Resolution(3, 5, AnchorState.FRESH)),
        (1, 10, Resolution(1, 10, AnchorState.FRESH)),
        (8, 12, Resolution(8, 10, AnchorState.MOVED, "lines 8-12 extend beyond this file of 10 lines")),
        (-3, 2, Resolution(1, 2, AnchorState.MOVED, "lines -3-2 extend beyond this file of 10 lines")),
        (5, 3, Resolution(0, 0, AnchorState.ORPHANED, "lines 5-3 are reversed")),
        (11, 20, Resolution(0, 0, AnchorState.ORPHANED, "lines 11-20 are outside of this file of 10 lines")),
        (-4, 0, Resolution(0, 0, AnchorState.ORPHANED, "lines -4-0 are outside of this file of 10 lines")),
        (
            "3",
            5,
            Resolution(
                0,
                0,
                AnchorState.ORPHANED,
                "start_line and end_line of this slice must be whole numbers",
            ),
        ),
        (
            True,
            5,
            Resolution(
                0,
                0,
                AnchorState.ORPHANED,
                "start_line and end_line of this slice must be whole numbers",
            ),
        ),
    ],
)  # fmt: skip
def test_a_slice_without_an_anchor_is_clamped(start: Any, end: Any, expected: Resolution) -> None:
    """Numbers partly outside are clamped; reversed ones, ones outside and no numbers give a note (M-X17)."""
    assert FuzzyAnchor.resolve({"start_line": start, "end_line": end}, TEN) == expected


def test_an_empty_text_has_no_lines() -> None:
    """Nothing can be shown of, or captured from, an empty text (M-X17)."""
    found = FuzzyAnchor.resolve({"start_line": 1, "end_line": 1}, "")
    assert (found.state, found.reason) == (
        AnchorState.ORPHANED,
        "lines 1-1 are outside of this file of 0 lines",
    )
    with pytest.raises(AnchorError):
        FuzzyAnchor.create_slice("", 1, 1)


def test_the_keys_of_a_captured_slice() -> None:
    """A slice carries numbers, tag, comment, the SHA-256 of its content and the lines around it (M-17, M-41)."""
    piece = FuzzyAnchor.create_slice(TEN, 4, 5, "core", "look here")
    assert {
        key: piece.get(key) for key in ("start_line", "end_line", "tag", "comment", "total_lines")
    } == {"start_line": 4, "end_line": 5, "tag": "core", "comment": "look here", "total_lines": 10}
    assert piece.get("content_hash") == hashlib.sha256(b"line 4\nline 5").hexdigest()
    assert piece.get("anchor_lines") == [
        "line 1",
        "line 2",
        "line 3",
        "line 6",
        "line 7",
        "line 8",
        "line 9",
    ]
    assert piece.get("lines") == ["line 4", "line 5"]


@pytest.mark.parametrize(("start", "end"), [(5, 3), (11, 12), (-4, 0)])
def test_lines_that_cannot_be_captured(start: int, end: int) -> None:
    """Reversed lines and lines all outside the text are refused with a sentence that names them."""
    with pytest.raises(
        AnchorError, match=f"Lines {start}-{end} cannot be captured from a text of 10 lines"
    ):
        FuzzyAnchor.create_slice(TEN, start, end)


def test_lines_partly_outside_are_captured_as_far_as_they_reach() -> None:
    """Capturing clamps as showing does (M-X17)."""
    piece = FuzzyAnchor.create_slice(TEN, -2, 40)
    assert (piece["start_line"], piece["end_line"], piece["tag"], piece["comment"]) == (
        1,
        10,
        None,
        None,
    )


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("prints", "not base64"),
        ("prints", "AAAA"),
        ("prints", 7),
        ("prints_before", None),
        ("end_line", 6),
        ("start_line", "4"),
        ("lines", "line 4"),
        ("lines", [4]),
        ("copies", "0"),
        ("total_lines", True),
        ("total_lines", 5),
    ],
)
def test_a_damaged_anchor_is_an_orphan(key: str, value: object) -> None:
    """A slice whose anchor was changed by hand is neither an error nor taken by its numbers (M-X9)."""
    piece: dict[str, Any] = {**FuzzyAnchor.create_slice(TEN, 4, 5), key: value}
    found = FuzzyAnchor.resolve(piece, TEN)
    assert (found.state, found.found) == (AnchorState.ORPHANED, False)
    assert found.reason.startswith("the anchor of this slice is damaged (")


def test_a_long_slice_keeps_little_text() -> None:
    """Of 500 lines the two ends are kept as text, the rest as prints, and an edit amid them is still found (M-41)."""
    text = "".join(
        f"    result_{n} = compute_something_long(with_parameter={n})\n" for n in range(900)
    )
    piece = FuzzyAnchor.create_slice(text, 201, 700)
    assert len(piece.get("lines", [])) == 24
    assert len(str(piece)) < 0.25 * len(text) * 500 / 900
    new = "x = 1\n" + text.replace("result_450", "renamed")
    found = FuzzyAnchor.resolve(piece, new)
    assert (found.start_line, found.end_line, found.state) == (202, 701, AnchorState.EDITED)
