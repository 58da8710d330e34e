"""Python through the views that parse."""

import ast
import re
from collections.abc import Mapping
from textwrap import dedent

import pytest

from aggregate import ASTParser, View, ViewMode
from aggregate.code.views.outline import without_bodies
from tests.viewing import language_called, viewed

MARKED = '''\
#!/usr/bin/env python
"""The module."""
from __future__ import annotations

import os, sys as system
from typing import (
    TYPE_CHECKING,
    overload,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

LIMIT: int = 10
TABLE = {
    "a": lambda x: x + 1,
}


class Shape[T](Base, metaclass=Meta):
    """A shape."""

    sides: int = 0

    class Meta:
        ordering = ["name"]

    def __init__(
        self,
        name: str,  # shown to users
        *,
        sides: int = 3,
    ) -> None:
        ⟦# comment above the first statement
        self.name = name
        # comment at the end⟧

    @property
    @cached(maxsize=None)
    def area(self) -> float:
        """Return the area.

        In square metres.
        """
‹
        # how
›        ⟦return self.width * self.height⟧

    @overload
    def scale(self, by: int) -> Shape: ...
    @overload
    def scale(self, by: float) -> Shape: ...
    def scale(self, by): ⟦return self._scaled(by)⟧


try:
    import fast
except ImportError:
    async def fast(data: bytes) -> bytes:  # slow
        ⟦def inner():
            """Not shown."""
        return data⟧
else:
    @decorator
    class Fast: pass

def short(): """Said at once."""; ⟦return 1⟧
def tiny(): 0
'''
"""A module: what its skeleton leaves out stands between marks, for some of it three dots."""
SOURCE = re.sub("[⟦⟧‹›]", "", MARKED)
SKELETON = re.sub("⟦[^⟧]*⟧", "...", re.sub("‹[^›]*›", "", MARKED))


def view_of(mode: ViewMode, text: str = SOURCE, *, mask: Mapping[str, str] | None = None) -> View:
    """Return a view of a Python text."""
    return viewed("shape.py", text, mode, mask=mask or {})


def test_skeleton() -> None:
    """Only bodies go; signatures over many lines, bases, decorators, docstrings and indentation stay (M-33)."""
    assert view_of(ViewMode.SKELETON).text == SKELETON


def test_the_skeleton_keeps_crlf() -> None:
    """Line ends are the file's own, also beside a docstring (M-X18)."""
    crlf = view_of(ViewMode.SKELETON, SOURCE.replace("\n", "\r\n")).text
    assert crlf == SKELETON.replace("\n", "\r\n")


def test_every_line_knows_where_it_comes_from() -> None:
    """A kept line maps to its own line of the file, a placeholder to the first line of what it stands for."""
    view = view_of(ViewMode.SKELETON)
    source, shown = SOURCE.splitlines(), view.text.splitlines()
    for number, line in enumerate(shown, start=1):
        origin = view.source_line(number)
        assert origin is not None
        if "..." not in line:
            assert source[origin - 1] == line
    assert (
        view.source_line(shown.index("        ...") + 1)
        == source.index("        # comment above the first statement") + 1
    )


def test_outline() -> None:
    """A row per definition outside of functions, decorators included, whatever holds it (M-34)."""
    assert view_of(ViewMode.OUTLINE).text == dedent(
        """\
        20-53  class Shape[T](Base, metaclass=Meta)
        25-26    class Meta
        28-36    def __init__(self, name: str, *, sides: int = 3) -> None
        38-47    @property @cached(maxsize=None) def area(self) -> float
        49-50    @overload def scale(self, by: int) -> Shape
        51-52    @overload def scale(self, by: float) -> Shape
        53-53    def scale(self, by)
        59-62  async def fast(data: bytes) -> bytes
        64-65  @decorator class Fast
        67-67  def short()
        68-68  def tiny()
        """
    )


@pytest.mark.parametrize(
    ("mask", "text"),
    [
        ({"Shape.Meta": "def"}, 'class Shape[T](Base, metaclass=Meta):\n    ...\n    class Meta:\n        ordering = ["name"]\n    ...'),
        ({"Shape::scale": "sig"}, "class Shape[T](Base, metaclass=Meta):\n    ...\n    @overload\n    def scale(self, by: int) -> Shape:\n    @overload\n    def scale(self, by: float) -> Shape:\n    def scale(self, by):"),
        ({"area": "sig"}, "class Shape[T](Base, metaclass=Meta):\n    ...\n    @property\n    @cached(maxsize=None)\n    def area(self) -> float:\n    ..."),
        ({"Shape.short": "def"}, "ERROR: symbol not found: Shape.short in shape.py"),
        ({"short": "all"}, 'ERROR: unknown mask "all" for short in shape.py: use def, sig or hide'),
        ({"short": "hide"}, ""),
    ],
)  # fmt: skip
def test_masks(mask: dict[str, str], text: str) -> None:
    """Paths of names with dots or colons, overloads all, decorators included, below the class (M-35, M-X15)."""
    assert view_of(ViewMode.MASKED, mask=mask).text == text


def test_a_syntax_error_costs_only_its_place() -> None:
    """The definitions around it keep their signatures and lose their bodies (M-X19)."""
    broken = "def one(a: int) -> int:\n    return a + 1\n\ndef two(:\n    return 2 +\n\ndef three(b: str) -> str:\n    return b * 3\n"
    text = view_of(ViewMode.SKELETON, broken).text
    assert text.startswith("def one(a: int) -> int:\n    ...\n")
    assert "def three(b: str) -> str:\n    ...\n" in text
    assert "two" in text


@pytest.mark.parametrize(
    "text",
    ["", "\n", "   \n\t\n", "x = 1", "def f(", "\f\n", "\x00", "def f():\n\treturn 1", "é = 'ü'\n"],
)
def test_odd_texts_never_fail(text: str) -> None:
    """Empty, blank, cut off or odd: every parsing view answers, and a skeleton is never longer (M-33, M-X19)."""
    assert len(view_of(ViewMode.SKELETON, text).text) <= len(text)
    view_of(ViewMode.OUTLINE, text)
    view_of(ViewMode.MASKED, text, mask={"f": "def"})


def test_non_ascii_text_keeps_its_length() -> None:
    """Characters of several bytes count once when a placeholder is weighed against a body (M-33)."""
    assert view_of(ViewMode.SKELETON, "def f(): é\n").text == "def f(): é\n"
    assert view_of(ViewMode.SKELETON, "def f(): ééé\n").text == "def f(): ...\n"


def test_parser_for_hosts() -> None:
    """``ASTParser`` gives the same texts, definitions and signatures (M-17)."""
    parser = ASTParser("python")
    assert parser.get_skeleton(SOURCE) == SKELETON
    assert parser.get_code_outline("def f(a,\n      b):\n  return a\n") == "1-3  def f(a, b)\n"
    assert parser.get_definition(SOURCE, "tiny") == "def tiny(): 0"
    assert parser.get_signature(SOURCE, "Shape.Meta") == "    class Meta:"
    with pytest.raises(
        Exception, match='there is no language "cobol": known languages: python, c, cpp,'
    ):
        ASTParser("cobol")


def test_the_result_parses() -> None:
    """The skeleton of valid Python is valid Python, with every function outside of functions (M-33)."""
    source = SOURCE.replace("class Shape[T]", "class Shape")
    text, _ = without_bodies(source, language_called("python"))
    names = {
        node.name
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert names == {"__init__", "area", "scale", "fast", "short", "tiny"}
