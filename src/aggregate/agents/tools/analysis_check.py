"""What analysis code may not say, by its syntax tree: names and imports, never words inside a text (D-90, D-92)."""

import ast
from collections.abc import Iterator
from typing import Final

MODULES: Final = frozenset(
    {"os", "sys", "subprocess", "socket", "shutil", "ctypes", "importlib", "builtins", "multiprocessing", "threading",
     "signal", "pty", "resource", "pathlib", "inspect", "gc", "pickle", "code", "runpy"}
)  # fmt: skip
CALLS: Final = frozenset({"eval", "exec", "open", "file", "compile", "input", "breakpoint"})


def dangerous_pattern(tree: ast.AST) -> str | None:
    """Return the first forbidden thing in reading order (``import os``, ``open(``, ``.__class__``), or ``None``."""
    own = assigned_names(tree)
    patterns = [
        (getattr(node, "lineno", 0), getattr(node, "col_offset", 0), pattern)
        for node in ast.walk(tree)
        for pattern in _patterns(node, own)
    ]
    return min(patterns)[2] if patterns else None


def _patterns(node: ast.AST, own: frozenset[str]) -> Iterator[str]:
    """Yield what is forbidden about a node; a name that the code assigns itself (``for file in ...``) is its own."""
    match node:
        case ast.Import():
            packages = [alias.name.split(".")[0] for alias in node.names]
            yield from (f"import {package}" for package in packages if package in MODULES)
        case ast.ImportFrom():
            package = (node.module or "").split(".")[0]
            if node.level or package in MODULES:
                yield f"import {package or '.'}"
        case ast.Name(id="__import__"):
            yield "__import__"
        case ast.Name() if node.id in CALLS and node.id not in own:
            yield f"{node.id}("
        case ast.Name() if _dunder(node.id):
            yield node.id
        case ast.Attribute() if _dunder(node.attr):
            yield f".{node.attr}"


def _dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def assigned_names(tree: ast.AST) -> frozenset[str]:
    """Return every name that the code gives a value to."""
    return frozenset(
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )
