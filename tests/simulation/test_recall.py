"""The benchmark of prompts for tasks: what it asks, what it looks for, and that it cannot be fooled."""

import os
import subprocess
from pathlib import Path

import pytest
from simulation.issues import measure, table
from simulation.prompt_makers import Ask, Ours, WholeFiles, recount
from simulation.recall import Outcome, Plan, measure_clone, tables
from simulation.recall_asks import FORMS, asked
from simulation.recall_metrics import changed_definitions, read_blocks, recall, shown_lines
from simulation.task_commits import ChangedFile, Kind, TaskCommit, Tree, kind_of, task_commits

from aggregate.prompt.files import file_block
from tests.projects import project

SHAPE = """\
import math


class Shape:
    def area(self):
        side = self.side

        return side * side

    def name(self):
        return "shape"


def make():
    return Shape()
"""


def git(folder: Path, *arguments: str) -> str:
    """Run git with a fixed identity."""
    who = {
        f"GIT_{role}_{part}": "x@y"
        for role in ("AUTHOR", "COMMITTER")
        for part in ("NAME", "EMAIL")
    }
    command = ["git", "-C", str(folder), *arguments]
    done = subprocess.run(
        command, check=True, capture_output=True, text=True, env={**os.environ, **who}
    )
    return done.stdout.strip()


def commit(folder: Path, message: str, files: dict[str, str]) -> str:
    """Write files, commit them and return the commit's id."""
    project(folder, files)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", message)
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """Return a repository with one suitable commit of an edit and one of an insertion, among others."""
    folder = tmp_path / "clone"
    folder.mkdir()
    git(folder, "init", "-q")
    commit(folder, "Begin with a shape", {"src/shape.py": SHAPE, "README.md": "# Shapes\n"})
    edited = SHAPE.replace("side * side", "side**2").replace('"shape"', '"Shape"')
    commit(
        folder,
        "Square sides by power\n\nIt is shorter.",
        {"src/shape.py": edited, "tests/test_shape.py": "def test_area():\n    pass\n"},
    )
    inserted = edited.replace("import math\n", "import math\nimport os\n")
    commit(folder, "fix", {"src/shape.py": edited + "\nLAST = 1\n"})
    commit(folder, "Say more about it", {"README.md": "# More shapes\n"})
    commit(
        folder,
        "Import what is needed",
        {
            "src/shape.py": inserted + "\nLAST = 1\n",
            "tests/test_shape.py": "def test_area():\n    ...\n",
        },
    )
    return folder


def test_which_commits_are_tasks(clone: Path) -> None:
    """The newest with a message and a changed source; short messages, documents alone and new files are none."""
    newest, oldest = task_commits(clone)
    assert newest.subject == "Import what is needed"
    assert oldest.message == "Square sides by power\n\nIt is shorter."
    assert [(file.path, file.lines, file.is_test) for file in newest.files] == [
        ("src/shape.py", (1,), False),  # beside what was put in
        ("tests/test_shape.py", (2,), True),
    ]
    assert [(file.path, file.lines) for file in oldest.files] == [("src/shape.py", (8, 11))]
    assert oldest.files[0].text == SHAPE
    assert [task.name for task in task_commits(clone, 1, skip=1)] == [oldest.name]


def test_a_hunk_may_hold_what_looks_like_a_heading(tmp_path: Path) -> None:
    """Lines that begin with dashes or at signs are lines of the file; moved files keep their old names."""
    folder = tmp_path / "clone"
    folder.mkdir()
    git(folder, "init", "-q")
    lines = [f"value_{number} = {number}" for number in range(20)]
    old = "\n".join([*lines, "-- a/other.lua", "@@ -1 +1 @@", ""])
    commit(folder, "Begin with an odd text", {"a b.lua": old})
    git(folder, "mv", "a b.lua", "c.lua")
    commit(folder, "Move and change it", {"c.lua": old.replace("-- a/", "-- b/")})
    (task,) = task_commits(folder)
    assert [(file.path, file.lines) for file in task.files] == [("a b.lua", (21,))]


def test_the_future_cannot_be_seen(clone: Path, tmp_path: Path) -> None:
    """A tree has the parent's files and history; no reference leads to a later commit, whatever was there before."""
    newest, oldest = task_commits(clone)
    tree = Tree(clone, tmp_path / "tree")
    for task in (newest, oldest):
        tree.check_out(task.parent)
        (tree.folder / "left-over.txt").write_text("", encoding="utf-8")
        assert tree.knows(task.parent)
        assert not tree.knows(task.name)
        assert git(tree.folder, "rev-parse", "HEAD") == task.parent
        assert git(tree.folder, "for-each-ref") == git(tree.folder, "reflog") == ""
    again = Tree(clone, tmp_path / "tree")
    again.check_out(oldest.parent)
    assert sorted(path.name for path in tree.folder.rglob("*.*")) == [".git", "README.md", "shape.py"]  # fmt: skip
    assert git(tree.folder, "status", "--short") == ""
    assert (tree.folder / "src/shape.py").read_text(encoding="utf-8") == SHAPE


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("src/a.py", Kind(True, False, False)),
        ("src/latest/contest.go", Kind(True, False, False)),
        ("tests/a.py", Kind(True, True, False)),
        ("src/test_a.py", Kind(True, True, False)),
        ("context_test.go", Kind(True, True, False)),
        ("packages/x/__tests__/a.spec.ts", Kind(True, True, False)),
        ("gson/src/test/java/GsonTest.java", Kind(True, True, False)),
        ("docs/conf.py", Kind(True, False, True)),
        ("dist/axios.min.js", Kind(True, False, True)),
        ("README.md", Kind(False, False, False)),
    ],
)
def test_what_a_path_says(path: str, kind: Kind) -> None:
    """Tests and auxiliary files are known by their folders and names."""
    assert kind_of(path) == kind


def test_blocks_of_a_prompt() -> None:
    """Each file's content is read as it is written; headings and fences inside of it are content, excluded files none."""
    odd = "### File b.py\n\n```python\nx = 1\n```\n"
    markdown = "\n\n".join(
        [
            "## Files",
            file_block("a.md", odd, language="markdown"),
            file_block("c.py", "", excluded=True),
            file_block("d.py", "y = 2\n", language="python"),
            "### Not shown\n\n```text\nsrc/ 3 files\n```",
        ]
    )
    assert read_blocks(markdown) == {"a.md": odd.split("\n")[:-1], "d.py": ["y = 2"]}


def test_lines_that_are_shown() -> None:
    """A line that occurs once counts anywhere; one that occurs twice only beside lines of its own place."""
    text = "def a():\n    x = 1\n    return x\n\ndef b():\n    y = 2\n    return x\n"
    assert shown_lines(text.split("\n")[:-1], text) == set(range(1, 8))
    assert shown_lines(["    return x"], text) == set()
    assert shown_lines(["def b():", "    ...", "    return x"], text) == {5}
    assert shown_lines(["⋮", "    y = 2", "    return x"], text) == {6, 7}
    assert shown_lines(["    x = 1 "], text) == set()
    assert shown_lines([], "") == set()
    assert shown_lines(["a", "b\r"], "a\r\nb\r\n") == {1, 2}


def test_shares_of_what_a_commit_changes() -> None:
    """Files with content, innermost definitions by signature or changed line, and lines verbatim, each by hand."""
    shape = ChangedFile("src/shape.py", SHAPE, (1, 8, 11))
    other = ChangedFile("src/other.py", "x = 1\n", (1,))
    test = ChangedFile("tests/test_shape.py", "def test():\n    pass\n", (2,), is_test=True)
    task = TaskCommit("2", "1", "Change it all", (shape, other, test))
    assert changed_definitions(shape) == [("area", 5, (8,)), ("name", 10, (11,))]
    skeleton = {"src/shape.py": ["class Shape:", "    def area(self):", "        ..."]}
    assert recall(task, skeleton) == (0.5, 0.5, 0.0, 1 / 3, 0.0)
    body = {"src/shape.py": ['        return "shape"'], "tests/test_shape.py": ["    pass"]}
    assert recall(task, body) == (0.5, 0.5, 0.25, 2 / 3, 0.4)
    assert recall(task, {}) == (0.0, 0.0, 0.0, 0.0, 0.0)
    everything = {file.path: file.text.split("\n") for file in task.files}
    assert recall(task, everything) == (1.0, 1.0, 1.0, 1.0, 1.0)
    assert recall(TaskCommit("2", "1", "", (other,)), everything).definition is None


def test_ways_to_ask(clone: Path) -> None:
    """The whole message, its first line, a symbol, a traceback, and what is done already with the rest to find."""
    newest, oldest = task_commits(clone)
    assert set(FORMS) == {"message", "subject", "traceback", "symbol", "since"}
    by_form = {form: asked(oldest, form) for form in FORMS}
    texts = {form: question.ask.text for form, question in by_form.items() if question}
    assert texts["message"] == "Square sides by power\n\nIt is shorter."
    assert texts["subject"] == texts["symbol"] == "Square sides by power"
    assert 'File "/srv/app/src/shape.py", line 8, in area' in texts["traceback"]
    assert by_form["symbol"]
    assert by_form["symbol"].ask.symbols == ("area",)
    assert by_form["since"] is None  # a single file
    assert asked(newest, "symbol") is None  # outside of all definitions
    since = asked(newest, "since")
    assert since
    assert since.done == ("tests/test_shape.py",)
    assert [file.path for file in since.commit.files] == ["src/shape.py"]


def test_whole_files_fill_the_budget(tmp_path: Path) -> None:
    """The baseline shows the best file first, never more than the budget, and the last file in part."""
    files = {f"src/{name}.py": f"def {name}():\n    return '{name}'\n" * 40 for name in "abc"}
    files["src/retry.py"] = "def retryLoop():\n    return 1\n"
    tree = project(tmp_path, {**files, "tests/test_retry.py": "def test_retry_loop():\n    ...\n"})
    git(tree, "init", "-q")
    git(tree, "add", "-A")
    prompt = WholeFiles().make(tree, Ask("why does the retry fail"), 300)
    assert recount(prompt) <= 300
    blocks = WholeFiles().read(prompt)
    assert next(iter(blocks)) == "src/retry.py"
    assert blocks["src/retry.py"] == ["def retryLoop():", "    return 1", ""]
    assert "tests/test_retry.py" not in blocks
    assert 0 < len(blocks["src/a.py"]) < 80


def test_a_clone_is_measured(clone: Path, tmp_path: Path) -> None:
    """All is shown where all is in the prompt; what has more tokens than it may is told."""
    plan = Plan(
        commits=2,
        skip=0,
        budgets=(2_000,),
        form="message",
        rivals=False,
        aider=None,
        left_out=(),
        work=tmp_path / "work",
    )
    outcomes = measure_clone(clone, plan)
    assert [outcome.commit for outcome in outcomes] == [task.name for task in task_commits(clone)]
    assert all(outcome.shares["line"] == 1.0 for outcome in outcomes)
    assert all(not outcome.is_over and not outcome.failure for outcome in outcomes)
    lines = list(tables(outcomes))
    assert lines[2].startswith("| 2,000 | aggregate | 1.00 [1.00, 1.00] | 1.00 [1.00, 1.00] | ")
    assert lines[-1] == "| clone | 2 | 1.00 / 1.00 / 1.00 |"
    kinds = [line for line in lines if " can be asked " in line or " chores " in line]
    asked = sum(not task.is_chore for task in task_commits(clone))
    assert kinds[0].startswith(f"| 2,000 | aggregate | can be asked | {asked} | ")
    assert kinds[1].startswith(f"| 2,000 | aggregate | chores | {2 - asked} | ")
    assert " 1.00 ± .00 " in kinds[asked == 0]
    over = Outcome("clone", "1", "aggregate", 10, 11, 0.0, outcomes[0].shares)
    assert "| 1 | 0 | 0.00 |" in list(tables([over]))[2]


def test_evidence_that_is_left_out(clone: Path, tmp_path: Path) -> None:
    """Several kinds at once; one that there is not is an error that names those that there are."""
    task = next(task_commits(clone))
    tree = Tree(clone, tmp_path / "tree")
    tree.check_out(task.parent)
    whole = Ours().make(tree.folder, Ask("add up the area"), 400)
    bare = Ours("bare", left_out="definition text,file text,test").make(
        tree.folder, Ask("add up the area"), 400
    )
    assert "### File src/shape.py" in whole
    assert recount(bare) <= 400
    with pytest.raises(SystemExit, match="no evidence 'nothing', only definition text, "):
        Ours(left_out="test,nothing").make(tree.folder, Ask(""), 400)


@pytest.mark.parametrize(
    ("message", "is_chore"),
    [
        ("Fix the retry of a closed session\n\nMore.", False),
        ("Fix the retry", True),
        ("Bump lodash from 1.2 to 1.3 again", True),
        ("Prepare the release of the new version", True),
        ("Fix a typo in the comment of retry", True),
        ("Merge branch main of the other place", True),
        ("Rebumping is not what this says", False),
    ],
)
def test_which_tasks_nobody_would_ask(message: str, is_chore: bool) -> None:
    """Bumps, releases, typos, merges and messages of fewer than five words are counted apart."""
    assert TaskCommit("1", "0", message, ()).is_chore is is_chore


def test_an_issue_is_measured(clone: Path, tmp_path: Path) -> None:
    """The files that its fix changes are looked for in the tree before, by the text of the issue."""
    task = next(task_commits(clone))
    row = measure(clone, task.name, "Area of the shape is wrong", Tree(clone, tmp_path / "tree"))
    assert row["first 1"] == row["line at 8,000"] == 1.0
    lines = list(table({"owner/name": [row, row]}))
    assert lines[-1].startswith("| all | 2 | 1.000 | 1.000 | ")
