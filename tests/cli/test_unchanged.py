"""Runs of the same words: what has not changed since the last one is neither read nor computed again."""

import compileall
import os
import re
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

import aggregate
from aggregate.cli import replay
from tests.project.history import Repository

SETTLED_SECONDS = 2.1  # after which the times of a file show each later change
CONFIG = """
[files]
paths = ["src/**/*", {path = "lib/*.py", view_mode = "skeleton"}]
[output]
output_dir = "out"
"""
# Says last on standard error whether more was loaded than a run needs that repeats another.
WAYS = {"(False, False)": "repeated", "(True, False)": "edited"}
STARTER = """
import sys
from aggregate import main
sys.argv = ["aggregate", *sys.argv[1:]]
try:
    main()
finally:
    loaded = ("click" in sys.modules, "sqlite3" in sys.modules or "--no-cache" in sys.argv)
    print(loaded, file=sys.stderr)
"""
JOBS: Mapping[str, tuple[str, ...]] = {
    "run": ("run",),
    "json": ("run", "--json", "-q"),
    "task": ("run", "wait longer before the next attempt", "--budget", "600"),
    "stats": ("stats",),
}


EDITED, COMMITTED = "edited", "committed"


class Done(NamedTuple):
    out: str
    err: str
    prompt: bytes
    way: str


def run(folder: Path, *arguments: str, cache: str = "cache") -> Done:
    """Run the program in a process of its own; numbers of prompts are left out of what it tells."""
    places = {
        f"AGGREGATE_{kind}_DIR": str(folder.parent / name)
        for kind, name in (("CACHE", cache), ("STATE", "state"))
    }
    done = subprocess.run(
        [sys.executable, "-c", STARTER, *arguments],
        cwd=folder,
        env={**os.environ, **places, "XDG_CONFIG_HOME": str(folder.parent / "xdg")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    prompts = sorted((folder / "out").glob("*_???.md"))
    *told, how = done.stderr.splitlines()
    out = re.sub(r"_\d{3}\.md", "_N.md", done.stdout)
    return Done(
        out, "\n".join(told), prompts[-1].read_bytes() if prompts else b"", WAYS.get(how, "long")
    )


@pytest.fixture(scope="module")
def projects(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    """Give a project for each job, all of them old enough to be believed."""
    folders = {name: tmp_path_factory.mktemp("job") / "project" for name in (*JOBS, EDITED, COMMITTED)}  # fmt: skip
    for folder in folders.values():
        for name in ("src/retry.py", "lib/wait.py"):
            (folder / name).parent.mkdir(parents=True)
            (folder / name).write_text(f"def wait(seconds):\n    return seconds  # {name}\n")
        (folder / "manual_slop.toml").write_text(CONFIG)
        (folder / "out").mkdir()
    Repository(folders[COMMITTED]).commit("Begin", {})
    # A first run in a fresh clone writes byte code, and folders of the program that have just changed are not believed.
    compileall.compile_dir(Path(aggregate.__file__).parent, quiet=1)
    time.sleep(SETTLED_SECONDS)
    return folders


@pytest.mark.parametrize("job", JOBS)
def test_a_run_of_which_nothing_has_changed_is_repeated(
    projects: Mapping[str, Path], job: str
) -> None:
    """It writes and tells what a run without a cache does, and loads none of the program for that."""
    folder, arguments = projects[job], JOBS[job]
    run(folder, *arguments)
    again = run(folder, *arguments)
    afresh = run(folder, *arguments, "--no-cache")
    assert (again.way, afresh.way) == ("repeated", "long")
    assert (again.out, again.err, again.prompt) == (afresh.out, afresh.err, afresh.prompt)


def test_of_an_edit_the_file_alone_is_rendered(projects: Mapping[str, Path]) -> None:
    """A run after an edit asks no index, and tells and writes what one without a cache does."""
    folder = projects[EDITED]
    run(folder)
    with (folder / "src/retry.py").open("a") as file:
        file.write("again = True\n")
    again, afresh = run(folder), run(folder, "--no-cache")
    assert (again.way, again.out, again.prompt) == ("edited", afresh.out, afresh.prompt)
    assert again.err == afresh.err


def test_all_of_the_environment_that_is_asked_for_counts() -> None:
    """A variable that composing reads is part of what a run is remembered by."""
    source = Path(aggregate.__file__).parent
    texts = [
        path.read_text()
        for room in ("base", "project", "prompt")
        for path in (source / room).rglob("*.py")
    ]
    asked = {
        name for text in texts for name in re.findall(r'environ(?:\.get\(|\[)"([A-Z_]+)"', text)
    }
    assert {"XDG_CONFIG_HOME", "PATH", "BEADS_DIR"} <= asked
    # On Windows alone it is set, not read.
    asked -= {"NODEFAULTCURRENTDIRECTORYINEXEPATH"}
    uncounted = {name for name in asked if name not in replay.COUNTS}
    assert {name for name in uncounted if not name.startswith(replay.COUNT_FROM)} == set()


def test_a_commit_is_no_repeated_run(projects: Mapping[str, Path]) -> None:
    """Its id stands in the prompt, so that a run after it is made anew, though all files are as they were (rule T-7)."""
    folder, job = projects[COMMITTED], JOBS["task"]
    first, again = run(folder, *job), run(folder, *job)
    assert (again.way, again.prompt) == ("repeated", first.prompt)
    Repository(folder).commit("Go on", {"b.py": "y = 1\n"})
    assert run(folder, *job).prompt != first.prompt
