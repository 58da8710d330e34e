"""Names that the pages mention."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

import aggregate

ROOT = Path(__file__).parents[1]
# Pages for users. The map of the source names what lies behind the doors.
PAGES = sorted(
    path
    for path in (ROOT / "docs").rglob("*.md")
    if path.name != "architecture.md" and "examples" not in path.parts
)
SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
# A span that is one name, or one call with what it returns
NAMED = re.compile(r"(?:aggregate\.)?(\w+)(?:\((.*)\))?(?: -> (\w+))?")
IMPORT = re.compile(r"^from aggregate\.[\w.]+ import .*$", re.MULTILINE)
# Tools that a model calls by name, and a field of results and functions of which the contract states a property
OTHERS = {
    *("read_file", "replace_text", "run_command", "executeDataAnalysis", "getDateRangeTimestamps"),
    *("content_hash", "subagent_results"),
    *("count_prompt", "log_written_prompt", "select_files", "write_numbered"),
}


@cache
def defined() -> set[str]:
    """Return the classes and functions of the package; those of commands are not for import."""
    names = set()
    source = ROOT / "src" / "aggregate"
    for path in [path for path in source.rglob("*.py") if source / "cli" not in path.parents]:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef):
                names.add(node.name)
    return names


def mentioned(page: str) -> set[str]:
    """Return the names that a page speaks of as code: classes, functions by a call or a name of several words."""
    names = set()
    for match in map(NAMED.fullmatch, SPAN.findall(page)):
        if match is None:
            continue
        name, arguments, returned = match.groups()
        if arguments is not None or name[0].isupper() or "_" in name:
            names.add(name)
        names |= {word for word in (returned, *re.findall(r"\b[A-Z]\w+", arguments or "")) if word}
    return names


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_names_on_pages_are_public(path: Path) -> None:
    """Each class and function that a page mentions imports from ``aggregate``, and no page imports from elsewhere."""
    page = path.read_text(encoding="utf-8")
    names = mentioned(page) & defined() - OTHERS
    assert sorted(name for name in names if name not in aggregate.__all__) == []
    assert IMPORT.findall(page) == []
