"""The benchmark beside other programs: what it measures, what it calls, and how it tells what they leave out."""

import sys
from pathlib import Path

import pytest
from simulation.instant import COLD, EDITED, WARM, Workshop, edit_here
from simulation.processes import FailedJobError, Job, compare, try_once
from simulation.rivals import FULL, QUIET, Rival, command_of, count_shown, installed_rivals
from simulation.trees import commit_all, copy_many

from tests.projects import project


def job(folder: Path, code: str) -> Job:
    """Return a job that runs Python code."""
    return Job("code", [sys.executable, "-c", code], {}, lambda: None, folder)


def test_cost_counts_children(tmp_path: Path) -> None:
    """CPU seconds and memory are those of a program and of the programs that it starts."""
    child = "x = b'x' * 60_000_000; import time; end = time.process_time() + 0.1\nwhile time.process_time() < end: pass"
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}], check=True)"
    cost = compare([job(tmp_path, code)], 1)["code"]
    assert cost.cpu >= 0.1
    assert cost.peak_mb >= 60
    assert cost.wall > 0


def test_a_program_that_fails(tmp_path: Path) -> None:
    """It is an error that says what it printed, never a quick time."""
    with pytest.raises(FailedJobError, match="ended with 3: no such thing"):
        try_once(job(tmp_path, "import sys; print('no such thing', file=sys.stderr); sys.exit(3)"))


def test_how_much_is_shown(tmp_path: Path) -> None:
    """A file counts as shown if each of its lines is there, indented or not; binary and empty files do not count."""
    files = {
        "a.py": "a = 1\n\nb = 2\n",
        "b.py": "c = 3\n",
        "c.py": "d = 4\nnot shown\n",
        "d.py": "",
    }
    tree = project(tmp_path / "tree", files)
    (tree / "e.bin").write_bytes(b"a\0b")
    output = tmp_path / "output.md"
    output.write_text(
        "# a.py\n    a = 1\n    b = 2\n# b.py\nc = 3\n# c.py\nd = 4\n", encoding="utf-8"
    )
    assert count_shown(tree, output) == (2, 3)


def test_rivals_that_are_named(tmp_path: Path) -> None:
    """A command is split without a shell, and its places are filled in."""
    rivals = installed_rivals(
        [f"mine={sys.executable} -c 'a b' {{tree}} *{{suffix}} {{extension}}"]
    )
    mine = next(rival for rival in rivals if rival.name == "mine")
    command = command_of(mine, FULL, tree=tmp_path / "a b", output=tmp_path / "o", suffix=".py")
    assert command[1:] == ["-c", "a b", str(tmp_path / "a b"), "*.py", "py"]
    both = installed_rivals(["diffctx=x {tree}", "diffctx:quiet=y {tree}"])
    assert Rival("diffctx", {FULL: "x {tree}", QUIET: "y {tree}"}) in both


@pytest.mark.parametrize("text", ["repomix", "x=repomix", "x:other=repomix {tree}"])
def test_rivals_that_are_written_wrongly(text: str) -> None:
    """One sentence says how they are written."""
    with pytest.raises(SystemExit, match="write NAME=COMMAND"):
        installed_rivals([text])


def test_states(tmp_path: Path) -> None:
    """Cold empties the cache, warm leaves it, and an edit changes one file of the copy and none of the original."""
    original = project(tmp_path / "original", {f"{i}.py": f"x = {i}\n" for i in range(5)})
    workshop = Workshop(tmp_path / "work", ".py")
    workshop.root.mkdir()
    workshop.copy(original)
    before = {path.name: path.read_bytes() for path in workshop.editable}
    cache = workshop.root / "cache" / "full"
    for state, kept in ((WARM, True), (EDITED, True), (COLD, False)):
        cache.mkdir(parents=True, exist_ok=True)
        ours = workshop.ours("full", state, "run")
        assert ours.environment["AGGREGATE_CACHE_DIR"] == str(cache)
        ours.before()
        assert cache.exists() is kept
    changed = [path.name for path in workshop.editable if path.read_bytes() != before[path.name]]
    assert len(changed) == 1
    assert {path.name: path.read_bytes() for path in original.glob("*.py")} == before


def test_many_files(tmp_path: Path) -> None:
    """Each copy differs from all others, and folders have a thousand files at most."""
    tree = project(tmp_path / "tree", {"a.py": "x = 1\n", "b.py": "y = 2\n"})
    copy_many(sorted(tree.glob("*.py")), tmp_path / "many", 1_002)
    copies = sorted((tmp_path / "many").rglob("*.py"))
    assert len(copies) == len({path.read_bytes() for path in copies}) == 1_002
    assert sorted(folder.name for folder in (tmp_path / "many").iterdir()) == ["0000", "0001"]
    assert len(list((tmp_path / "many" / "0001").iterdir())) == 2


def test_edits_in_one_process(tmp_path: Path) -> None:
    """A question is asked again after each of five files was edited."""
    tree = project(tmp_path / "tree", {f"{n:02d}.py": f"def f{n}(): ...\n" for n in range(20)})
    commit_all(tree)
    assert min(edit_here(tree, ".py")) >= 0
    changed = [path.stem for path in sorted(tree.glob("*.py")) if path.read_bytes()[-2:] == b"\n\n"]
    assert changed == ["00", "04", "08", "12", "16"]
