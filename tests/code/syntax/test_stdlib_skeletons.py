"""Skeletons of the standard library, against Python's own parser."""

import ast
import sysconfig
import tokenize
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from aggregate import ASTParser
from aggregate.base.text import line_count
from aggregate.code.syntax import Language
from aggregate.code.views.outline import without_bodies
from tests.viewing import language_called

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
