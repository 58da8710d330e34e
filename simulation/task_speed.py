"""What a prompt for a task costs: first and later runs, a question after an edit, on one tree and on many files.

The folder is copied and committed, and the same questions are asked each time. Whole runs are measured as processes
with their memory, questions to a process that keeps running from within.
"""

import gc
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from argparse import SUPPRESS, ArgumentParser
from collections.abc import Iterator
from pathlib import Path

from simulation.processes import Job, compare, line
from simulation.trees import commit_all, copy_many, write_config

TASKS = (
    "Fix the crash in the template loader when a cached template was deleted",
    "QuerySet.bulk_create() should return primary keys on SQLite",
    "raise ValidationError for empty uploads in forms",
)
"""Questions that a tree of Django answers, and any other tree somehow."""
BUDGET = 8_000
MANY = 100_000
_OBJECTS_BETWEEN_COLLECTIONS = 500_000
"""As the program itself has it."""


def main(parser: ArgumentParser) -> None:
    """Measure, and print a line for each figure."""
    parser.add_argument("tree", type=Path, help="a folder with source files")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--suffix", default=".py", help="of what is edited, and copied (.py)")
    parser.add_argument("--many", type=int, default=MANY, help=f"files of the last rows ({MANY:,})")
    parser.add_argument("--here", action="store_true", help=SUPPRESS)
    options = parser.parse_args()
    if options.here:
        print(json.dumps(questions_here(options.tree, options.suffix, options.rounds)))
        return
    with tempfile.TemporaryDirectory() as folder:
        tree, many = Path(folder) / "tree", Path(folder) / "many"
        ignored = shutil.ignore_patterns(".git")
        shutil.copytree(options.tree, tree, ignore=ignored, symlinks=True)
        commit_all(tree)
        for text in measure(tree, options.suffix, options.rounds):
            print(text, flush=True)
        if options.many:
            copy_many(sorted(tree.rglob(f"*{options.suffix}")), many, options.many)
            for text in measure(many, options.suffix, 1):
                print(text, flush=True)


def measure(tree: Path, suffix: str, rounds: int) -> Iterator[str]:
    """Yield a line for each figure of one tree."""
    count = sum(path.is_file() for path in tree.rglob("*") if ".git" not in path.parts)
    cache = tree.parent / f"{tree.name}.cache"
    cold, warm = (_job(tree, cache, state) for state in ("first", "later"))
    costs = compare([cold, warm], rounds)
    for name in ("first", "later"):
        yield line(f"{name} run on {count:,} files", costs[name])
    yield f"{'  later / first':46}{costs['later'].wall / costs['first'].wall:>10.2f}"
    job = _job(tree, cache, "later")
    command = [sys.executable, "-m", "simulation", "task_speed", str(tree), "--here"]
    command += ["--suffix", suffix, "--rounds", str(rounds)]
    done = subprocess.run(
        command,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **job.environment},
    )
    for title, (wall, cpu) in json.loads(done.stdout).items():
        yield f"{title:46}{wall * 1000:>7.0f} ms{cpu * 1000:>7.0f} ms"
    sizes = [path.stat().st_size for path in cache.rglob("*") if path.is_file()]
    yield f"{'  the index':46}{sum(sizes) / (1 << 20):>7.1f} MB"


def questions_here(tree: Path, suffix: str, rounds: int) -> dict[str, tuple[float, float]]:
    """Return the least seconds and CPU seconds of questions in this process, by what was asked."""
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    edited = sorted(tree.rglob(f"*{suffix}"))[: 7 * rounds : 7]
    figures: dict[str, list[tuple[float, float]]] = {}
    for _ in range(max(rounds, 2)):  # the first one loads modules
        for task in TASKS:
            figures.setdefault("in one process: a question", []).append(_seconds(tree, task))
    for number, path in enumerate(edited):
        path.write_bytes(path.read_bytes() + f"\nEDITED = {number}\n".encode())
        seconds = _seconds(tree, TASKS[number % len(TASKS)])
        figures.setdefault("in one process: a question after an edit", []).append(seconds)
    return {
        title: (min(wall for wall, _ in seconds), min(cpu for _, cpu in seconds))
        for title, seconds in figures.items()
    }


def _job(tree: Path, cache: Path, name: str) -> Job:
    """Return a whole run; the first one with an empty index."""
    output = tree.parent / f"{tree.name}.out"

    def before() -> None:
        if name == "first":
            shutil.rmtree(cache, ignore_errors=True)
        shutil.rmtree(output, ignore_errors=True)

    more = f'[output]\noutput_dir = "{output.name}"\n'
    config = write_config(tree.parent / f"{tree.name}.toml", ['"**/*"'], tree.name, more)
    command = [sys.executable, "-m", "aggregate", "run", "-c", str(config)]
    command += ["--task", TASKS[0], "--budget", str(BUDGET)]
    environment = {
        "AGGREGATE_CACHE_DIR": str(cache),
        "AGGREGATE_STATE_DIR": str(tree.parent / "state"),
    }
    return Job(name, command, environment, before, tree.parent)


def _seconds(tree: Path, task: str) -> tuple[float, float]:
    """Return the seconds of one question in this process, and its CPU seconds with those of programs that it starts."""
    from simulation.prompt_makers import Ask, Ours

    start, cpu = time.perf_counter(), sum(os.times()[:4])
    Ours().make(tree, Ask(task), BUDGET)
    return time.perf_counter() - start, sum(os.times()[:4]) - cpu
