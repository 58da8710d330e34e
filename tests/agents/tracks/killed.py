"""Runs that are killed: a track in a process of its own, and what is left afterwards.

Each worker writes a line into a log before it answers, so that afterwards it is known how often each ticket was asked.
"""

import time
from collections import Counter
from dataclasses import dataclass
from multiprocessing.context import ForkServerProcess
from pathlib import Path

from simulation.killing import Journal, forked
from simulation.track_kills import LOG, TRACK, live
from simulation.trees import write_track

from aggregate.agents.tracks import Assignment, WorkerReply


@dataclass(frozen=True, slots=True)
class LoggedWorker:
    """Writes down that it was asked, takes a moment, and answers."""

    log: Path
    seconds: float

    def work(self, assignment: Assignment) -> WorkerReply:
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
    merged = sum(line.startswith("answer of ") for line in report)
    return Leftovers(replies, Counter(row[2].strip() for row in rows), merged, asked)


def start(role: str, folder: Path, database: str, seconds: float) -> ForkServerProcess:
    """Start a process that can be killed: ``conduct``, ``coordinate`` or ``work``."""
    return forked(live, role, folder, database, LoggedWorker(folder / LOG, seconds))
