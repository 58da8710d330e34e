"""Text that is made printable."""

import unicodedata

from hypothesis import given, strategies as st

from aggregate.base.text import printable

NAMES = [
    ("plain.py", "plain.py"),
    ("a\x1b[31mb", "a\\x1b[31mb"),
    ("a\nb\tc\r", "a\\x0ab\\x09c\\x0d"),
    ("\x9b2J\x7f", "\\x9b2J\\x7f"),
    ("user\u202egpj.exe", "user\\u202egpj.exe"),
    ("a\u200bb\ufeff\u2060", "a\\u200bb\\ufeff\\u2060"),
    ("\U000e0041\U000e007f", "\\U000e0041\\U000e007f"),
    ("half \ud800 and \udcff", "half \\ud800 and \\udcff"),
    ("größe 日本 \U0001f600.md", "größe 日本 \U0001f600.md"),
]


def test_names_fit_into_one_line() -> None:
    """Controls, marks of direction, what has no width, tags and lone surrogates are shown by their number."""
    assert [printable(name) for name, _ in NAMES] == [shown for _, shown in NAMES]


def test_a_body_keeps_its_lines_and_joiners() -> None:
    """Line breaks, tabs and the joiners of scripts and emoji stay; a lone carriage return would overwrite its line."""
    body = "one\n\ttwo\r\nthree \U0001f468\u200d\U0001f469"
    assert printable(body, body=True) == body
    assert printable("done\rfailed\x1b]0;t\x07", body=True) == "done\\x0dfailed\\x1b]0;t\\x07"


@given(st.text(), st.integers(min_value=0))
def test_pieces_of_a_stream_are_as_harmless_as_the_whole(text: str, cut: int) -> None:
    """Wherever a text is cut, nothing is left that a terminal obeys, and what is printable stays as it was."""
    at = cut % (len(text) + 1)
    shown = printable(text[:at], body=True) + printable(text[at:], body=True)
    assert not [
        one for one in shown if unicodedata.category(one) in ("Cc", "Cs") and one not in "\n\t\r"
    ]
    assert printable(shown, body=True).replace("\\x0d", "\r") == shown.replace("\\x0d", "\r")
    assert "\r" not in shown.replace("\r\n", "")
