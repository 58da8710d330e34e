"""What .gitattributes say of generated files: as git says it, and within limits."""

import os
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from aggregate.project.git import AttributesReader
from aggregate.project.git.gitattributes import GeneratedMarks
from aggregate.project.paths.ignore_rules import MOST_PATTERNS
from tests.project.repository import git
from tests.projects import project

FILES = ["a.py", "b c.py", "d/a.py", "d/e/a.go", "d/e/é.go", "#x", "lib/a.min.js"]
PATTERNS = st.sampled_from(
    [
        "*", "*.py", "a.py", "/a.py", "d/", "d/**", "d/*", "e/*.go", "**/e/*", "lib", "[ab]*", "?.py", "!a.py",
        '"open', "#x", '"#x"', '"b c.py"', '"d/e/\\303\\251.go"',
    ]
)  # fmt: skip
_NAME = "linguist-generated"
ATTRIBUTES = st.sampled_from(
    [
        _NAME,
        f"-{_NAME}",
        f"!{_NAME}",
        f"{_NAME}=true",
        f"{_NAME}=false",
        "made", "-made", "text", "linguist-vendored", "diff=generated",
    ]
)  # fmt: skip
LINES = st.builds(
    lambda pattern, attributes: " ".join((pattern, *attributes)),
    PATTERNS,
    st.lists(ATTRIBUTES, max_size=3),
)
MACRO = st.sampled_from(
    ["[attr]made linguist-generated=true diff=x", "[attr]made -linguist-generated", "# none"]
)


def as_git_says(folder: Path) -> dict[str, bool]:
    """Return what git itself says of the attribute, as marks."""
    output = git(folder, "check-attr", "-z", "linguist-generated", "--", *FILES)
    fields = os.fsdecode(output).split("\0")[:-1]
    values = dict(zip(fields[::3], fields[2::3], strict=True))
    return {
        path: value in ("set", "true") for path, value in values.items() if value != "unspecified"
    }


@settings(max_examples=30)
@given(MACRO, st.lists(LINES, max_size=4), st.lists(LINES, max_size=3))
def test_marks_are_those_of_git(
    tmp_path_factory: pytest.TempPathFactory, macro: str, above: list[str], below: list[str]
) -> None:
    """Order, nesting, quotes, macros and values count as ``git check-attr`` has them (M-60)."""
    folder = tmp_path_factory.mktemp("r")
    files = {".gitattributes": "\n".join([macro, *above]), "d/.gitattributes": "\n".join(below)}
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    git(folder, "init", "-q")
    assert AttributesReader(str(folder)).marks(FILES) == as_git_says(folder)


def test_what_cannot_be_used_is_told(tmp_path: Path) -> None:
    """A link is not followed, and a file with too many rules is named and not used; others count."""
    rules = "\n".join(f"{i}*{i}?x linguist-generated" for i in range(MOST_PATTERNS + 1))
    project(
        tmp_path, {"p/many/.gitattributes": rules, "p/.gitattributes": "*.py linguist-generated\n"}
    )
    project(tmp_path, {"outside": "* linguist-generated\n", "p/linked/x.c": ""})
    (tmp_path / "p/linked/.gitattributes").symlink_to(tmp_path / "outside")
    reader = AttributesReader(str(tmp_path / "p"))
    assert reader.marks(["many/a.py", "many/1x1yx", "linked/x.c"]) == {"many/a.py": True}
    assert [(path, reason[:8]) for path, reason in reader.problems] == [
        ("many/.gitattributes", "not used")
    ]


def test_a_deep_tree_ends(tmp_path: Path) -> None:
    """A path of thousands of folders is asked about without recursion."""
    deep = "d/" * 5_000 + "a.py"
    assert AttributesReader(str(tmp_path)).marks([deep]) == {}


def test_a_long_line_is_ignored() -> None:
    """A line of more than 2,047 characters says nothing, as in git."""
    line = "*.py" + " " * 2_030 + "linguist-generated"
    assert GeneratedMarks().below("", [line]).decide("a.py") is None
    assert GeneratedMarks().below("", [line[:4] + line[40:]]).decide("a.py") is True
