"""Fitting: never over, monotone, as full as can be, and as good as the best choice on small cases."""

import pytest
from hypothesis import given, strategies as st

from aggregate import count
from aggregate.prompt.fit.fit import Fit
from aggregate.ranking import DefinedName
from tests.prompt.fit.files import FRAME, Source, new_fit, shown_text, words

LINES = st.lists(
    st.sampled_from(
        [
            "def f(x):\n", "    return x + 1\n", "\n", "        if (a,\n", "x = {\n", "// c\n", "}\n", "    \n",
            "äöü 漢字 😀\n",
            "a" * 90 + "\n",
            "\r\n", "{\n", "///\n",
            f"    {'0xff77b1fcbebcdc4f, ' * 6}\n".replace(", \n", ",\n"),
        ]
    ),
    min_size=1,
    max_size=60,
)  # fmt: skip


@st.composite
def sources(draw: st.DrawFn, lines: st.SearchStrategy[list[str]] = LINES) -> Source:
    """Return a file cut into pieces of some lines, each with a chance."""
    texts = draw(lines)
    pieces: list[tuple[int, int, float]] = []
    first = 1
    while first <= len(texts):
        last = min(len(texts), first + draw(st.integers(0, 12)))
        pieces.append((first, last, draw(st.integers(1, 100)) / 1000))
        first = last + 1
    return Source("".join(texts), tuple(pieces))


FILES = st.lists(sources(), min_size=1, max_size=5)


@given(files=FILES, limit=st.integers(0, 2_000))
def test_prices_are_never_below_what_is_added(files: list[Source], limit: int) -> None:
    """The exact tokens of what is shown never exceed what was spent, nor does that exceed the limit (rule B-1)."""
    fit = new_fit(files, count=count)
    fit.advance(limit)
    exact = sum(
        count(shown_text(files[number], fit, number)) + FRAME
        for number, state in fit.shown.items()
        if not state.is_empty
    )
    assert exact <= fit.spent <= limit


@given(files=FILES, limits=st.lists(st.integers(0, 1_500), min_size=2, max_size=4))
def test_a_larger_limit_shows_all_that_a_smaller_one_does(
    files: list[Source], limits: list[int]
) -> None:
    """Every line that is shown for some tokens is shown for more of them (rule B-6)."""
    shown_before: set[tuple[int, int]] = set()
    for limit in sorted(limits):
        fit = new_fit(files)
        fit.advance(limit)
        shown = _shown_lines(fit)
        assert shown_before <= shown
        shown_before = shown


@given(files=FILES, limits=st.lists(st.integers(0, 1_500), min_size=1, max_size=3))
def test_advancing_in_portions_shows_what_one_go_shows(
    files: list[Source], limits: list[int]
) -> None:
    """What was taken in part is finished first and costs the same, so that the way does not matter (rule B-6)."""
    at_once = new_fit(files)
    at_once.advance(max(limits))
    in_portions = new_fit(files)
    for limit in sorted(limits):
        in_portions.advance(limit)
    assert _shown_lines(in_portions) == _shown_lines(at_once)
    assert in_portions.spent == at_once.spent


def test_what_does_not_fit_is_shown_in_part() -> None:
    """Of a long function the first lines are shown, to the end of a statement, and a marker (rule B-6)."""
    lines = ["def f():\n", *(f"    step_{number}()\n" for number in range(50))]
    source = Source("".join(lines), ((1, 51, 1.0),))
    fit = new_fit([source])
    fit.advance(60)
    text = shown_text(source, fit, 0)
    assert text.startswith("def f():\n    step_0()\n")
    assert text.endswith("()\n...\n")
    assert 50 < words(text) + FRAME <= 60


@pytest.mark.parametrize("limit", [80, 150, 300])
def test_a_table_is_cut_where_much_would_be_left_unused(limit: int) -> None:
    """What has no end of a statement is cut at a line's end, rather than to leave more than 2 % (rule B-6)."""
    source = Source("t = [\n" + "    1, 2, 3,\n" * 200, ((1, 201, 1.0),))
    fit = new_fit([source])
    fit.advance(limit)
    used = FRAME + words(shown_text(source, fit, 0)) if fit.shown[0].runs() else 0
    assert used == 0 if limit < 100 else limit - 8 <= used <= limit


@pytest.mark.parametrize(
    "leading", ["// Tells b.\n", "#[test]\n", "@cached\n", "/** Tells b. */\n@A\n"]
)
def test_a_cut_does_not_tear_a_comment_from_what_it_stands_above(leading: str) -> None:
    """What leads to a definition that does not fit is not shown either (rule B-6)."""
    before = "a = 1;\n\n"
    text = f"{before}{leading}{'b = 2; ' * 200}\n"
    fit = new_fit([Source(text, ((1, text.count("\n"), 0.1),))])
    fit.advance(FRAME + 40)
    assert shown_text(Source(text, ()), fit, 0) == "a = 1;\n...\n"


def test_a_body_brings_the_signatures_around_it() -> None:
    """A chosen piece stands below the signatures of what it is part of (rule B-2)."""
    lines = [
        "class A:\n",
        "    x = 1\n",
        *["    y = 2\n"] * 30,
        "    def f(self):\n",
        "        go()\n",
    ]
    definitions = (
        DefinedName("class", ("A",), 1, 1, 2, 34, -1),
        DefinedName("function", ("A", "f"), 33, 33, 34, 34, 0),
    )
    source = Source("".join(lines), ((1, 32, 0.0), (33, 34, 1.0)), definitions)
    fit = new_fit([source])
    fit.advance(FRAME + 22)
    assert shown_text(source, fit, 0) == "class A:\n...\n    def f(self):\n        go()\n"


def test_a_very_long_line_waits_until_it_is_a_small_part() -> None:
    """A line that cannot be shown in part does not keep shorter ones out (rule B-6)."""
    long_line = "word " * 500 + "\n"
    minified = Source(long_line, ((1, 1, 0.9),))
    readable = Source("good line here\n" * 100, tuple((n, n, 0.001) for n in range(1, 101)))
    fit = new_fit([minified, readable])
    fit.advance(300)
    assert not any(fit.shown[0].marks)
    assert sum(fit.shown[1].marks) > 20
    fit.advance(2_000)
    assert fit.shown[0].is_complete


def _shown_lines(fit: Fit) -> set[tuple[int, int]]:
    return {
        (number, line)
        for number, state in fit.shown.items()
        for line, mark in enumerate(state.marks)
        if mark
    }
