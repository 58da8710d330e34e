"""Measure how code reads: sizes, density, names. One column for each folder of Python files.

A bound name is one that an assignment, a loop, a ``with``, a
comprehension or a parameter gives; fillers are those that say nothing of what they hold.
"""

import ast
import io
import tokenize
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from statistics import median

WIDE = 100
FILLERS = {
    "one", "found", "told", "shown", "kept", "there", "first", "some", "given", "said", "it", "thing",
}  # fmt: skip


class Measures:
    """The figures of one folder."""

    def __init__(self, folder: Path) -> None:
        self._modules: list[int] = []
        self._bodies: list[int] = []
        self._names: Counter[str] = Counter()
        self._stems: Counter[str] = Counter()
        self._classes: Counter[str] = Counter()
        self._code = self._comments = self._wide = self._comprehensions = self._ternaries = 0
        for path in sorted(folder.rglob("*.py")):
            self._add(path)

    def _add(self, path: Path) -> None:
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        self._modules.append(len(text.splitlines()))
        if path.stem not in {"__init__", "__main__"}:
            self._stems[path.stem] += 1
        prose = _prose_lines(tree)
        for number, line in enumerate(text.splitlines(), 1):
            if line.strip() and not line.strip().startswith("#") and number not in prose:
                self._code += 1
                self._wide += len(line) > WIDE
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        self._comments += sum(token.type == tokenize.COMMENT for token in tokens)
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                self._bodies.append(_body_lines(node))
            elif isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
                self._comprehensions += 1
            elif isinstance(node, ast.IfExp):
                self._ternaries += 1
            elif isinstance(node, ast.ClassDef):
                self._classes[node.name.lstrip("_")] += 1
        self._names.update(_bound_names(tree))

    def rows(self) -> dict[str, str]:
        """Return the figures by their names."""
        bodies = sorted(self._bodies)
        named = sum(self._names.values())
        fillers = sum(count for name, count in self._names.items() if name.lstrip("_") in FILLERS)
        return {
            "lines": f"{sum(self._modules):,}",
            "lines of code": f"{self._code:,}",
            "modules": f"{len(self._modules)}",
            "module lines, median / max": f"{median(self._modules):.0f} / {max(self._modules)}",
            "body lines, median / p90 / max": f"{median(bodies):.0f} / {bodies[len(bodies) * 9 // 10]} / {bodies[-1]}",
            "comments per 100 lines of code": f"{100 * self._comments / self._code:.1f}",
            "comprehensions per 1,000 lines": f"{1000 * self._comprehensions / self._code:.0f}",
            "ternaries per 1,000 lines": f"{1000 * self._ternaries / self._code:.0f}",
            "code lines over 100 columns": f"{100 * self._wide / self._code:.1f} %",
            "names that say nothing": f"{100 * fillers / named:.1f} %",
            "module names used twice": f"{sum(count > 1 for count in self._stems.values())}",
            "class names used twice": f"{sum(count > 1 for count in self._classes.values())}",
        }


def _prose_lines(tree: ast.AST) -> set[int]:
    """Return the lines of all docstrings and other texts that stand for themselves."""
    lines: set[int] = set()
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            lines.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return lines


def _body_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return how many lines a function has behind its signature and its docstring."""
    body = (
        function.body[1:] if ast.get_docstring(function, clean=False) is not None else function.body
    )
    return (function.end_lineno or 0) - body[0].lineno + 1 if body else 0


def _bound_names(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.arg) and node.arg not in {"self", "cls"}:
            yield node.arg


def main(parser: ArgumentParser) -> None:
    """Print a table with a column for each folder."""
    parser.add_argument("folders", type=Path, nargs="+", metavar="FOLDER")
    folders = parser.parse_args().folders
    columns = [Measures(folder).rows() for folder in folders]
    width = max(len(name) for name in columns[0])
    print(" " * width, *(f"{folder.name:>16}" for folder in folders))
    for name in columns[0]:
        print(f"{name:{width}}", *(f"{column[name]:>16}" for column in columns))
