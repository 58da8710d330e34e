"""Runs of the same words: what has not changed since the last one is neither read nor computed again."""

import compileall
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
from tests.cli.command_line import begin, program_environment
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


def run(folder: Path, *arguments: str) -> Done:
    """Run the program in a copy of a process that has it loaded."""
    with begin(folder, *arguments) as begun:
        code = begun.command.wait()
        out, err = begun.out.read().decode(), begun.err.read().decode()
    return done(folder, code, out, err)


def run_cold(folder: Path, *arguments: str) -> Done:
    """Run the program in a process of its own, and say which way it took."""
    ended = subprocess.run(
        [sys.executable, "-c", STARTER, *arguments],
        cwd=folder,
        env=program_environment(folder),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )
    err, _, how = ended.stderr.removesuffix("\n").rpartition("\n")
    told = done(folder, ended.returncode, ended.stdout, err + "\n" * bool(err))
    return told._replace(way=WAYS.get(how, "long"))


def done(folder: Path, code: int, out: str, err: str) -> Done:
    """Return how a run ended, numbers of prompts left out."""
    assert code == 0, err
    prompts = sorted((folder / "out").glob("*_???.md"))
    written = prompts[-1].read_bytes() if prompts else b""
    return Done(re.sub(r"_\d{3}\.md", "_N.md", out), err, written, "")


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
    again = run_cold(folder, *arguments)
    afresh = run(folder, *arguments, "--no-cache")
    assert again.way == "repeated"
    assert (again.out, again.err, again.prompt) == (afresh.out, afresh.err, afresh.prompt)


def test_of_an_edit_the_file_alone_is_rendered(projects: Mapping[str, Path]) -> None:
    """A run after an edit asks no index, and tells and writes what one without a cache does."""
    folder = projects[EDITED]
    run(folder)
    with (folder / "src/retry.py").open("a") as file:
        file.write("again = True\n")
    again, afresh = run_cold(folder), run_cold(folder, "--no-cache")
    assert (again.way, afresh.way) == ("edited", "long")
    assert (again.out, again.err, again.prompt) == (afresh.out, afresh.err, afresh.prompt)


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
    first, again = run(folder, *job), run_cold(folder, *job)
    assert (again.way, again.prompt) == ("repeated", first.prompt)
    Repository(folder).commit("Go on", {"b.py": "y = 1\n"})
    assert run(folder, *job).prompt != first.prompt
