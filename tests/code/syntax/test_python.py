"""Python through the views that parse, and the standard library's skeletons against Python's own parser."""

import ast
import re
import sysconfig
import tokenize
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import dedent

import pytest

from aggregate import ASTParser, View, ViewMode
from aggregate.base.text import line_count
from aggregate.code.syntax import Language
from aggregate.code.views import without_bodies
from tests.viewing import language_called, masked_of, outline_of, viewed

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
    with pytest.raises(Exception, match='unknown language "cobol": known are python, c, cpp,'):
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


STDLIB = Path(sysconfig.get_path("stdlib"))
SITE = Path(sysconfig.get_path("purelib"))
Function = ast.FunctionDef | ast.AsyncFunctionDef


def modules(folder: Path) -> list[Path]:
    """Return the modules below ``folder``, without installed packages."""
    return sorted(
        path
        for path in folder.rglob("*.py")
        if folder == SITE or not {"site-packages", "dist-packages"} & set(path.parts)
    )


def source_of(path: Path) -> str | None:
    """Return the text of a module, ``None`` for one that Python itself cannot read."""
    try:
        with tokenize.open(path) as file:
            text = file.read()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except (SyntaxError, UnicodeDecodeError, ValueError, RecursionError):
        return None
    return text


def declared(text: str) -> list[str]:
    """Return a row for every class and function outside of functions' bodies: its place, kind and whole signature."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return list(_rows(ast.parse(text), ""))


def _rows(node: ast.AST, place: str) -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Function):
            yield f"{place}{_function(child)}"
        elif isinstance(child, ast.ClassDef):
            yield f"{place}{_class(child)}"
            yield from _rows(child, f"{place}{child.name}.")
        else:
            yield from _rows(child, place)


def _function(node: Function) -> str:
    kind = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"{_decorators(node)}{kind} {node.name}({ast.unparse(node.args)}){returns}: {ast.get_docstring(node)!r}"


def _class(node: ast.ClassDef) -> str:
    bases = [ast.unparse(one) for one in (*node.bases, *node.keywords)]
    return f"{_decorators(node)}class {node.name}({', '.join(bases)}): {ast.get_docstring(node)!r}"


def _decorators(node: Function | ast.ClassDef) -> str:
    return "".join(f"@{ast.unparse(one)} " for one in node.decorator_list)


def statements(text: str) -> list[str]:
    """Return every statement outside of classes and functions, other than these, as Python reads it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        body = ast.parse(text).body
    compound = (ast.If, ast.Try, ast.With, ast.For, ast.While, ast.Match, ast.TryStar)
    return [
        ast.unparse(one) for one in body if not isinstance(one, (*compound, ast.ClassDef, Function))
    ]


def code(text: str) -> list[str]:
    """Return the lines that are no comments: one behind a body belongs to it once the body is a placeholder."""
    return [line for line in text.split("\n") if not line.lstrip().startswith("#")]


def check(path: Path) -> bool:
    """Check the skeleton of one module; return whether there was anything to check."""
    text = source_of(path)
    if text is None:
        return False
    language = language_called("python")
    assert isinstance(language, Language)
    skeleton, spans = without_bodies(text, language)
    assert len(skeleton.encode(errors="surrogatepass")) <= len(
        text.encode(errors="surrogatepass")
    ), path
    assert declared(skeleton) == declared(text), path
    assert statements(skeleton) == statements(text), path
    assert code(without_bodies(skeleton, language)[0]) == code(skeleton), path
    lines, shown = text.split("\n"), skeleton.split("\n")
    for span in spans:
        if span.end - span.start == span.source_end - span.source_start:
            pairs = zip(
                shown[span.start - 1 : span.end],
                lines[span.source_start - 1 : span.source_end],
                strict=True,
            )
            assert all(
                one == other or other.startswith(one.partition("...")[0]) for one, other in pairs
            ), path
    assert [line for span in spans for line in range(span.start, span.end + 1)] == list(
        range(1, line_count(skeleton) + 1)
    )
    return True


def test_a_sample_of_the_standard_library() -> None:
    """Every class and function keeps signature and docstring; the result parses and is its own skeleton (M-33)."""
    small = [path for path in modules(STDLIB) if path.stat().st_size < 60_000]
    sample = small[:: max(len(small) // 10, 1)]
    assert sum(map(check, sample)) > 7


def test_a_comment_behind_a_docstring_stays_on_its_line() -> None:
    """The placeholder goes on the next line, where it is a statement of its own (M-33)."""
    parser = ASTParser("python")
    for end in ("\n", "\r\n"):
        source = 'def f():\n    """Doc."""  # noqa: D200\n\n    return 1\n'.replace("\n", end)
        assert parser.get_skeleton(source) == source.replace(f"{end}    return 1", "    ...")
    assert parser.get_skeleton('def f():\n    "Doc."; return 1\n') == 'def f():\n    "Doc."; ...\n'
    assert parser.get_skeleton('def f():\n    "Doc."  # all\n') == 'def f():\n    "Doc."  # all\n'


@pytest.mark.parametrize(
    "body",
    [
        '    """Doc."""\n#   old()\n    return 1\n',
        "#   old()\n    return 1\n",
        '#   old()\n    """Doc."""\n    return 1\n',
        '  # odd\n    """Doc."""\n        # odd\n    return 1\n',
    ],
)
def test_comments_at_another_depth_do_not_move_the_body(body: str) -> None:
    """Code that is commented out at the margin, above or below a docstring, leaves valid Python behind (M-33)."""
    doc = '    """Doc."""\n' * ("Doc" in body)
    assert (
        ASTParser("python").get_skeleton(f"def f():\n{body}x = 1\n")
        == f"def f():\n{doc}    ...\nx = 1\n"
    )


@pytest.mark.slow
@pytest.mark.parametrize("folder", [STDLIB, SITE], ids=["stdlib", "installed"])
def test_all_that_is_installed(folder: Path) -> None:
    """The same for every module of the standard library and of the installed packages (M-33)."""
    assert sum(map(check, modules(folder))) > 100


def test_cells_of_a_percent_script() -> None:
    """Each cell has a row with its definitions below it, whose names stay their own (M-34)."""
    text = (
        "# %% Load data\nframe = read()\n\n# %% Fit\nclass Model:\n    def fit(self):\n"
        "        return 12345\n\n#%%\nModel().fit()\n"
    )
    assert outline_of("a.py", text) == (
        "1-2    # %% Load data\n4-7    # %% Fit\n5-7      class Model\n6-7        def fit(self)\n"
        "9-10   #%%\n"
    )
    assert masked_of("a.py", text, {"Model.fit": "sig"}) == "def fit(self):"


@pytest.mark.parametrize("path", ["report.qmd", "report.Rmd"])
def test_headings_of_a_report_with_code(path: str) -> None:
    """Quarto and R Markdown are Markdown with code in fences (M-34)."""
    text = "---\ntitle: Report\n---\n\n# Data\n\n```{r}\n# not a heading\n```\n\n## Fit\n\nWords.\n"
    assert outline_of(path, text) == "5-13   # Data\n11-13    ## Fit\n"
