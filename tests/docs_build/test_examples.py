"""The examples of README and docs: they print what the pages show."""

import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest
from docs_build.examples import (
    RUNNABLE,
    agree,
    blocks_of,
    commands_of,
    pages_to_run,
    refresh,
    run_page,
)

from docs_build.pages import SiteError
from tests.cli.loaded import loaded
from tests.docs_build.pages import PAGES, ROOT
from tests.hostile.running import in_bubblewrap

MARKS = {
    "docs/tutorials/agent-through-mcp.md": pytest.mark.slow,
    "docs/tutorials/tickets-that-act.md": in_bubblewrap,
}
"""Pages that start servers, which takes seconds, or run commands of tickets."""
MOST_LEFT_OUT = 3
"""Blocks of all pages that are not run: those that need a key, another program, or an environment of their own."""


PROGRAMS = ("bash", "cp", "git", "mkdir", "seq")
pytestmark = pytest.mark.skipif(
    not all(map(shutil.which, PROGRAMS)), reason=f"the examples need {', '.join(PROGRAMS)}"
)


def start(
    folder: Path, arguments: list[str], environment: Mapping[str, str], streams: list[int]
) -> int:
    """Run ``aggregate`` in a copy of a process that has it loaded."""
    process = loaded("tests.docs_build.warm")
    with process.running(folder, arguments, environment, streams) as command:
        return command.wait()


@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=MARKS.get(page, ())) for page in pages_to_run(ROOT)]
)
def test_a_page_shows_what_its_examples_print(page: str, tmp_path: Path) -> None:
    """Each command and each block of Python prints what stands below it; ``python -m docs_build examples`` renews it."""
    differences = run_page(ROOT, page, tmp_path / "home", start)
    told = [
        (f"{page}:{told.first + 1}", told.command, told.note, told.printed) for told in differences
    ]
    assert told == []


def test_hardly_an_example_is_left_out() -> None:
    """Of all pages' blocks of commands and Python no more than three are not run, most for want of a key, each with its reason before it."""
    left_out = [
        f"{page}:{block.first}"
        for page in PAGES
        for block in blocks_of((ROOT / page).read_text(encoding="utf-8"))
        if block.kind in RUNNABLE and not block.is_run
    ]
    assert len(left_out) <= MOST_LEFT_OUT, left_out


def test_blocks_and_their_commands() -> None:
    """A longer fence holds shorter ones, a remark leaves a block out or lets it fail, output belongs to its command."""
    page = (
        "````console\n$ a\n```\nx\n```\n$ b\n````\n"
        "<!-- not run: no key -->\n\n```console\n$ c\n```\n\n<!-- fails -->\n```console\n$ d\n```\n"
    )
    first, left_out, failing = blocks_of(page)
    assert [(command.text, command.output) for command in commands_of(first)] == [
        ("a", ("```", "x", "```")),
        ("b", ()),
    ]
    assert [command.first for command in commands_of(first)] == [2, 6]
    assert (left_out.is_run, failing.is_run, first.fails, failing.fails) == (
        False,
        True,
        False,
        True,
    )


@pytest.mark.parametrize(
    ("shown", "printed", "is_so"),
    [
        ("a|b", "a|b", True),
        ("a|b", "a|c", False),
        ("a", "a|b", False),
        ("a|...|c", "a|x|y|c", True),
        ("a|...", "a|b", True),
        ("a|...|c", "a|b", False),
        ("...|c", "a|b|c", True),
        ("took 1.5 s, 2026-01-02 10:00", "took 0.2 s, 2027-11-12 23:59", True),
        ("3 of 4", "3 of 5", False),
        ("a|...|b|...|c", "a|c|b|d|c", True),
        ("a|...|b|...|c", "a|c|d|c", False),
    ],
)
def test_what_agrees(shown: str, printed: str, is_so: bool) -> None:
    """Times may differ and ``...`` stands for any lines; all else is compared."""
    assert agree(tuple(shown.split("|")), tuple(printed.split("|"))) is is_so


def test_pages_are_written_anew(tmp_path: Path) -> None:
    """Only what differs is replaced, a page that shows what is printed is left alone."""
    (tmp_path / "docs/examples").mkdir(parents=True)
    right = "```console\n$ echo 1\n1\n```\n"
    wrong = "```console\n$ seq 2\n1\n7\n$ echo a\nb\n```\nText\n"
    (tmp_path / "docs/a.md").write_text(wrong)
    (tmp_path / "README.md").write_text(right)
    assert list(refresh(tmp_path)) == ["docs/a.md"]
    assert (tmp_path / "docs/a.md").read_text() == wrong.replace("7", "2").replace("\nb\n", "\na\n")
    assert (tmp_path / "README.md").read_text() == right
    assert list(refresh(tmp_path)) == []
    assert list(refresh(tmp_path, ["README.md"])) == []
    (tmp_path / "README.md").write_text("```console\n$ seq 5\n1\n...\n7\n```\n")
    with pytest.raises(SiteError, match=r"README\.md: seq 5: choose anew what to show"):
        list(refresh(tmp_path))
    with pytest.raises(
        SiteError, match=r"docs/b\.md: no page with examples; such are README\.md, "
    ):
        list(refresh(tmp_path, ["docs/b.md"]))


def test_a_difference_is_found(tmp_path: Path) -> None:
    """An output that a page lacks, a wrong one, and an unexpected exit code are told, with the line of the page."""
    (tmp_path / "docs/examples").mkdir(parents=True)
    (tmp_path / "docs/a.md").write_text(
        "```console\n$ echo hello\nhallo\n$ false\n```\n\n```python\nprint(1)\n```\n"
    )
    wrong, failed, silent = run_page(tmp_path, "docs/a.md", tmp_path / "home", start)
    assert (wrong.first, wrong.shown, wrong.printed) == (2, ("hallo",), ("hello",))
    assert (failed.command, failed.note) == ("false", "exit code 1")
    assert silent.printed == ("1",)
