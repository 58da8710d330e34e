"""The context of a Tier 3 worker."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from aggregate import build_file_items, build_markdown_from_items, build_tier3_context, run
from aggregate.prompt.asking import focus_paths, is_named
from tests.projects import project

CODE = "def work():\n    return 1 + 1\n"
SKELETON = "def work():\n    ...\n"


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """A project in three languages with prose."""
    return project(tmp_path, {"a.py": CODE, "data.py": CODE, "lib/b.py": CODE, "x.txt": "plain\n"})


def tier3(base: Path, files: list[Any], *focus: str) -> str:
    """Compose a Tier 3 context of ``files`` alone."""
    return build_tier3_context(build_file_items(base, files), base, [], [], list(focus))


def test_build_tier3_context_exists(base: Path) -> None:
    """The section has its own heading and the focus file its raw text; the rest is as always (M-12, M-53)."""
    items = build_file_items(base, ["a.py", "x.txt"])
    assert build_tier3_context(items, base, ["shot.png"], ["hello"], ["a.py"]) == (
        "## Files (Tier 3 - Focused)\n\n"
        f"### File a.py\n\n```python\n{CODE}```\n\n"
        "### File x.txt\n\n```text\nplain\n```\n\n"
        "## Screenshots\n\n![shot.png](shot.png) (missing)\n\n"
        "## Discussion History\n\n### Discussion Excerpt 1\n\nhello"
    )


def test_build_tier3_context_ast_skeleton(base: Path) -> None:
    """Python out of focus is shown by its skeleton, whatever its view mode; never by a summary (M-53)."""
    text = tier3(base, ["a.py", {"path": "data.py", "view_mode": "summary"}], "a.py")
    assert f"### File a.py\n\n```python\n{CODE}```" in text
    assert f"### File data.py\n\n```python\n{SKELETON}```" in text


def test_c_out_of_focus_is_shown_by_its_outline(base: Path) -> None:
    """C and C++ out of focus are shown by signatures (M-53)."""
    project(base, {"m.c": "int add(int a, int b)\n{\n  return a + b;\n}\n"})
    text = tier3(base, ["m.c"])
    assert "int add(int a, int b)" in text
    assert "return a + b" not in text


def test_build_tier3_context_scaling(base: Path) -> None:
    """Each file is parsed once: a hundred files give a hundred blocks, in order (M-18 names the scope)."""
    project(base, {f"many/f{i:03}.py": CODE for i in range(100)})
    text = tier3(base, ["many/*.py"], "f007.py")
    assert text.count(f"```python\n{SKELETON}```") == 99
    assert text.count(f"### File many/f007.py\n\n```python\n{CODE}```") == 1


def test_tiered_context_by_tier_field(base: Path) -> None:
    """A legacy entry with tier 3, and one forced to full, are shown raw (M-X11, M-53)."""
    text = tier3(
        base,
        [
            {"path": "a.py", "tier": 3},
            {"path": "data.py", "force_full": True},
            {"path": "lib/b.py"},
        ],
    )
    assert text.count(CODE) == 2
    assert text.count(SKELETON) == 1


def test_build_file_items_with_tiers(base: Path) -> None:
    """Records carry the tier of their entry, ``None`` where there is none (M-X11)."""
    items = build_file_items(
        base, [{"path": "a.py", "tier": 3}, {"path": "data.py", "tier": 1}, "x.txt"]
    )
    assert [item["tier"] for item in items] == [3, 1, None]


def test_build_files_section_with_dicts(base: Path) -> None:
    """Mappings written by hand compose like records."""
    assert build_markdown_from_items(
        [{"path": Path("a.py"), "content": "x = 1"}], base, [], []
    ) == ("## Files\n\n### File a.py\n\n```text\nx = 1\n```")


@pytest.mark.parametrize(
    ("path", "focus", "expected"),
    [
        ("src/a.py", "src/a.py", True),
        ("src/a.py", "a.py", True),
        ("src/a.py", "src", True),
        ("src/deep/a.py", "deep/a.py", True),
        ("src/a.py", "./src/a.py", True),
        ("src/a.py", "/home/me/project/src/a.py", True),
        ("src/data.py", "a.py", False),
        ("src/a.py", "rc/a.py", False),
        ("src/a.py", "a", False),
        ("src/a.py", "", False),
        ("a.py", "src/a.py", False),
    ],
)
def test_focus_matches_whole_components(path: str, focus: str, expected: bool) -> None:
    """Entry, path, name, then runs of path components; never parts of names (M-X7)."""
    assert is_named(path, path, [focus]) is expected


def test_an_explicit_focus_file_is_always_shown(base: Path) -> None:
    """Focus beats the mode none and auto_aggregate off (M-X8)."""
    files = [{"path": "a.py", "view_mode": "none"}, {"path": "data.py", "auto_aggregate": False}]
    assert tier3(base, files, "a.py", "data.py").count(CODE) == 2
    assert (
        tier3(base, files)
        == "## Files (Tier 3 - Focused)\n\n### File a.py (excluded)\n\n(context excluded)"
    )


def test_slices_are_found_again(base: Path) -> None:
    """A slice out of focus is resolved against the text as it is now (M-53, M-X9)."""
    from aggregate import FuzzyAnchor

    piece = FuzzyAnchor.create_slice("import os\n\n" + CODE, 3, 4, tag="work")
    text = tier3(base, [{"path": "a.py", "custom_slices": [piece]}])
    assert "--- [Slice: work] Lines 1-2: --- (moved: " in text
    assert CODE in text


def test_run_accepts_focus_and_tier(base: Path) -> None:
    """``run`` makes a Tier 3 context when it is asked to (M-X6)."""
    config = {
        "files": {"base_dir": str(base), "paths": ["a.py", "data.py"]},
        "output": {"output_dir": str(base / "o")},
    }
    focused, _, _ = run(config, focus_files=["a.py"])
    assert focused.startswith("## Files (Tier 3 - Focused)\n\n")
    assert (focused.count(CODE), focused.count(SKELETON)) == (1, 1)
    plain, _, _ = run(config, tier=3)
    assert plain.count(SKELETON) == 2


NAMES = st.lists(
    st.sampled_from(["a", "b", "a.py", "b.py", "..", ".", "*.py", ""]), min_size=1, max_size=4
)
PATHS = st.builds(
    lambda parts, slash, start: start + slash.join(parts),
    NAMES,
    st.sampled_from(["/", "\\"]),
    st.sampled_from(["", "/"]),
)


@given(st.lists(st.tuples(PATHS, PATHS), max_size=5), st.lists(PATHS, max_size=5))
def test_focus_files_of_many_records(paths: list[tuple[str, str]], focus: list[str]) -> None:
    """All records at once are the same as one by one (M-X7)."""
    named = {path for path, entry in paths if is_named(path, entry, focus)}
    assert focus_paths(paths, focus) == named
