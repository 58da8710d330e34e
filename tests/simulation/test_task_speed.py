"""The benchmark of what prompts for tasks cost: what it copies, and what it asks."""

import subprocess
from pathlib import Path

from simulation.task_speed import TASKS, questions_here
from simulation.trees import commit_all, copy_many

from tests.projects import project


def test_questions_and_edits(tmp_path: Path) -> None:
    """Questions are asked of a repository with one commit; each edit changes another file of it."""
    tree = project(tmp_path / "tree", {f"{n:02d}.py": f"def f{n}(): ...\n" for n in range(20)})
    commit_all(tree)
    figures = questions_here(tree, ".py", 2)
    assert list(figures) == [
        "in one process: a question",
        "in one process: a question after an edit",
    ]
    assert all(wall > 0 for wall, _ in figures.values())
    status = subprocess.run(
        ["git", "-C", str(tree), "status", "--short"], capture_output=True, text=True, check=True
    )
    assert status.stdout.split() == ["M", "00.py", "M", "07.py"]
    assert len(TASKS) == 3


def test_many_files(tmp_path: Path) -> None:
    """Each copy differs from all others, and folders have a thousand files at most."""
    tree = project(tmp_path / "tree", {"a.py": "x = 1\n", "b.py": "y = 2\n"})
    copy_many(sorted(tree.glob("*.py")), tmp_path / "many", 1_002)
    copies = sorted((tmp_path / "many").rglob("*.py"))
    assert len(copies) == len({path.read_bytes() for path in copies}) == 1_002
    assert sorted(folder.name for folder in (tmp_path / "many").iterdir()) == ["0000", "0001"]
    assert len(list((tmp_path / "many" / "0001").iterdir())) == 2
