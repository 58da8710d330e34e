"""Does a run that repeats or amends the one before tell and write what the long way would, whatever happened between?

Projects of all kinds are made and changed at random. After each change a command runs with the cache that it has
filled, and again in the same place with an empty one; both must write and tell the same. How often a run was repeated
(A), had a few files rendered anew (B) or went the long way (C) is told, since without A and B nothing is proved. Then
runs of one project are killed at random moments, and many run at once.
"""

import os
import random
import shutil
import sys
import time
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple, ParamSpec, TypeVar

import aggregate.cli
import aggregate.cli.run as run_command
import aggregate.cli.view_and_stats
import aggregate.prompt.audit
from aggregate.cli import replay
from simulation.changing_project import ChangingProject
from simulation.killing import forked

# What is younger proves nothing to a run.
_AGED_SECONDS = 2.1
_FILES = 40
_LATEST_KILL_SECONDS = 0.25

_Taken = ParamSpec("_Taken")
_Given = TypeVar("_Given")


class Outcome(NamedTuple):
    """What a command has told and written, and which way it went."""

    code: str
    out: bytes
    err: bytes
    written: Mapping[str, bytes]
    way: str


def _start(project: ChangingProject, cache: Path, streams: Path) -> ForkServerProcess:
    streams.mkdir(exist_ok=True)
    environment = project.environment() | {"AGGREGATE_CACHE_DIR": str(cache)}
    return forked(_be_command, project.project, streams, project.command, environment)


def _be_command(
    project: Path, streams: Path, command: tuple[str, ...], environment: dict[str, str]
) -> None:
    """Be a process that runs a command, and note which way it goes; all is loaded, which saves a second for each."""
    os.chdir(project)
    os.environ.clear()
    os.environ.update(environment)
    for number, name in ((1, "out"), (2, "err")):
        descriptor = os.open(streams / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(descriptor, number)
        os.close(descriptor)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", encoding="utf-8", closefd=False)
    sys.argv[1:] = command
    ways = ["C"]

    def noted(function: Callable[_Taken, _Given], way: str) -> Callable[_Taken, _Given]:
        def call(*arguments: _Taken.args, **named: _Taken.kwargs) -> _Given:
            result = function(*arguments, **named)
            ways[:] = ["C" if result is None else way]
            return result

        return call

    replay.repeat = noted(replay.repeat, "A")
    run_command.Recording.begin = noted(run_command.Recording.begin, "B")  # type: ignore[method-assign]
    try:
        aggregate.cli.main()
    except SystemExit as end:
        (streams / "told").write_text(f"{ways[0]}{end.code}")


def _outcome(project: ChangingProject, cache: Path) -> Outcome:
    streams = project.folder / "streams"
    shutil.rmtree(streams, ignore_errors=True)
    before = project.written()
    _start(project, cache, streams).join()
    out, err, told = ((streams / name).read_bytes() for name in ("out", "err", "told"))
    written = {name: data for name, data in project.written().items() if before.get(name) != data}
    return Outcome(told[1:].decode(), out, err, written, told[:1].decode())


def compare(project: ChangingProject) -> tuple[Outcome, str]:
    """Run with the cache and without; return what the second told, and a text of both where they differ."""
    warm = _outcome(project, project.cache)
    for name in warm.written:
        (project.folder / name).unlink()
    empty = project.folder / "empty"
    cold = _outcome(project, empty)
    shutil.rmtree(empty, ignore_errors=True)
    is_same = warm._replace(way="") == cold._replace(way="")
    told = "" if is_same else f"{project.command} {project.said[-3:]}\n  warm {warm}\n  cold {cold}"
    return cold._replace(way=warm.way), told


def change_many(folder: Path, projects: int, rounds: int, seed: int) -> Counter[str]:
    """Change many projects in turns, so that one pause ages the files of all."""
    chance, found = random.Random(seed), Counter[str]()
    many = [ChangingProject(folder / str(n), seed * 1_000 + n) for n in range(projects)]

    def run(project: ChangingProject) -> list[tuple[Outcome, str]]:
        return [compare(project) for _ in range(project.chance.choice((1, 1, 2)))]

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for _ in range(rounds):
            for project in many:
                project.change()
            time.sleep(_AGED_SECONDS * chance.choice((0, 1, 1, 1)))
            for outcome, difference in (each for of_one in pool.map(run, many) for each in of_one):
                found[outcome.way] += 1
                _tell(difference, found)
    return found


def kill(folder: Path, kills: int, seed: int) -> Counter[str]:
    """Kill runs with the cache and without one; what they have written, and what the next run does, must be right."""
    project, found = _plain_project(folder, seed), Counter[str]()
    for _ in range(kills):
        if project.chance.random() < 0.15:
            project.edit()
            time.sleep(_AGED_SECONDS)
        before = project.written()
        cache = project.chance.choice((project.cache, folder / "empty"))
        process = _start(project, cache, folder / "killed")
        time.sleep(project.chance.uniform(0, _LATEST_KILL_SECONDS))
        process.kill()
        process.join()
        shutil.rmtree(folder / "empty", ignore_errors=True)
        left = {name: data for name, data in project.written().items() if name not in before}
        outcome, difference = compare(project)
        found[f"then {outcome.way}"] += 1
        found[f"{len(left)} files left"] += 1
        _tell(difference, found)
        right = {Path(name).suffix: data for name, data in outcome.written.items()}
        for name, data in left.items():
            is_torn = Path(name).suffix == ".md" and data != right.get(".md")
            _tell(f"{name} is torn" if is_torn else "", found)
    return found


def share(folder: Path, processes: int, seed: int) -> Counter[str]:
    """Start many runs at once: after nothing, after an edit, with and without a cache that knows the project."""
    project, found = _plain_project(folder, seed), Counter[str]()
    for _ in range(4):
        project.chance.choice((project.edit, list))()
        time.sleep(_AGED_SECONDS)
        before = project.written()
        streams = [folder / f"streams{number}" for number in range(processes)]
        for process in [_start(project, project.cache, each) for each in streams]:
            process.join()
        new = {name: data for name, data in project.written().items() if name not in before}
        prompts = [data for name, data in new.items() if name.endswith(".md")]
        paths = {(each / "out").read_bytes() for each in streams}
        told = [(each / "told").read_text() for each in streams]
        found.update(told)
        right = compare(project)[0].written
        if (
            len(paths) < processes
            or len(prompts) < processes
            or {code[1:] for code in told} != {"0"}
        ):
            _tell(f"{len(paths)} paths, {len(prompts)} prompts of {processes}", found)
        if {*prompts} != {data for name, data in right.items() if name.endswith(".md")}:
            _tell(f"{len({*prompts})} different prompts", found)
    return found


def _plain_project(folder: Path, seed: int) -> ChangingProject:
    project = ChangingProject(folder, seed)
    project.command = ("run", "-q")
    for number in range(_FILES):
        project.write(project.project / f"lib/m{number}.py")
    (project.project / "manual_slop.toml").write_text(
        '[project]\nname = "demo"\n[files]\npaths = ["lib/*"]\n'
    )
    time.sleep(_AGED_SECONDS)
    compare(project)
    return project


def _tell(difference: str, found: Counter[str]) -> None:
    if difference:
        found["wrong"] += 1
        print(f"WRONG: {difference}", flush=True)


def main(parser: ArgumentParser) -> None:
    """Run all three."""
    parser.add_argument("--projects", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=20, help="in which each project is changed")
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--processes", type=int, default=100, help="how many to start at once")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    seed = options.seed
    with TemporaryDirectory() as name:
        folder = Path(name)
        print(
            "changes:", dict(change_many(folder / "many", options.projects, options.rounds, seed))
        )
        print("kills:", dict(kill(folder / "kills", options.kills, seed)), flush=True)
        print("at once:", dict(share(folder / "share", options.processes, seed)), flush=True)
