"""What a prompt for a task costs: first and later runs, a question after an edit, on one tree and on many files.

``python -m simulation.task_speed TREE`` copies the folder, commits it, and asks the same questions each time. Whole
runs are measured as processes with their memory, questions to a process that keeps running from within. Machines are
shared and noisy: quote ratios, and the best of the rounds.
"""

import argparse
import gc
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from simulation.many_files import make_many
from simulation.processes import Cost, Job, compare

TASKS = (
    "Fix the crash in the template loader when a cached template was deleted",
    "QuerySet.bulk_create() should return primary keys on SQLite",
    "raise ValidationError for empty uploads in forms",
)
"""Questions that a tree of Django answers, and any other tree somehow."""
BUDGET = 8_000
MANY = 100_000
_PER_FOLDER = 1_000
ROUNDS = 3
_OBJECTS_BETWEEN_COLLECTIONS = 500_000
"""As the program itself has it."""


def main() -> None:
    """Measure, and print a line for each figure."""
    parser = argparse.ArgumentParser(prog="python -m simulation.task_speed", description=__doc__)
    parser.add_argument("tree", type=Path, help="a folder with source files")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument(
        "--suffix", default=".py", help="of the file that is edited, and of many files (.py)"
    )
    parser.add_argument(
        "--many", type=int, default=MANY, help=f"files of the last rows ({MANY:,}), 0 for none"
    )
    parser.add_argument(
        "--many-of",
        type=Path,
        nargs="+",
        metavar="CLONE",
        help="make the many files of these repositories' sources, in their folders",
    )
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here:
        print(json.dumps(questions_here(options.tree, options.suffix, options.rounds)))
        return
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        ignored = shutil.ignore_patterns(".git")
        shutil.copytree(options.tree, tree, ignore=ignored, symlinks=True)
        commit_all(tree)
        for line in measure(tree, options.suffix, options.rounds):
            print(line, flush=True)
        if options.many:
            many = Path(folder) / "many"
            if options.many_of:
                make_many(options.many_of, many, options.many)
                commit_all(many)
            else:
                copy_many(sorted(tree.rglob(f"*{options.suffix}")), many, options.many)
            for line in measure(many, options.suffix, 1):
                print(line, flush=True)


def measure(tree: Path, suffix: str, rounds: int) -> Iterator[str]:
    """Yield a line for each figure of one tree."""
    count = sum(path.is_file() for path in tree.rglob("*") if ".git" not in path.parts)
    cache = tree.parent / f"{tree.name}.cache"
    cold, warm = (_job(tree, cache, state) for state in ("first", "later"))
    costs = compare([cold, warm], rounds)
    for name in ("first", "later"):
        yield _line(f"{name} run on {count:,} files", costs[name])
    yield f"{'  later / first':46}{costs['later'].wall / costs['first'].wall:>10.2f}"
    job = _job(tree, cache, "later")
    command = [sys.executable, "-m", "simulation.task_speed", str(tree), "--here"]
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


def copy_many(files: Sequence[Path], target: Path, number: int) -> None:
    """Write many files, each with a line that no other has."""
    texts = [path.read_bytes() for path in files if path.is_file()]
    for place in range(number):
        folder = target / f"{place // _PER_FOLDER:04d}"
        if place % _PER_FOLDER == 0:
            folder.mkdir(parents=True)
        source = files[place % len(texts)]
        text = texts[place % len(texts)] + f"\ncopy_{place} = {place}\n".encode()
        (folder / f"{source.stem}_{place:06d}{source.suffix}").write_bytes(text)


def commit_all(tree: Path) -> None:
    """Make a repository with one commit of a folder."""
    who = ["-c", "user.name=x", "-c", "user.email=x@y", "-c", "gc.auto=0"]
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "Begin"]):
        subprocess.run(["git", "-C", str(tree), *who, *arguments], check=True, capture_output=True)


def _job(tree: Path, cache: Path, name: str) -> Job:
    """Return a whole run; the first one with an empty index."""
    output = tree.parent / f"{tree.name}.out"

    def before() -> None:
        if name == "first":
            shutil.rmtree(cache, ignore_errors=True)
        shutil.rmtree(output, ignore_errors=True)

    config = tree.parent / f"{tree.name}.toml"
    config.write_text(
        f'[project]\nname = "speed"\n[files]\nbase_dir = "{tree.name}"\npaths = ["**/*"]\n'
        f'[output]\noutput_dir = "{output.name}"\n',
        encoding="utf-8",
    )
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


def _line(title: str, cost: Cost) -> str:
    return f"{title:46}{cost.wall:>8.2f} s{cost.cpu:>8.2f} s{cost.peak_mb:>7.0f} MB"


if __name__ == "__main__":
    main()
