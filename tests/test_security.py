"""SECURITY.md: each promise names tests that exist."""

import ast
import re
from functools import cache
from pathlib import Path

PAGE = Path("SECURITY.md")


@cache
def functions(path: Path) -> set[str]:
    """Return the names of the tests in a module."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def test_each_promise_has_its_tests() -> None:
    """Every row of every table names at least one test, and every test that the page names is there."""
    text = PAGE.read_text(encoding="utf-8")
    rows = [
        line
        for line in text.splitlines()
        if line.startswith("| ") and not line.startswith("| attack")
    ]
    assert len(rows) > 70
    assert [row for row in rows if "`tests/" not in row] == []
    named = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", text)
    assert [(path, name) for path, name in named if not Path(path).is_file()] == []
    assert [
        (path, name) for path, name in named if name and name not in functions(Path(path))
    ] == []
