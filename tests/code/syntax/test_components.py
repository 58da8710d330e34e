"""What of a component's text HTML's grammar must not see."""

import pytest

from aggregate.code.syntax.preprocessor import hidden_in_components


@pytest.mark.parametrize(
    ("source", "hidden"),
    [
        ("{#if a < b}<p>", ["{#if a < b}"]),
        ("<p a={b > c}>", ["b > c"]),  # what stands between the braces of an attribute's value
        ("{a{b{c{d<e}}}}{f}", ["{a{b{c{d<e}}}}", "{f}"]),
        ("{ {a<b} {c}", ["{a<b}", "{c}"]),  # the first never closes
        ("{a <script> {b}</script> }{c}", ["{b}", "{c}"]),
        ("{a <b} </style> {c}", ["{a <b}", "{c}"]),
        ("} {a}", ["{a}"]),
    ],
)
def test_expressions_in_braces_are_hidden(source: str, hidden: list[str]) -> None:
    """The outermost pairs of braces that hold no tag of a part of the component are hidden, however deep they nest."""
    spans = hidden_in_components(source.encode())
    assert [source[start:end] for start, end in spans] == hidden
