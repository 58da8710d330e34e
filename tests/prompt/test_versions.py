"""What is kept belongs to a version of all that computes it: nothing that takes part is left out of it."""

import ast
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

import aggregate

PACKAGE = Path(aggregate.__file__).parent
VIEW_MAKERS = (
    "code.views.rendering", "project.files.file_content", "base.redaction.secrets",
    "base.text.generated_files", "base.text.lines",
)  # fmt: skip
HISTORY_MAKERS = (
    "ranking.message_text",
    "ranking.terms",
    "base.redaction.secrets",
    "project.git.git_history",
)
ANALYSIS_MAKERS = (
    "ranking.files.analyse", "ranking.files.analysis", "base.redaction.secrets",
    "project.files.file_content", "base.text.generated_files", "base.text.lines",
)  # fmt: skip
TOKEN_MAKERS = ("base.tokens.counter",)
CARRIERS = ("base.concurrency.", "base.disk.programs")
"""Modules that carry a call to a child process, and change nothing of its result."""


def imports(module: str) -> Iterator[str]:
    """Yield the full names of all that a module of ours imports to run, also within functions."""
    place = PACKAGE.joinpath(*module.split("."))
    path = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    waiting: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        waiting += ast.iter_child_nodes(node)
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{name.name}" for name in node.names)
            offered = behind_door(node.module)
            yield from (offered[name.name] for name in node.names if name.name in offered)


@cache
def behind_door(package: str) -> dict[str, str]:
    """Return the modules that the names come from which the door of one of our packages offers."""
    path = PACKAGE.joinpath(*package.split(".")[1:]) / "__init__.py"
    if package.split(".")[0] != "aggregate" or not path.is_file():
        return {}
    tables = [
        ast.literal_eval(node)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Dict)
    ]
    return {
        name: f"{package}.{module}"
        for table in tables
        for module, names in table.items()
        for name in names.split()
    }


def closure(makers: Sequence[str]) -> tuple[set[str], set[str]]:
    """Return the modules of ours, and the libraries of others, that take part where ``makers`` do."""
    ours, libraries = set(makers), set[str]()
    waiting = [*makers]
    while waiting:
        for name in imports(waiting.pop()):
            top, _, module = name.partition(".")
            place = PACKAGE.joinpath(*module.split("."))
            if top != "aggregate":
                libraries.add(top)
            elif (
                module not in ours
                and not module.startswith(CARRIERS)
                and place.with_suffix(".py").is_file()
            ):
                ours.add(module)
                waiting.append(module)
    return ours, libraries - set(sys.stdlib_module_names)


@pytest.mark.parametrize(
    ("keeper", "what", "makers"),
    [
        ("prompt.files.file_rendering", "view", VIEW_MAKERS),
        ("prompt.corpus.file_groups", "analysis", ANALYSIS_MAKERS),
        ("project.index.rows", "token", TOKEN_MAKERS),
        ("prompt.corpus.commit_history", "history", HISTORY_MAKERS),
    ],
)
def test_all_that_computes_is_in_the_version(keeper: str, what: str, makers: Sequence[str]) -> None:
    """Each module that is imported where views are made, tokens counted or commits read changes what they are kept under (I-1)."""
    kept = vars(import_module(f"aggregate.{keeper}"))
    code, libraries = (kept[f"{what.upper()}_{part}"] for part in ("CODE", "LIBRARIES"))
    modules, imported = closure(makers)
    assert len(modules) > len(makers)
    assert [name for name in sorted(modules) if not f"{name}.".startswith(_prefixes(code))] == []
    assert imported <= set(libraries)
    assert kept[f"{what}_version"]()  # no name of what computes is mistyped


def _prefixes(code: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"{name}." for name in code)
