"""Runs that are killed: a track in a process of its own, ``kill -9`` at random moments, and what is left afterwards.

Each worker writes a line into a log before it answers, so that afterwards it is known how often each ticket was asked.
"""

import os
import random
import signal
import sqlite3
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from multiprocessing.context import ForkServerProcess
from pathlib import Path

from aggregate import RunOptions, conduct, open_project
from aggregate.agents.tracks import run_worker
from aggregate.agents.tracks.assignment import Assignment, WorkerReply
from aggregate.agents.tracks.durable.database import DATABASE
from aggregate.agents.tracks.worker import Worker
from aggregate.base.disk import state_folder
from simulation.killed_goals import Journal, forked
from simulation.trees import write_track

TRACK = "killed_1"
LOG = "asked.log"


@dataclass(frozen=True, slots=True)
class LoggedWorker:
    """Writes down that it was asked, takes a moment, and answers."""

    log: Path
    seconds: float

    def work(self, assignment: Assignment, begun: Callable[[], None]) -> WorkerReply:
        """Answer with the ticket's id."""
        Journal(self.log).write(f"asked {assignment.ticket}")
        time.sleep(self.seconds)
        Journal(self.log).write(f"answered {assignment.ticket}")
        return WorkerReply(f"answer of {assignment.ticket}", 1)


def write_project(folder: Path, tickets: int, *, chained: bool = True) -> Path:
    """Write a small project with one track and return its folder; every fifth ticket depends on the one before."""
    tables = []
    for i in range(tickets):
        table = f'[[tickets]]\nid = "t{i:04d}"\nprompt = "Work on {i}."\ncollect_into = "$all"\n'
        before = f'depends_on = ["t{i - 1:04d}"]\n' if chained and i % 5 == 4 else ""
        tables.append(table + before)
    write_track(folder, TRACK, "\n".join(tables), files="code.py")
    (folder / "code.py").write_text("def one() -> int:\n    return 1\n", encoding="utf-8")
    return folder


@dataclass(frozen=True, slots=True)
class Leftovers:
    """What a run has left."""

    replies: Counter[str]
    reported: Counter[str]
    merged: int
    asked: Counter[str]

    def exact(self, tickets: int) -> bool:
        """Tell whether each ticket is there exactly once, in the files, in the report and in the variable."""
        once = Counter({f"t{i:04d}": 1 for i in range(tickets)})
        return self.replies == once and self.reported == once and self.merged == tickets

    @property
    def asked_again(self) -> int:
        """How many calls were repeated."""
        return sum(self.asked.values()) - len(self.asked)


def read_leftovers(folder: Path, number: int) -> Leftovers:
    """Read what the ``number``-th run of the project's track has left."""
    out = folder / "md_gen" / f"{TRACK}_{number:03d}"
    replies = Counter(
        path.name.split("_", 1)[1].removesuffix(".reply.md") for path in out.glob("*.reply.md")
    )
    report = (out / "report.md").read_text(encoding="utf-8").splitlines()
    rows = (line.split("|") for line in report if line.startswith("| ") and "| done |" in line)
    asked = Counter[str]()
    for line, count in Journal(folder / LOG).counts().items():
        if line.startswith("asked "):
            asked[line.removeprefix("asked ")] += count
    merged = sum(": answer of " in line for line in report)
    return Leftovers(replies, Counter(row[2].strip() for row in rows), merged, asked)


def start(role: str, folder: Path, database: str, seconds: float) -> ForkServerProcess:
    """Start a process that can be killed: ``conduct``, ``coordinate`` or ``work``."""
    return forked(live, role, folder, database, LoggedWorker(folder / LOG, seconds))


def live(role: str, folder: Path, database: str, worker: Worker) -> None:
    """Be a process that is killed."""
    with (folder / "stderr.log").open("ab") as errors:
        os.dup2(errors.fileno(), sys.stderr.fileno())
    if role == "work":
        with run_worker(database, worker, lease=2):
            signal.pause()
    conduct(
        open_project(folder / "manual_slop.toml"),
        TRACK,
        worker if role == "conduct" else None,
        options=RunOptions(database=database, lease=2),
    )


@dataclass(frozen=True, slots=True)
class Round:
    """A run that was killed until it was over."""

    kills: int
    leftovers: Leftovers


def killed_run(
    folder: Path, number: int, *, most: int, chance: random.Random, seconds: float = 0.02
) -> Round:
    """Run the project's track, killing it at most ``most`` times, then let it end."""
    (folder / LOG).unlink(missing_ok=True)
    kills = 0
    while True:
        process = start("conduct", folder, "", seconds)
        # The upper end is about what a whole run takes, so that kills fall on every part of it.
        process.join(chance.uniform(0.1, 3.0) if kills < most else 300)
        if process.exitcode is None:
            process.kill()
            process.join()
            kills += 1
            if not _is_over(folder, number):
                continue
        if process.exitcode not in (0, -signal.SIGKILL):
            raise RuntimeError((folder / "stderr.log").read_text(encoding="utf-8")[-2000:])
        return Round(kills, read_leftovers(folder, number))


def _is_over(folder: Path, number: int) -> bool:
    """Tell whether the kill came after the run's end; another start would begin the next run."""
    database = state_folder(folder) / DATABASE
    if not database.exists():
        return False
    try:
        with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
            query = "SELECT state FROM conductor_runs WHERE number = ?"
            return bool(connection.execute(query, (number,)).fetchone() == ("finished",))
    except sqlite3.Error:  # killed before its tables were made
        return False
