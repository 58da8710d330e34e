"""What can only be measured inside of one process: a prompt after an edit, a track's tickets, a bare parse.

Each figure runs in a process of its own, which ``simulation.instant`` starts, and is the median of its repetitions.
"""

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from simulation.processes import Cost

if TYPE_CHECKING:
    from aggregate.prompt import LivePrompt

EDITS = 5
RUNS = 3
TICKETS = 60
TRACK = "sixty_20260101"


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure: what it is called, and how it is measured.

    Attributes:
        title: Stands in the table.
        measure: Takes a tree and a suffix, which it may change the files of, and yields the cost of each repetition.
    """

    title: str
    measure: Callable[[Path, str], Iterator[Cost]]


@dataclass(frozen=True, slots=True)
class Measured:
    """A figure's median cost, as the table writes it."""

    cost: Cost

    def __str__(self) -> str:
        return f"{self.cost.wall * 1000:>7.0f} ms{self.cost.cpu:>8.2f} s"


def measure_here(name: str, tree: Path, suffix: str) -> Measured:
    """Measure a figure in a process of its own."""
    command = [
        sys.executable,
        "-m",
        "simulation.instant",
        str(tree),
        "--suffix",
        suffix,
        "--here",
        name,
    ]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return Measured(Cost(**json.loads(done.stdout)))


def print_figure(name: str, tree: Path, suffix: str) -> None:
    """Print the median of a figure as JSON."""
    costs = list(FIGURES[name].measure(tree, suffix))
    medians = {
        part: statistics.median(getattr(cost, part) for cost in costs) for part in ("wall", "cpu")
    }
    print(json.dumps(medians))


def bare_parse(tree: Path, suffix: str) -> Iterator[Cost]:
    """Parse every file once with tree-sitter and nothing else."""
    from aggregate.code.syntax import language_of
    from aggregate.code.syntax.parsing import parse_source

    language = language_of(f"x{suffix}")
    if language is None:
        raise SystemExit(f"no grammar for {suffix}")
    sources = [path.read_bytes() for path in sorted(tree.rglob(f"*{suffix}")) if path.is_file()]
    parse_source(b"", language)  # loads the grammar

    def parse() -> None:
        for source in sources:
            parse_source(source, language)

    yield _cost_of(parse)


def full_after_an_edit(tree: Path, suffix: str) -> Iterator[Cost]:
    """Compose all files in full again, in this process, after one of them has changed."""
    return _after_edits(tree, suffix, "**/*", "full")


def skeletons_after_an_edit(tree: Path, suffix: str) -> Iterator[Cost]:
    """Compose the skeletons again, in this process, after one file has changed."""
    return _after_edits(tree, suffix, f"**/*{suffix}", "skeleton")


def _after_edits(tree: Path, suffix: str, pattern: str, view_mode: str) -> Iterator[Cost]:
    files = sorted(path for path in tree.rglob(f"*{suffix}") if path.is_file())
    prompt = _live_prompt(tree, pattern, view_mode)
    prompt.compose()
    for edit in range(EDITS):
        path = files[edit * len(files) // EDITS]
        path.write_bytes(path.read_bytes() + b"\n" * (edit + 1))
        changed = [path.relative_to(tree).as_posix()]
        yield _cost_of(partial(prompt.compose, changed))


def _live_prompt(tree: Path, pattern: str, view_mode: str) -> "LivePrompt":
    """Return the prompt as a program holds it that watches the folder."""
    from aggregate.prompt import LivePrompt, open_project, request_for

    paths = [{"path": pattern, "view_mode": view_mode}]
    files = {"base_dir": str(tree), "paths": paths, "generated": "full"}
    return LivePrompt(request_for(open_project({"files": files})))


def lay_down_tickets(_tree: Path, _suffix: str) -> Iterator[Cost]:
    """Lay down the tickets of a track on a copy of this project: contexts, prompts' files, rows in the database."""
    with tempfile.TemporaryDirectory() as folder:
        root = _track_on_this_project(Path(folder) / "project")
        for number in range(1, RUNS + 1):
            yield _cost_of(partial(_conduct, root, number))


def _conduct(root: Path, number: int) -> None:
    from aggregate.agents.tracks import RunOptions, conduct
    from aggregate.agents.tracks.assignment import Assignment, WorkerReply
    from aggregate.prompt import open_project

    class Answers:
        """Answers at once, so that nothing but laying down and taking up is measured."""

        def work(self, _assignment: Assignment, begun: Callable[[], None]) -> WorkerReply:
            begun()
            return WorkerReply("answer", 1)

    options = RunOptions(database=str(root.parent / f"{number}.sqlite"))
    result = conduct(open_project(root / "manual_slop.toml"), TRACK, Answers(), options=options)
    if not result.succeeded:
        raise AssertionError("tickets failed")


def _track_on_this_project(root: Path) -> Path:
    """Copy this checkout and give it a track whose tickets have two files in focus each."""
    here = Path(__file__).parents[1]
    root.mkdir()
    for name in ("README.md", "pyproject.toml", "manual_slop.toml"):
        shutil.copy2(here / name, root)
    for name in ("src", "tests", "conductor"):
        shutil.copytree(here / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    sources = sorted(path.relative_to(root).as_posix() for path in (root / "src").rglob("*.py"))
    tickets = [
        f'[[tickets]]\nid = "t{i:02d}"\nprompt = "Say what the files in focus do."\n'
        f'focus_files = ["{sources[3 * i % len(sources)]}", "{sources[(3 * i + 1) % len(sources)]}"]\n'
        for i in range(TICKETS)
    ]
    track = root / "conductor" / "tracks" / TRACK
    track.mkdir()
    (track / "tickets.toml").write_text("\n".join(tickets), encoding="utf-8")
    (track / "metadata.json").write_text(json.dumps({"track_id": TRACK, "status": "new"}))
    with (root / "conductor" / "tracks.md").open("a", encoding="utf-8") as tracks:
        tracks.write(
            f"\n---\n\n- [ ] **Track: Sixty**\n*Link: [./tracks/{TRACK}/](./tracks/{TRACK}/)*\n"
        )
    return root


FIGURES = {
    "bare_parse": Figure("a bare parse, one process", bare_parse),
    "edit_full": Figure("in one process, after an edit: all in full", full_after_an_edit),
    "edit_skeletons": Figure("in one process, after an edit: skeletons", skeletons_after_an_edit),
    "tickets": Figure(f"{TICKETS} tickets of a track on this project", lay_down_tickets),
}


def _cost_of(work: Callable[[], object]) -> Cost:
    start, cpu = time.perf_counter(), _cpu()
    work()
    return Cost(time.perf_counter() - start, _cpu() - cpu)


def _cpu() -> float:
    return sum(os.times()[:4])
