"""Where the lines of an older block stand in the file now."""

import pytest

from aggregate import Segment
from aggregate.base.values import Section, ShownText, Span, Stability
from aggregate.prompt.layout import file_block
from aggregate.prompt.sections import shown_in_older

SOURCE = (
    "import one\n\ndef a():\n    return 1\n\ndef b():\n    return 1\n\ndef c():\n    return 3\n"
)


def now(source: str = SOURCE, *, is_message: bool = False) -> Segment:
    """Return the file's block as it is now."""
    shown = ShownText(source, (), is_message=is_message)
    return Segment(Section.FILES, file_block("x.py", "def c():\n"), Stability.STABLE, "x.py", shown)


@pytest.mark.parametrize(
    ("content", "spans"),
    [
        ("import one\n...\ndef b():\n    return 1\n", [Span(1, 1, 1, 1), Span(3, 4, 6, 7)]),
        (SOURCE, [Span(1, 10, 1, 10)]),
        ("    # ...\ndef b():\n", [Span(2, 2, 6, 6)]),
        ("...\n", []),
        ("def b():\n...\ndef a():\n", None),  # not in the order of the file
        ("def b():\n    return 2\n", None),  # edited since
    ],
)
def test_spans(content: str, spans: list[Span] | None) -> None:
    """Runs between marks are found one behind the other, or nothing is said of any (rule L-1)."""
    shown = shown_in_older(file_block("x.py", content), now())
    assert (None if shown is None else list(shown.spans or ())) == spans


def test_a_file_of_one_line_without_end() -> None:
    """A block that repeats a line is given up soon, and a place that is found is one of its own (rule L-1)."""
    many = "x\n" * 50_000
    assert shown_in_older(file_block("x.py", "x\n" * 300 + "y\n"), now(many)) is None
    found = shown_in_older(file_block("x.py", "x\n...\nx\n"), now(many))
    assert found is not None
    assert list(found.spans or ()) == [Span(1, 1, 1, 1), Span(3, 3, 2, 2)]
