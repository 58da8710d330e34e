"""Diffs from a file's older block to its block now."""

import random
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from aggregate.base.text import patched
from aggregate.prompt.layout import file_block, file_segment
from aggregate.prompt.sections import changed_segment

LINES = [f"line {n}\n" for n in range(1, 13)]


def diff(older: str, newer: str) -> str | None:
    """Return the block of a diff between two contents of one file."""
    old, new = (file_block("a.py", text, language="python") for text in (older, newer))
    segment = changed_segment(old, file_segment("a.py", new))
    return segment.text if segment else None


def test_a_diff_shown_whole() -> None:
    """Hunks with three lines around, under the file's heading."""
    newer = [*LINES[:1], "new\n", *LINES[2:]]
    assert diff("".join(LINES), "".join(newer)) == "\n".join(
        (
            "### File a.py (diff)",
            "",
            "```diff",
            "@@ -1,5 +1,5 @@",
            " line 1",
            "-line 2",
            "+new",
            " line 3",
            " line 4",
            " line 5",
            "```",
        )
    )


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("".join(LINES), "".join(LINES)),
        ("".join(f"old {n}\n" for n in range(100)), "".join(f"new {n}\n" for n in range(100))),
        ("", "".join(f"{n}\n" for n in range(4000))),
    ],
)
def test_no_diff_where_it_would_not_help(older: str, newer: str) -> None:
    """None where nothing differs, where the diff would be longer than the file, and where too many lines differ."""
    assert diff(older, newer) is None


@given(
    *[st.lists(st.sampled_from(["a", "b", "c", "", "```", "@@ -1,1 +1,1 @@", "+x", "-y", "d\r"]))]
    * 2
)
def test_a_diff_leads_from_the_older_content_to_the_content_now(
    older: list[str], newer: list[str]
) -> None:
    """Whoever applies it by its line numbers gets the file as it is now."""
    text = diff("\n".join(older), "\n".join(newer))
    if text is not None:
        before, after = (
            file_block("a.py", "\n".join(lines)).split("\n")[3:-1] for lines in (older, newer)
        )
        assert patched(before, text.split("\n")[3:-1]) == after


def repetitive(number: int) -> tuple[str, str]:
    """Return two versions of a text of few different lines: their context could be found at many places."""
    draw = random.Random(number)
    lines = ["a", "b", "c", "}", "", "  return x"][: draw.randint(2, 6)]
    older = draw.choices(lines, k=draw.randint(1, 40))
    newer = list(older)
    for _ in range(draw.randint(1, 3)):
        at = draw.randint(0, len(newer))
        newer[at : at + draw.choice([0, 0, 1, 3])] = draw.choices(lines, k=draw.randint(0, 5))
    return "".join(f"{line}\n" for line in older), "".join(f"{line}\n" for line in newer)


@pytest.mark.parametrize(
    "program", [["patch", "-F0", "-s", "-p1"], ["git", "apply", "--whitespace=nowarn"]]
)
def test_programs_that_apply_diffs_take_it(program: list[str], tmp_path: Path) -> None:
    """Both want the same context on both sides of a change, but for a file's beginning and end; none may be guessed."""
    if shutil.which(program[0]) is None:
        pytest.skip(f"{program[0]} is not installed")
    expected, hunks = {}, []
    for number in range(120):
        older, newer = repetitive(number)
        if text := diff(older, newer):
            name = f"f{number}.txt"
            (tmp_path / name).write_text(older, encoding="utf-8")
            hunks += [f"--- a/{name}", f"+++ b/{name}", *text.split("\n")[3:-1]]
            expected[name] = newer
    done = subprocess.run(
        program, input="\n".join([*hunks, ""]), cwd=tmp_path, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert {name: (tmp_path / name).read_text(encoding="utf-8") for name in expected} == expected
    assert len(expected) > 100
