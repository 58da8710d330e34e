"""Chosen lines of a view: text and spans in and out."""

import pytest
from tests.viewing import viewed

from aggregate import View, ViewMode
from aggregate.base import Span
from aggregate.base.text import split_lines
from aggregate.code.views import focused

FULL = "import a\n\ndef f():\n    return 1\n\ndef g():\n    return 2\n"


@pytest.mark.parametrize(
    ("runs", "text", "spans"),
    [
        ([(1, 7)], FULL, [Span(1, 7, 1, 7)]),
        ([(3, 4)], "...\ndef f():\n    return 1\n...\n", [Span(1, 1, 1, 2), Span(2, 3, 3, 4), Span(4, 4, 5, 7)]),
        (
            [(1, 1), (6, 7)],
            "import a\n...\ndef g():\n    return 2\n",
            [Span(1, 1, 1, 1), Span(2, 2, 2, 5), Span(3, 4, 6, 7)],
        ),
        ([(7, 7)], "...\n    return 2\n", [Span(1, 1, 1, 6), Span(2, 2, 7, 7)]),
        ([], "...\n", [Span(1, 1, 1, 7)]),
    ],
)  # fmt: skip
def test_lines_of_a_file(runs: list[tuple[int, int]], text: str, spans: list[Span]) -> None:
    """What is left out is one line of dots that stands for its lines; the others stand for themselves (rules B-2, L-1)."""
    view = focused(View(FULL), split_lines(FULL), runs)
    assert view.text == text
    assert list(view.spans) == spans


def test_a_last_line_without_its_break_gets_one_before_dots() -> None:
    """The dots stand on a line of their own, also behind a line that has no break."""
    view = focused(View("a\nb"), ["a", "b\n"], [(1, 1)])
    assert view.text == "a\n...\n"
    assert focused(View("a\nb"), ["a\n", "b"], [(2, 2)]).text == "...\nb"


def view_of(mode: ViewMode) -> View:
    """Return a view of a module with a class between two functions."""
    text = (
        '"""Words."""\n\n\ndef first(x):\n    """Do it."""\n    y = x\n    return y\n\n\n'
        "class Box:\n    def get(self):\n        a = 1\n        return a\n"
    )
    return viewed("words.py", text, mode)


@pytest.mark.parametrize("mode", [ViewMode.SKELETON, ViewMode.OUTLINE])
def test_lines_of_a_view_lead_to_the_file(mode: ViewMode) -> None:
    """Each line that is chosen has the origin that it has in the whole view (rules B-2, L-1)."""
    view = view_of(mode)
    lines = split_lines(view.text)
    origins = {
        line: (span.source_start, span.source_end)
        if span.end - span.start != span.source_end - span.source_start
        else (span.source_start + line - span.start,) * 2
        for span in view.spans
        for line in range(span.start, span.end + 1)
    }
    for number, text in enumerate(lines, start=1):
        part = focused(view, lines, [(number, number)])
        shown = part.text.splitlines()
        place = 1 + (number > 1)
        assert shown[place - 1] == text.removesuffix("\n")
        at_place = [span for span in part.spans if span.start <= place <= span.end]
        assert [(span.source_start, span.source_end) for span in at_place] == (
            [origins[number]] if number in origins else []
        )


def test_dots_of_a_view_stand_for_all_that_its_lines_do() -> None:
    """A gap in a skeleton leads from the first to the last line of the file that is left out (rule L-1)."""
    view = View("a\nb\n...\nc\n", (Span(1, 2, 5, 6), Span(3, 3, 7, 9), Span(4, 4, 12, 12)))
    part = focused(view, split_lines(view.text), [(1, 1)])
    assert part.text == "a\n...\n"
    assert list(part.spans) == [Span(1, 1, 5, 5), Span(2, 2, 6, 12)]


def test_lines_from_nowhere_have_no_origin() -> None:
    """What the view itself has added stays without a span, dots for nothing but that too (rule L-1)."""
    view = View("note\na\nb\nnote\n", (Span(2, 3, 1, 2),))
    lines = split_lines(view.text)
    assert list(focused(view, lines, [(1, 2)]).spans) == [Span(2, 2, 1, 1), Span(3, 3, 2, 2)]
    assert list(focused(view, lines, [(1, 3)]).spans) == [Span(2, 3, 1, 2)]


def test_language_and_problems_stay() -> None:
    """What else a view tells is told of its lines too."""
    part = focused(View("a\nb\n", (), "python", ("odd",)), ["a\n", "b\n"], [(2, 2)])
    assert (part.language, part.problems) == ("python", ("odd",))
