"""Syntax colours: as long as each line, and none for unknown languages."""

import re

import pytest

from aggregate.panel import code_colours, fenced_colours


@pytest.mark.parametrize(
    ("text", "language", "colours"),
    [
        ("def f():\n    return 'a'  # b", "python", ("k3 .1 f1", ".4 k6 .1 s3 .2 c3")),
        ("'''one\n\n  two'''\n", "python", ("s6", "", "s8", "")),
        ("x = 1\r\ny = '\U0001f600\ud83d'", "python", (".4 n1", ".4 s4")),
        ("+new\n-old\n", "diff", ("i4", "d4", "")),
        ("def f(): pass", "nobodys", ()),
        ("def f(): pass", "", ()),
        ("x = 1\n" * 50_000, "python", ()),
    ],
)
def test_lines_are_coloured(text: str, language: str, colours: tuple[str, ...]) -> None:
    """Lengths are in Python's characters, with line ends; a very long text is plain."""
    assert code_colours(text, language) == colours


def test_code_within_fences_is_coloured() -> None:
    """Each code block is coloured, and a nested fence is content."""
    lines = [
        "### File `a.py`",
        "",
        "```python",
        "def f(): ...",
        "```",
        "def f():",
        "````",
        "```python",
        "````",
        "```",
        "def",
    ]
    colours = fenced_colours("\n".join(lines))
    assert [line for line, colour in zip(lines, colours, strict=True) if colour] == ["def f(): ..."]
    assert all(re.fullmatch(r"([a-z.][0-9]+ ?)*", colour) for colour in colours)
