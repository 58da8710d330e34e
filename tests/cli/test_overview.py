"""A run without a task in a folder without a configuration: an overview of the project."""

from pathlib import Path

import pytest

from aggregate import Budget, count, open_project, request_for
from aggregate.base import Finish
from aggregate.project.configuration import unconfigured
from aggregate.prompt.sections import Tree
from tests.cli.command_line import start
from tests.project.history import Repository
from tests.projects import project
from tests.prompt.composing import composed

README = "# Ferry\n\nFerry carries files.\n\n## Install\n\n" + "Wait for the boat.\n" * 400
FILES = {
    "README.md": README,
    "docs/README.md": "# Pages\n",
    "src/ferry/core.py": "".join(
        f"def carry_{n}(load):\n" + "    load += 1  # a wave\n" * 20 + "\n\n" for n in range(60)
    ),
    "src/ferry/use.py": "from ferry.core import carry_1, carry_2\n\n\ndef main():\n    carry_1(1)\n    carry_2(2)\n",
    "tests/test_core.py": "".join(f"def test_{n}():\n    assert True\n\n\n" for n in range(200)),
}
LINE = (
    "Parts of the project lake. This is an overview: the tree with what its folders hold, what the project says of itself, "
    "how it is built and where it starts, and the central definitions of each large folder. A line `...`, or a comment "
    "such as `# ...12` of 12 lines, stands for lines that are left out."
)


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("waters") / "lake"
    Repository(folder).commit("Begin", FILES)
    return folder


def overview(folder: Path, budget: int, *, has_frame: bool = True) -> str:
    project = open_project(unconfigured(folder / "manual_slop.toml"))
    request = request_for(project, budget=Budget(budget), finish=Finish(has_frame=has_frame))
    return composed(request).prompt.markdown


def test_a_hint_is_shown_once_in_a_project(tmp_path: Path) -> None:
    """What is always the same on standard error comes again with ``--verbose`` alone, in another project anew (M-15)."""
    hints = ("no manual_slop.toml here: ", "budget: 32,000 tokens by default; ")
    for name in ("one", "two"):
        folder = project(tmp_path / name, {"a.py": "def area(radius):\n    return radius\n"})
        cache = {"AGGREGATE_CACHE_DIR": str(tmp_path / "cache")}

        def told(*options: str, folder: Path = folder, cache: dict[str, str] = cache) -> list[bool]:
            ended = start(folder, "widen the area", *options, **cache)
            assert ended.code == 0
            assert " tokens (o200k)" in ended.err
            return [hint in ended.err for hint in hints]

        assert [told() for _ in range(3)] == [[True, True], [False, False], [False, False]]
        assert told("-v") == [True, True]
        assert told("--no-cache") == [True, True]


def test_a_folder_alone_gives_an_overview(lake: Path) -> None:
    """The line on the project, its tree, what it says it is, its signatures, no task, within 32,000 tokens (rule T-12)."""
    ended = start(lake)
    assert (ended.code, ended.out) == (0, "md_gen/lake_001.md\n")
    assert ended.err.startswith(
        "no manual_slop.toml here: this is an overview of all files that git does not ignore"
    )
    text = (lake / "md_gen/lake_001.md").read_text(encoding="utf-8")
    assert text.startswith(f"{LINE}\n\n## Tree\n\n```text\ndocs/ (1 file)\n  README.md\n")
    assert "\n## Task" not in text
    assert "Ferry carries files." in text
    assert count(text) <= 32_000
    assert start(lake, "explain", "--json").code == 0
    assert start(lake, "--focus", "src/ferry/use.py", "--stdout", "-q").out.count("carry_2(2)") == 1


@pytest.mark.parametrize("budget", [300, 1_000, 2_500, 6_000])
def test_an_overview_keeps_to_any_budget(lake: Path, budget: int) -> None:
    """What the project says it is comes first, and the bodies of its functions last (rules B-1, B-6 and T-12)."""
    text = overview(lake, budget)
    assert count(text) <= budget
    assert text.startswith(LINE)
    if budget >= 1_000:
        assert "## Tree" in text
        assert "Ferry carries files." in text
        assert text.count("def carry_") > text.count("# a wave") / 20
        assert text.count("def carry_") >= min(60, text.count("def test_"))


def test_a_larger_budget_never_shows_less_of_an_overview(lake: Path) -> None:
    """The tree takes its share whatever of it fits, so that files lose nothing to it (rule B-6)."""
    shown: set[str] = set()
    for budget in range(1_500, 1_600, 9):
        lines = set(
            overview(lake, budget).split("### Not shown")[0].split("## Files")[1].split("\n")
        )
        assert {line for line in shown if line.startswith(("def ", "Ferry"))} <= lines
        shown = lines


def test_an_overview_of_a_part_says_so(lake: Path) -> None:
    """A reader learns that the configuration or the command line has selected the files (rule T-12)."""
    sentence = "It covers only the files that the configuration or the command line selects."
    assert sentence not in overview(lake, 2_000)
    assert sentence in start(lake, "src", "--budget", "2k", "--stdout", "-q").out


def test_an_overview_shows_no_file_by_a_mere_name(lake: Path) -> None:
    """A file in part has at least three lines that say something; others are listed (rule T-12)."""
    for budget in (1_000, 1_500, 2_500):
        files = overview(lake, budget).split("### Not shown")[0].split("### File ")[1:]
        blocks = [block.splitlines()[3:] for block in files]
        lines = [[line for line in block if any(map(str.isalpha, line))] for block in blocks]
        assert all(
            len(block) >= 3 or "..." not in "".join(raw)
            for block, raw in zip(lines, blocks, strict=True)
        )


def test_without_a_frame_it_begins_with_the_tree(lake: Path) -> None:
    """``--bare`` leaves the line out (rules T-7 and T-12)."""
    assert overview(lake, 2_000, has_frame=False).startswith("## Tree\n")


def test_other_commands_need_no_configuration_either(lake: Path) -> None:
    """``stats`` counts all files that git would take, and there are no presets to list (rules T-6 and T-12)."""
    assert "core.py" in start(lake, "stats").out
    listed = start(lake, "preset", "list")
    assert (listed.code, listed.out) == (0, "")


@pytest.mark.parametrize(
    ("paths", "number", "lines"),
    [
        (["a.py", "b/c.py", "b/d.py"], 1, ["b/ (2 files)", "a.py"]),
        (["a.py", "b/c.py", "b/d.py"], 2, ["b/ (2 files)", "  c.py, d.py", "a.py"]),
        (["x/y/z/a.py"], 1, ["x/y/z/ (1 file)"]),
        (["x/y/z/a.py"], 4, ["x/y/z/ (1 file)", "  a.py"]),
        (
            [f"{n:02}.py" for n in range(43)],
            1,
            [f"{', '.join(f'{n:02}.py' for n in range(40))}, ... 3 more"],
        ),
        (["a\n## Files/b.py"], 1, ["a\\x0a## Files/ (1 file)"]),
        (["```"], 1, ["```"]),
    ],
)
def test_a_tree_opens_folders_one_after_another(
    paths: list[str], number: int, lines: list[str]
) -> None:
    """Folders come first, those that hold one folder alone in its line; no name leaves the fence (rule T-12)."""
    (segment,) = Tree(paths).segments(number)
    heading, _, fence, *shown, end = segment.text.split("\n")
    assert (heading, fence.strip("`"), end.strip("`"), shown) == ("## Tree", "text", "", lines)
    assert end not in shown
