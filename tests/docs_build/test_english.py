"""Figures of the English in the source code, and the page of all messages."""

from pathlib import Path

import pytest
from docs_build.english import (
    LIMITS,
    SOURCE,
    Module,
    TextKind,
    assigned_names,
    figures,
    message_reference,
    modules,
    report,
    texts_of,
)

MODULE = '''"""Tell what is told of those that nobody asked for."""

import re

PATTERN = re.compile("this is no message")
LIMIT = 3  # of which nothing is known
"""Most files."""


def load(told: str) -> None:
    """Return the files."""
    query = "SELECT path FROM files"
    raise ValueError(f"{told}: there is no such file of {LIMIT + 1}")
'''


@pytest.fixture
def module(tmp_path: Path) -> Module:
    (tmp_path / "a.py").write_text(MODULE, encoding="utf-8")
    return next(modules(tmp_path))


def test_texts_of_a_module(module: Module) -> None:
    """Docstrings, comments and messages are found; patterns and statements of SQL are not messages."""
    rows = [(text.kind, text.line, text.text) for text in texts_of(module)]
    assert rows == [
        (TextKind.DOCSTRING, 1, "Tell what is told of those that nobody asked for."),
        (TextKind.DOCSTRING, 7, "Most files."),
        (TextKind.DOCSTRING, 11, "Return the files."),
        (TextKind.COMMENT, 6, "of which nothing is known"),
        (TextKind.MESSAGE, 13, "{told}: there is no such file of {LIMIT}"),
    ]


def test_figures_of_a_module(module: Module) -> None:
    """Each figure counts its words: per 1,000 words, in percent, or as a median."""
    names = list(assigned_names(module))
    assert sorted(names) == ["LIMIT", "PATTERN", "query", "told"]
    values = figures(list(texts_of(module)), names)
    assert values.keys() == LIMITS.keys()
    words = 10 + 2 + 3 + 5
    assert values["what"] == 1_000 / words
    assert values["tell"] == 2_000 / words
    assert values["odd turns"] == 3_000 / words  # what is, nobody, of which
    assert values["words of a first line"] == 3
    assert values["first lines with two relative pronouns"] == 33.3
    assert values["names without a noun"] == 25


def test_the_source_is_within_its_limits() -> None:
    """The check command fails where the English falls behind."""
    lines, is_within_limits = report()
    assert is_within_limits, lines


def test_the_page_lists_messages_by_module() -> None:
    """Everybody can proofread the program at one go."""
    page = message_reference(SOURCE / "agents")
    assert "\n## tools/registry\n" in page
    assert "- `Tool not found: {name}`" in page
