"""What holds for every text and every slice of it."""

import tomllib
from typing import Any

import tomlkit
from hypothesis import given, strategies as st

from aggregate import AnchorState, FuzzyAnchor
from aggregate.code.anchors.anchor import bare_lines

LINE = st.sampled_from(
    [
        "", "}", "    }", "\t", "return", "x = 1", "def run():", "class Möbius:", "    pass", "# ———", "雪", "a\x0cb",
        "if x:\r",
    ]
) | st.text(st.characters(exclude_characters="\n\r", exclude_categories=["Cs"]), max_size=12)  # fmt: skip
TEXT = st.builds(
    lambda lines, end: "\n".join(lines) + end,
    st.lists(LINE, min_size=1, max_size=40),
    st.sampled_from(["", "\n"]),
)


@st.composite
def slices(draw: st.DrawFn) -> tuple[str, int, int]:
    """Draw a text with at least one line and the numbers of a slice in it."""
    text = draw(TEXT.filter(bool))
    total = len(bare_lines(text))
    start = draw(st.integers(1, total))
    return text, start, draw(st.integers(start, total))


@given(slices())
def test_an_unchanged_text_gives_the_same_lines(drawn: tuple[str, int, int]) -> None:
    """Relocating on unchanged text is the identity for every slice (M-41)."""
    text, start, end = drawn
    found = FuzzyAnchor.resolve(FuzzyAnchor.create_slice(text, start, end), text)
    assert (found.start_line, found.end_line, found.state, found.reason) == (
        start,
        end,
        AnchorState.FRESH,
        "",
    )


@given(slices())
def test_line_ends_do_not_count(drawn: tuple[str, int, int]) -> None:
    """A change from LF to CR LF, or a lost last line end, leaves every slice fresh."""
    text, start, end = drawn
    piece = FuzzyAnchor.create_slice(text, start, end)
    windows = text.replace("\r\n", "\n").replace("\n", "\r\n")
    assert FuzzyAnchor.resolve(piece, windows).state is AnchorState.FRESH
    whole = text if text.endswith("\n") else f"{text}\n"
    assert FuzzyAnchor.resolve(piece, whole).start_line == start


@given(slices(), st.integers(1, 50))
def test_lines_put_in_above_shift_a_slice_exactly(drawn: tuple[str, int, int], count: int) -> None:
    """New lines above move the numbers by their count, unless one of the lines could be the slice as well."""
    text, start, end = drawn
    new = "".join(f"put in as number {n}\n" for n in range(count)) + text
    found = FuzzyAnchor.resolve(FuzzyAnchor.create_slice(text, start, end), new)
    assert (found.start_line, found.end_line, found.state) == (
        start + count,
        end + count,
        AnchorState.MOVED,
    )
    assert found.reason == (
        f"moved from line {start}" if start == end else f"moved from lines {start}-{end}"
    )


@given(slices(), TEXT)
def test_what_is_called_fresh_or_moved_is_the_captured_text(
    drawn: tuple[str, int, int], new: str
) -> None:
    """No slice is shown as unchanged whose lines differ from those captured, whatever became of the text (M-X9)."""
    text, start, end = drawn
    piece = FuzzyAnchor.create_slice(text, start, end)
    found = FuzzyAnchor.resolve(piece, new)
    lines = bare_lines(new)[found.start_line - 1 : found.end_line]
    if found.state in (AnchorState.FRESH, AnchorState.MOVED):
        assert lines == bare_lines(text)[start - 1 : end]
    elif found.state is AnchorState.EDITED:
        assert lines
    else:
        assert (found.start_line, found.end_line) == (0, 0)
    assert (found.state is AnchorState.FRESH) == (found.reason == "")
    assert found.found == (found.start_line > 0)


@given(slices(), TEXT)
def test_a_slice_survives_toml(drawn: tuple[str, int, int], new: str) -> None:
    """Written as TOML without its empty keys and read again, a slice gives the same answer (M-41, M-X10)."""
    text, start, end = drawn
    piece = FuzzyAnchor.create_slice(text, start, end, "tag")
    stored: dict[str, Any] = {key: value for key, value in piece.items() if value is not None}
    read = tomllib.loads(tomlkit.dumps(stored))
    assert read == stored
    assert FuzzyAnchor.resolve(read, new) == FuzzyAnchor.resolve(piece, new)
