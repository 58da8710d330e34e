"""What holds for every text and every slice of it, also where texts are made, or happen, to be hard."""

import math
import random
import time
import tomllib
from typing import Any

import pytest
import tomlkit
from hypothesis import given, strategies as st
from tests.viewing import viewed

from aggregate import AnchorState, FuzzyAnchor, ViewMode
from aggregate.code.anchors import bare_lines, line_fingerprints, pack

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


SECONDS = 10.0
"""Of the processor: far above what is needed and far below what a search that grows with the square of the text takes."""


@pytest.mark.parametrize(
    ("start", "end"),
    [(30_000, 30_000), pytest.param(10_000, 50_000, marks=pytest.mark.slow), (1, 60_000)],
)
def test_a_text_of_equal_lines(start: int, end: int) -> None:
    """Among equal lines no place is chosen once lines came in on both sides, and the answer comes at once (M-X9)."""
    text = "x\n" * 60_000
    begun = time.process_time()
    piece = FuzzyAnchor.create_slice(text, start, end)
    assert FuzzyAnchor.resolve(piece, text).state is AnchorState.FRESH
    found = FuzzyAnchor.resolve(piece, "x\n" + text + "x\n")
    assert (found.state, found.start_line) == (AnchorState.AMBIGUOUS, 0)
    assert 2 <= len(found.candidates) <= 8
    assert time.process_time() - begun < SECONDS


def test_a_text_without_a_common_line() -> None:
    """A large slice of which nothing is left is an orphan, at once."""
    old = "".join(f"alpha {n}\n" for n in range(30_000))
    new = "".join(f"omega {n * n}\n" for n in range(30_000))
    begun = time.process_time()
    assert (
        FuzzyAnchor.resolve(FuzzyAnchor.create_slice(old, 5_000, 25_000), new).state
        is AnchorState.ORPHANED
    )
    assert time.process_time() - begun < SECONDS


def test_a_minified_line() -> None:
    """A line of a megabyte is known by its print and never stored."""
    long = "var a=1;" * 130_000
    text = f"// head\n{long}\n// tail\n"
    piece = FuzzyAnchor.create_slice(text, 2, 2)
    assert len(str(piece)) < 2_000
    found = FuzzyAnchor.resolve(piece, f"// new\n{text}")
    assert (found.start_line, found.state) == (3, AnchorState.MOVED)


def test_lone_surrogates_are_no_error() -> None:
    """Text decoded with surrogates is captured and found like any other."""
    text = "one\n\udcff two\nthree\n"
    found = FuzzyAnchor.resolve(FuzzyAnchor.create_slice(text, 2, 2), f"zero\n{text}")
    assert (found.start_line, found.state) == (3, AnchorState.MOVED)


HUNDRED = "".join(f"line number {n} of it\n" for n in range(1, 101))
ODD_VALUES: st.SearchStrategy[object] = st.sampled_from(
    [
        10**400,
        10**5000,
        -(10**5000),
        2**63,
        -1,
        0, 1, 7,
        math.nan,
        math.inf,
        None, True, "", "AAAA", "x",
        [],
        [7],
        {},
        b"",
    ]
)  # fmt: skip
CAPTURED: dict[str, Any] = {**FuzzyAnchor.create_slice(HUNDRED, 40, 50)}


@given(
    st.dictionaries(st.sampled_from(sorted(CAPTURED)), ODD_VALUES, max_size=4),
    st.sampled_from(
        [HUNDRED, "", "a\n", f"zero\n{HUNDRED}", HUNDRED.replace("45", "xx"), HUNDRED[400:] * 2]
    ),
)
def test_a_hostile_record_gives_lines_of_the_text_or_a_reason(
    odd: dict[str, Any], text: str
) -> None:
    """Whatever a record holds, no error is raised, no line outside is named, and what is not shown says why (M-X9)."""
    found = FuzzyAnchor.resolve({**CAPTURED, **odd}, text)
    if found.found:
        assert 1 <= found.start_line <= found.end_line <= len(bare_lines(text))
    else:
        assert (found.start_line, found.end_line) == (0, 0)
        assert found.reason


@pytest.mark.parametrize(
    "odd", [{"copies": 1, "rival": 10**400}, {"copies": 1, "rival": 101}, {"copies": -1}]
)
def test_impossible_counts_are_damage(odd: dict[str, Any]) -> None:
    """A count of copies or a fit that no capture writes is said to be damaged."""
    found = FuzzyAnchor.resolve({**CAPTURED, **odd}, HUNDRED)
    assert found.reason.startswith("the anchor of this slice is damaged (")


def test_line_numbers_of_thousands_of_digits() -> None:
    """Numbers that Python refuses to print are refused with a sentence."""
    piece = {"start_line": 10**5000, "end_line": 10**5001}
    reason = "start_line and end_line of this slice must be whole numbers"
    assert FuzzyAnchor.resolve(piece, HUNDRED).reason == reason
    assert (
        viewed("a.txt", HUNDRED, ViewMode.CUSTOM, slices=[piece]).text
        == f"--- [Slice] Lines ?-?: orphaned: {reason} ---"
    )


def changed_between_seeds(tag: str) -> str:
    """Return a text of rare lines with forty lines between each two of them that depend on ``tag``."""
    chance = random.Random(1)
    return "".join(
        f"rare line {group}\n"
        + "".join(
            f"value_{group}_{k}_{tag} = compute({chance.randrange(10**9)}, {tag})\n"
            for k in range(40)
        )
        for group in range(400)
    )


def test_comparing_changed_lines_is_bounded() -> None:
    """A slice of 16,000 lines of which all but a few changed, its record holding every text, ends at once."""
    old, new = changed_between_seeds("old"), changed_between_seeds("new")
    piece = {**FuzzyAnchor.create_slice(old, 100, 16_000), "lines": bare_lines(old)[99:16_000]}
    begun = time.process_time()
    FuzzyAnchor.resolve(piece, new)
    assert time.process_time() - begun < 2


def test_a_record_cannot_widen_the_window() -> None:
    """Of prints beyond the window only the nearest are read: the others change no answer."""
    text = "".join(f"line {n % 7} is\n" for n in range(9_000))
    piece = FuzzyAnchor.create_slice(text, 8_000, 8_001)
    wide = {**piece, "prints_before": pack(line_fingerprints(bare_lines(text))[:7_999])}
    assert FuzzyAnchor.resolve(wide, f"xyz\n{text}") == FuzzyAnchor.resolve(piece, f"xyz\n{text}")
