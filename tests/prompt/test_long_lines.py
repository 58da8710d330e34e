"""Files with lines that no person writes, in prompts within a budget."""

from pathlib import Path

import pytest

from aggregate import Composition, Place, Task, compose_prompt, open_project, request_for
from aggregate.project.index import Index
from tests.projects import project

DATA = "QUJD" * 2_000
ICONS = f'''"""Icons."""
ICON = "{DATA}"


def render_icon(size):
    """Draw the icon."""
    return draw(ICON, size * 2)
'''
TABLE = f"const TABLE = [{'1234, ' * 3_000}];\n\nexport function lookUp(key) {{\n  return TABLE[key];\n}}\n"


def asked(folder: Path, task: Task, budget: int) -> Composition:
    made = open_project({"files": {"base_dir": str(folder), "paths": ["*"]}})
    request = request_for(made, with_history=False, task=task, budget=budget)
    return compose_prompt(request, index=Index(None, limit=1))


@pytest.mark.parametrize(
    ("name", "text", "symbol"), [("icons.py", ICONS, "render_icon"), ("table.js", TABLE, "lookUp")]
)
@pytest.mark.parametrize("budget", [300, 600, 2_000])
def test_what_stands_beside_a_long_line_is_shown(
    tmp_path: Path, name: str, text: str, symbol: str, budget: int
) -> None:
    """A definition beside an embedded picture or table is found and shown, by words and as a symbol (B-2, B-6)."""
    project(tmp_path, {name: text})
    body = text[text.index(symbol) :].rstrip()
    for task in (Task(f"mend {symbol}"), Task("mend it", symbols=(symbol,))):
        markdown = asked(tmp_path, task, budget).prompt.markdown
        assert body in markdown


@pytest.mark.parametrize("text", [ICONS, f'{{"a": "{DATA}"}}\n', "word " * 4_000])
def test_a_long_line_is_shortened_with_a_mark(tmp_path: Path, text: str) -> None:
    """The mark says how much is missing; such a line is no verbatim one, and a budget for all shows it whole."""
    project(tmp_path, {"a.py": text, "b.py": "x = 1  # " + "y" * 30_000})
    composed = asked(tmp_path, Task("what is in a"), 1_500)
    assert "characters left out]..." in composed.prompt.markdown
    number = next(n for n, line in enumerate(text.splitlines(), 1) if len(line) > 5_000)
    assert number not in composed.source_map.verbatim_lines("a.py")
    level = {choice.path: choice.level.value for choice in composed.choices}["a.py"]
    assert level == "focused"
    whole = asked(tmp_path, Task("what is in a"), 40_000).prompt.markdown
    assert text.rstrip() in whole


def test_a_file_that_is_pinned_is_whole(tmp_path: Path) -> None:
    """What the user points at as a file is shown as it is."""
    project(tmp_path, {"a.py": ICONS, "b.py": "x = 1  # " + "y" * 30_000})
    markdown = asked(tmp_path, Task("mend it", focus=(Place("a.py"),)), 6_000).prompt.markdown
    assert DATA in markdown
