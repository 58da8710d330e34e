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
from multiprocessing import get_context
from multiprocessing.context import ForkServerProcess
from pathlib import Path

from aggregate.agents.tracks import RunOptions, conduct, run_worker
from aggregate.agents.tracks.assignment import Assignment, WorkerReply
from aggregate.agents.tracks.durable.database import DATABASE
from aggregate.base.disk import state_folder
from aggregate.prompt import open_project

TRACK = "killed_1"
LOG = "asked.log"


@dataclass(frozen=True, slots=True)
class LoggedWorker:
    """Writes down that it was asked, takes a moment, and answers."""

    log: Path
    seconds: float

    def work(self, assignment: Assignment, begun: Callable[[], None]) -> WorkerReply:
        """Answer with the ticket's id."""
        self._write(f"asked {assignment.ticket}\n")
        time.sleep(self.seconds)
        self._write(f"answered {assignment.ticket}\n")
        return WorkerReply(f"answer of {assignment.ticket}", 1)

    def _write(self, line: str) -> None:
        descriptor = os.open(self.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(descriptor, line.encode())
        finally:
            os.close(descriptor)


def write_project(folder: Path, tickets: int, *, chained: bool = True) -> Path:
    """Write a small project with one track and return its folder; every fifth ticket depends on the one before."""
    track = folder / "conductor" / "tracks" / TRACK
    track.mkdir(parents=True)
    (folder / "code.py").write_text("def one() -> int:\n    return 1\n", encoding="utf-8")
    config = f'[project]\nname = "{folder.name}"\n\n[files]\npaths = ["code.py"]\n'
    (folder / "manual_slop.toml").write_text(config, encoding="utf-8")
    entry = f"# Project Tracks\n\n- [ ] **Track: Killed**\n*Link: [./tracks/{TRACK}/](./tracks/{TRACK}/)*\n"
    (folder / "conductor" / "tracks.md").write_text(entry, encoding="utf-8")
    tables = []
    for i in range(tickets):
        table = f'[[tickets]]\nid = "t{i:04d}"\nprompt = "Work on {i}."\ncollect_into = "$all"\n'
        tables.append(
            table + (f'depends_on = ["t{i - 1:04d}"]\n' if chained and i % 5 == 4 else "")
        )
    (track / "tickets.toml").write_text("\n".join(tables), encoding="utf-8")
    return folder


@dataclass(frozen=True, slots=True)
class Leftovers:
    """What a run has left.

    Attributes:
        replies: Reply files by ticket.
        reported: Rows of the report by ticket that say it is done.
        merged: Items of the merged variable.
        asked: How often each ticket was asked.
    """

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
    log = folder / LOG
    lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    asked = Counter(line.split()[1] for line in lines if line.startswith("asked "))
    merged = sum(": answer of " in line for line in report)
    return Leftovers(replies, Counter(row[2].strip() for row in rows), merged, asked)


def start(role: str, folder: Path, database: str, seconds: float) -> ForkServerProcess:
    """Start a process that can be killed: ``conduct``, ``coordinate`` or ``work``.

    It is forked off a server that has imported everything, so that a start takes milliseconds, not a second.
    """
    context = get_context("forkserver")
    context.set_forkserver_preload(["simulation.kills"])
    process = context.Process(target=_live, args=(role, folder, database, seconds))
    process.start()
    return process


def _live(role: str, folder: Path, database: str, seconds: float) -> None:
    """Be the process that is killed."""
    with (folder / "stderr.log").open("ab") as errors:
        os.dup2(errors.fileno(), sys.stderr.fileno())
    if role == "work":
        with run_worker(database, LoggedWorker(folder / LOG, seconds), lease=2):
            signal.pause()
    worker = LoggedWorker(folder / LOG, seconds) if role == "conduct" else None
    conduct(
        open_project(folder / "manual_slop.toml"),
        TRACK,
        worker,
        options=RunOptions(database=database, lease=2),
    )


@dataclass(frozen=True, slots=True)
class Round:
    """A run that was killed until it was over.

    Attributes:
        kills: How often.
        leftovers: What it left.
    """

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
