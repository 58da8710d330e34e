"""What each file may show at most, and what showing some of its lines stands for."""

from pathlib import Path
from typing import Any

import pytest

from aggregate import (
    Budget,
    FileChoice,
    Task,
    ViewMode,
    build_markdown,
    count,
    open_project,
    request_for,
)
from aggregate.base import Level
from aggregate.prompt import fit_prompt
from aggregate.prompt.corpus import rank_files
from aggregate.prompt.fit import Candidates, OpenedFile, ShownLines, level_of, shown_choice
from tests.projects import project
from tests.prompt.composing import composed, kept_nothing

MODULE = '''"""Words."""


def first(x):
    """Do it."""
    y = x
    return y


class Box:
    def get(self):
        return 1
'''
TITLES = "# One\n\ntext of one\n\n## Two\n\ntext of two\n"
ALL = (1, 1 << 31)


def candidates(folder: Path, path: str, text: str, mode: str = "full", **asked: Any) -> Candidates:
    project(folder, {path: text})
    files = {"base_dir": str(folder), "paths": [{"path": path, "view_mode": mode}]}
    request, index = request_for(open_project({"files": files}), **asked), kept_nothing()
    return Candidates(request, rank_files(request, index=index), index=index)


def lines(found: Candidates) -> OpenedFile:
    known = found.open(0)
    assert known is not None
    return known


def level(found: Candidates, state: ShownLines) -> Level:
    return level_of(found, found.by_number[0], bytes(state.marks))


def shown(found: Candidates, *runs: tuple[int, int]) -> ShownLines:
    state = ShownLines(lines(found))
    state.show(state.new_runs(runs))
    return state


def test_what_may_not_be_shown_is_no_candidate(tmp_path: Path) -> None:
    """A file without a level that it may have is none (rules B-3, T-6)."""
    assert candidates(tmp_path, "a.py", MODULE, "none").in_rank_order == []


@pytest.mark.parametrize(
    ("path", "text", "runs", "level", "definitions"),
    [
        ("a.py", MODULE, (), "left out", ()),
        ("a.py", MODULE, ((4, 4),), "outline", ()),
        ("a.py", MODULE, ((4, 4), (10, 11)), "outline", ()),
        ("a.py", MODULE, ((4, 6),), "focused", ()),
        ("a.py", MODULE, ((4, 7),), "focused", ("first",)),
        ("a.py", MODULE, ((11, 12),), "focused", ("Box.get",)),
        ("a.py", MODULE, ((10, 12),), "focused", ("Box", "Box.get")),
        # Blank lines do not count.
        ("a.py", MODULE, ((1, 1), (4, 7), (10, 12)), "full", ("first", "Box", "Box.get")),
        ("a.md", TITLES, ((1, 1), (5, 5)), "outline", ()),
        ("a.md", TITLES, ((1, 3),), "focused", ()),
        ("a.xyz", "one\ntwo\n", ((2, 2),), "focused", ()),
    ],
)
def test_levels(
    tmp_path: Path,
    path: str,
    text: str,
    runs: tuple[tuple[int, int], ...],
    level: str,
    definitions: tuple[str, ...],
) -> None:
    """Signatures or headings are an outline, more is focused, all but blank lines is in full (rules A-1, B-2)."""
    found = candidates(tmp_path, path, text)
    marks = bytes(shown(found, *runs).marks)
    hidden = FileChoice(path, path, Level.LEFT_OUT, Level.FULL)
    choice = shown_choice(found, hidden, found.by_number[0], marks, marks)
    assert (choice.level, choice.definitions) == (level, definitions)


@pytest.mark.parametrize("mode", ["skeleton", "outline", "summary"])
def test_the_most_is_the_view_of_the_entry(tmp_path: Path, mode: str) -> None:
    """All lines of a view are its level; some of a skeleton are an outline, of a digest there are all (rules B-2, B-3)."""
    found = candidates(tmp_path, "a.py", MODULE, mode)
    assert level(found, shown(found, ALL)) == mode
    assert "y = x" not in found.rendered(0, shown(found, ALL)).view.text
    part = shown(found, (4, 4))
    if mode == ViewMode.SKELETON:
        assert level(found, part) == "outline"
    assert (mode == ViewMode.SUMMARY) <= all(part.marks)


def test_a_file_as_it_is_shown(tmp_path: Path) -> None:
    """The chosen lines stand in order with dots between, each with its origin (rules B-2, L-1)."""
    found = candidates(tmp_path, "a.py", MODULE)
    rendered = found.rendered(0, shown(found, (4, 4), (11, 12)))
    assert rendered.view.text == (
        "# ...3\ndef first(x):\n    # ...3\n# ...3\n    def get(self):\n        return 1\n"
    )
    places = [(span.source_start, span.source_end) for span in rendered.view.spans]
    assert places == [(1, 3), (4, 4), (5, 7), (8, 10), (11, 12)]
    assert found.rendered(0, shown(found, ALL)).view.text == MODULE


@pytest.mark.parametrize("text", ["text\n", "`````````````\n", "a\n~~~\nb"])
def test_the_frame_is_what_stands_around_the_lines(tmp_path: Path, text: str) -> None:
    """With the lines' own tokens it is never below the block's, whatever fence the text needs (rule B-1)."""
    found = candidates(tmp_path, "a.md", text)
    rendered = found.rendered(0, shown(found, ALL))
    heading, block = build_markdown(tmp_path, ["a.md"], tmp_path, [], []).split("\n\n", 1)
    around = lines(found).frame + count("".join(lines(found).texts))
    assert heading == "## Files"
    assert (rendered.view.text, around >= count(block + "\n\n")) == (text, True)


def test_one_ranking_is_fitted_to_one_budget_after_another(tmp_path: Path) -> None:
    """Whatever was fitted before, the prompt and what is told of it are those of a fresh composition (rule B-1)."""
    folder = project(tmp_path, {f"{name}.py": MODULE * 3 for name in "abc"} | {"d.md": TITLES})
    loaded = open_project({"files": {"base_dir": str(folder), "paths": ["*"]}})
    requests = {
        tokens: request_for(loaded, task="first of Box", budget=tokens)
        for tokens in (90, 300, 5_000)
    }
    index = kept_nothing()
    files = Candidates(requests[90], rank_files(requests[90], index=index), index=index)
    for tokens in (300, 5_000, 90, 300, 90, 5_000):
        fitted, fresh = fit_prompt(requests[tokens], files), composed(requests[tokens])
        assert fitted.prompt == fresh.prompt
        assert fitted.choices == fresh.choices
        assert fitted.warnings == fresh.warnings


LEADS = '''
def documented(x):
    """Say what it is for."""
    y = x
    y += 1
    y += 2
    return y


# Say it above. And more
# of it here.
def commented(x):
    y = x
    y += 1
    y += 2
    return y


def plain(x):
    y = x
    y += 1

    y += 2
    return y


def long(x):
    values = [
        1, 2, 3,
        4, 5, 6,
        7, 8, 9,
        10, 11, 12,
        13, 14, 15,
        16, 17, 18,
        19, 20, 21,
    ]
    return values


def begun(x):
    y = x
    y += (
        1 + 1 +
        2 + 2 +
        3 + 3 +
        4 + 4 +
        5 + 5 +
        6 + 6 +
        7 + 7
    )
    return y
'''


def test_a_folded_definition_says_what_it_is_for(tmp_path: Path) -> None:
    """A docstring, a comment's first sentence, or the first whole lines of the body stand with a signature (rule B-2)."""
    task = Task("change what `documented` and `commented` return")
    found = candidates(tmp_path, "a.py", LEADS, task=task, budget=Budget(2_000))
    heads = shown(found, (2, 2), (12, 12), (19, 19), (27, 27), (40, 40))
    content = found.rendered(0, heads).view.text
    assert content == (
        "\n"
        'def documented(x):\n    """Say what it is for."""\n    # ...6\n'
        "# Say it above. And more\n# of it here.\ndef commented(x):\n    # ...6\n"
        "def plain(x):\n    y = x\n    y += 1\n    # ...5\n"
        "def long(x):\n    # ...12\n"
        "def begun(x):\n    y = x\n    # ...10\n"
    )


BRACES = """\
namespace Demo
{
    /** @inheritDoc */
    public class Box
    {
        // Say it. And
        // more.
        public int Area(int side)
        {
            var area = side;
            area *= side;
            area += 1;
            area += 2;
            area += 3;
            return area;
        }

        public int Grow(int side)
        {
            var area = side;
            area *= side;
            area += 1;
            area += 2;
            area += 3;
            return area;
        }
    }
}
"""


def test_a_container_is_not_described_by_its_first_member(tmp_path: Path) -> None:
    """A brace, a tag and a member's comment describe nothing; a comment is not cut before its last line (rule B-2)."""
    task = Task("change what `Area` returns")
    found = candidates(tmp_path, "a.cs", BRACES, task=task, budget=Budget(2_000))
    assert "Say it" not in found.rendered(0, shown(found, (1, 1), (4, 4))).view.text
    content = found.rendered(0, shown(found, (8, 8), (18, 18))).view.text
    assert "        // Say it. And\n        // more.\n        public int Area" in content
    assert "            area += 1;\n            // ...3\n" in content
