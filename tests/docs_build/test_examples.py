"""The examples of README and docs: they print what the pages show."""

import tempfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from docs_build.examples import RUN, agree, blocks_of, commands_of, renewed
from docs_build.refresh import pages_to_run, refresh
from docs_build.running import Session, Started, run_page

from tests.cli.loaded import loaded

ROOT = Path(__file__).parents[2]
SLOW = frozenset(
    {
        "docs/how-to/recipes.md",
        "docs/tutorials/agent-through-mcp.md",
        "docs/tutorials/track-of-tickets.md",
    }
)
"""Pages that start servers, databases and pipes, which takes seconds."""
NOT_RUN: Mapping[str, str] = {
    "docs/agents.md": "configurations of other programs",
    "docs/comparisons.md": "other programs, clones, and minutes of time",
    "docs/conductor.md": "single calls, which tests/conductor makes",
    "docs/goals.md": "run by tests/agent/test_document.py",
    "docs/panel.md": "a server that waits for a browser",
    "docs/python.md": "single calls in a project of the reader's",
    "docs/sending.md": "single calls in a project of the reader's; the tutorial on discussions runs them",
    "docs/subagents.md": "needs results of the reader's, which tests/subagents makes",
    "docs/task-and-budget.md": "this repository, which every commit changes; the tutorial on tasks runs them",
}
"""Pages whose examples are not run as they stand, and why."""
PAGES = [path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "docs").rglob("*.md"))]


def start(folder: Path, arguments: list[str], environment: Mapping[str, str]) -> Started:
    """Run ``aggregate`` in a copy of a process that has it loaded, both outputs in one file."""
    with tempfile.TemporaryFile() as printed, Path("/dev/null").open("rb") as nothing:
        streams = [nothing.fileno(), printed.fileno(), printed.fileno()]
        with loaded().running(folder, arguments, environment, streams) as command:
            code = command.wait()
        printed.seek(0)
        return code, printed.read().decode()


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=pytest.mark.slow if page in SLOW else ())
        for page in pages_to_run(ROOT)
    ],
)
def test_a_page_shows_what_its_examples_print(page: str, tmp_path: Path) -> None:
    """Each command and each block of Python prints what stands below it; ``python -m docs_build examples`` renews it."""
    differences = run_page(ROOT, page, tmp_path / "home", start)
    told = [
        (f"{page}:{told.first + 1}", told.command, told.note, told.printed) for told in differences
    ]
    assert told == []


def test_every_page_with_examples_is_run_or_says_why_not() -> None:
    """No page with examples is neither run nor excused, and no excuse is left over from one that is run."""
    shown = {
        page
        for page in PAGES
        if any(
            block.kind in ("console", "python") for block in blocks_of((ROOT / page).read_text())
        )
    }
    run = set(pages_to_run(ROOT))
    assert sorted(shown - run - set(NOT_RUN)) == []
    assert sorted(run & set(NOT_RUN)) == []


def test_python_that_is_not_run_is_at_least_python() -> None:
    """Each block of Python on any page compiles."""
    for page in [*PAGES, "README.md"]:
        for block in blocks_of((ROOT / page).read_text(encoding="utf-8")):
            if block.kind == "python":
                compile("\n".join(block.lines), f"{page}:{block.first}", "exec")


def test_blocks_and_their_commands() -> None:
    """A longer fence holds shorter ones, a remark leaves a block out or lets it fail, output belongs to its command."""
    page = (
        f"{RUN}\n\n````console\n$ a\n```\nx\n```\n$ b\n````\n"
        "<!-- not run: no key -->\n\n```console\n$ c\n```\n\n<!-- fails -->\n```console\n$ d\n```\n"
    )
    first, left_out, failing = blocks_of(page)
    assert [(command.text, command.output) for command in commands_of(first)] == [
        ("a", ("```", "x", "```")),
        ("b", ()),
    ]
    assert [command.first for command in commands_of(first)] == [4, 8]
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


@pytest.mark.parametrize(
    ("shown", "printed", "page"),
    [
        ("a|b", "a|c", "a|c"),
        ("a|...", "b|c|d", "b|..."),
        ("...|a|b|...", "x|a|c|d|e", "...|a|c|..."),
        ("a|...|b", "a|x|y|c", "a|...|c"),
        ("took 1.5 s|a", "took 0.2 s|b", "took 1.5 s|b"),
        ("a|...|b", "c", "c"),
        ("a|b", "", ""),
    ],
)
def test_what_is_left_out_stays_left_out(shown: str, printed: str, page: str) -> None:
    """A page that is written anew shows what was printed, but for the lines that it left out before, and times."""
    lines = tuple(printed.split("|")) if printed else ()
    new = renewed(tuple(shown.split("|")), lines)
    assert "|".join(new) == page
    assert agree(new, lines)


def test_pages_are_written_anew(tmp_path: Path) -> None:
    """Only what differs is replaced, a page that shows what is printed is left alone."""
    (tmp_path / "docs/examples").mkdir(parents=True)
    right = f"{RUN}\n\n```console\n$ echo 1\n1\n```\n"
    wrong = f"{RUN}\n\n```console\n$ seq 5\n1\n7\n...\n$ echo a\nb\n```\nText\n"
    (tmp_path / "docs/a.md").write_text(wrong)
    (tmp_path / "README.md").write_text(right)
    assert list(refresh(tmp_path)) == ["docs/a.md"]
    assert (tmp_path / "docs/a.md").read_text() == wrong.replace("7\n...", "2\n...").replace(
        "\nb\n", "\na\n"
    )
    assert (tmp_path / "README.md").read_text() == right
    assert list(refresh(tmp_path)) == []


def test_a_difference_is_found(tmp_path: Path) -> None:
    """An output that a page lacks, a wrong one, and an unexpected exit code are told, with the line of the page."""
    (tmp_path / "docs/examples").mkdir(parents=True)
    (tmp_path / "docs/a.md").write_text(
        f"{RUN}\n\n```console\n$ echo hello\nhallo\n$ false\n```\n\n```python\nprint(1)\n```\n"
    )
    wrong, failed, silent = run_page(tmp_path, "docs/a.md", tmp_path / "home", start)
    assert (wrong.first, wrong.shown, wrong.printed) == (4, ("hallo",), ("hello",))
    assert (failed.command, failed.note) == ("false", "exit code 1")
    assert silent.printed == ("1",)


def test_a_session_is_a_readers(tmp_path: Path) -> None:
    """Folders and variables last from command to command, and the home folder is told as the reader's."""
    (tmp_path / "home/b").mkdir(parents=True)
    session = Session(tmp_path / "home", tmp_path / "home", start)
    assert session.run("cd ~/b") == (0, "")
    assert session.run("export A=1") == (0, "")
    assert session.run("echo $A; pwd") == (0, "1\n/home/you/b\n")
