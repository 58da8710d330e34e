"""Tracks that decide their own way, killed again and again, in figures.

The track has a schema that is not met at first, a list, a failed attempt, conditions, two approvals, a list over a
list's answers, and a limit of costs. A person decides while it runs or while nobody does.
"""

import os
import random
import sys
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from signal import SIGKILL, pause
from tempfile import TemporaryDirectory
from time import sleep

from aggregate import (
    Project,
    RunOptions,
    StateError,
    TrackError,
    WorkerError,
    conduct,
    open_project,
)
from aggregate.agents.tracks import Assignment, TicketStatus, Worker, WorkerReply, run_worker
from aggregate.agents.tracks.run_control import TrackProgress, decide, status
from simulation.killing import Journal, forked
from simulation.trees import write_track

TRACK = "killed_1"
LOG = "asked.log"
KILLS = 100
_KILLS_OF_A_RUN = 12
"""Then it may come to its end, and another run is begun."""
_CHILDREN = 12
_PRICE = 0.01
_DECISIONS = {"gate": True, "second": False}
_TICKETS = """\
max_cost = 50.0

[[tickets]]
id = "list"
prompt = "Which?"
answer = { type = "array", items = { type = "string" } }

[[tickets]]
id = "look"
prompt = "Look at {{item}}."
depends_on = ["list"]
for_each = "results.list"
retries = 1

[[tickets]]
id = "gate"
kind = "approval"
prompt = "Is it good?"
depends_on = ["look"]

[[tickets]]
id = "go"
prompt = "Go."
depends_on = ["gate"]
when = "results.gate == 'because gate'"

[[tickets]]
id = "stay"
prompt = "Stay."
depends_on = ["gate"]
when = "results.gate != 'because gate'"

[[tickets]]
id = "ship"
prompt = "Ship {{item}}."
depends_on = ["look", "gate"]
for_each = "results.look"
collect_into = "$shipped"

[[tickets]]
id = "second"
kind = "approval"
prompt = "Once more?"
depends_on = ["go"]

[[tickets]]
id = "never"
prompt = "Never."
depends_on = ["second"]

[[tickets]]
id = "end"
prompt = "Sum up."
depends_on = ["ship", "stay"]
"""


@dataclass(frozen=True, slots=True)
class DecidingWorker:
    """Writes down that it was asked, takes a moment, and answers each for a cent."""

    journal: Journal

    def work(self, assignment: Assignment) -> WorkerReply:
        """Answer; the first answer of the list is none, and the first attempt at one of its items fails."""
        name = assignment.ticket
        self.journal.write(f"asked {name} {assignment.attempt}")
        sleep(0.02)
        if name == "look[3]" and assignment.attempt == 1:
            raise WorkerError("not at first", tokens=1, cost=_PRICE)
        items = ", ".join(f'"item {number}"' for number in range(_CHILDREN))
        answer = f"answer of {name}"
        if name == "list":
            answer = f"[{items}]" if assignment.attempt > 1 else "no list"
        return WorkerReply(answer, 1, cost=_PRICE)


def expected() -> dict[str, str]:
    """Return how each ticket must end."""
    asked = {"list", "gate", "go", "end", "look", "ship"}
    children = {f"{name}[{i}]" for name in ("look", "ship") for i in range(_CHILDREN)}
    states = dict.fromkeys(asked | children, "done")
    return states | {"stay": "left out", "second": "rejected", "never": "not run"}


@dataclass(frozen=True, slots=True)
class Round:
    """What a run that was killed again and again has left."""

    kills: int
    faults: tuple[str, ...]
    repeated: int


def killed_track(
    folder: Path, number: int, chance: random.Random, *, most: int, roles: Sequence[str], url: str
) -> Round:
    """Run the project's track until it is over, killing one of its processes at most ``most`` times."""
    project = open_project(folder / "manual_slop.toml")
    (folder / LOG).unlink(missing_ok=True)
    processes = [_start(role, folder, url) for role in roles]
    kills, decided = 0, Counter[str]()
    while not _is_over(project, number, url):
        for place, process in enumerate(processes):
            if not process.is_alive():
                _check_end(folder, process)
                if not _is_over(project, number, url):
                    processes[place] = _start(roles[place], folder, url)
        sleep(chance.uniform(0.1, 3.0))
        victim = chance.choice(processes)
        if kills < most and victim.is_alive():
            victim.kill()
            victim.join()
            kills += 1
        decided += _decide(project, number, chance, url)
    for process in processes:
        process.join(0 if roles != ("conduct",) else 30)
        process.kill()
        process.join()
    return _round(folder, project, number, kills, decided, url)


def _start(role: str, folder: Path, url: str) -> ForkServerProcess:
    return forked(live, role, folder, url, DecidingWorker(Journal(folder / LOG)))


def live(role: str, folder: Path, database: str, worker: Worker) -> None:
    """Be a process that is killed."""
    with (folder / "stderr.log").open("ab") as errors:
        os.dup2(errors.fileno(), sys.stderr.fileno())
    if role == "work":
        with run_worker(database, worker, lease=2):
            pause()
    conduct(
        open_project(folder / "manual_slop.toml"),
        TRACK,
        worker if role == "conduct" else None,
        options=RunOptions(database=database, lease=2),
    )


def _check_end(folder: Path, process: ForkServerProcess) -> None:
    if process.exitcode not in (0, -SIGKILL):
        raise RuntimeError((folder / "stderr.log").read_text(encoding="utf-8")[-2000:])


def _progress(project: Project, number: int, url: str) -> TrackProgress | None:
    """Return how the run stands, ``None`` where it has not begun or another process makes the tables just now."""
    with suppress(StateError):
        progress = status(project, TRACK, database=url)
        if progress is not None and progress.run_id.endswith(f"/{number:03d}"):
            return progress
    return None


def _is_over(project: Project, number: int, url: str) -> bool:
    progress = _progress(project, number, url)
    return progress is not None and progress.state == "finished"


def _decide(project: Project, number: int, chance: random.Random, url: str) -> Counter[str]:
    """Decide about what waits, sometimes."""
    progress = _progress(project, number, url)
    decided: Counter[str] = Counter()
    if progress is None or chance.random() < 0.5:
        return decided
    for ticket in progress.with_status(TicketStatus.WAITING):
        note = f"because {ticket}"
        with suppress(TrackError):
            decide(project, TRACK, ticket, approved=_DECISIONS[ticket], note=note, database=url)
            decided[ticket] += 1
    return decided


def _round(
    folder: Path, project: Project, number: int, kills: int, decided: Counter[str], url: str
) -> Round:
    """Look at everything that the run has left."""
    faults = [f"{name} was decided {times} times" for name, times in decided.items() if times != 1]
    out = folder / "md_gen" / f"{TRACK}_{number:03d}"
    report = (out / "report.md").read_text(encoding="utf-8")
    rows = [
        [cell.strip() for cell in line.split("|")]
        for line in report.splitlines()
        if line.startswith("| ")
    ]
    found = [(row[2], row[4]) for row in rows[1:]]
    faults += _differences("row", found, list(expected().items()))
    names = [path.name.split("_", 1)[1] for path in out.iterdir() if path.name[0].isdigit()]
    ends = [
        name.replace(".failed.md", "").replace(".reply.md", "")
        for name in names
        if ".prompt" not in name
    ]
    ended = [name for name, state in expected().items() if state in ("done", "rejected")]
    faults += _differences("file", [end for end in ends if end in expected()], ended)
    if "rejected: because second" not in report:
        faults.append("the rejection's note is lost")
    progress = _progress(project, number, url)
    lines = progress.lines if progress else ()
    faults += _costs((lines and {line.ticket.id: line.end.cost or 0.0 for line in lines}) or {})
    asked = Journal(folder / LOG).counts()
    return Round(kills, tuple(faults), sum(asked.values()) - len(asked))


def _costs(costs: dict[str, float]) -> list[str]:
    """Return whose price is not that of its recorded attempts."""
    twice = ("list", "look[3]")
    free = ("gate", "second", "stay", "look", "ship")
    right = {
        name: 0.0 if name in free else _PRICE * (1 + (name in twice))
        for name, state in expected().items()
        if state != "not run"
    }
    return [
        f"{name} costs {costs.get(name)}, not {price}"
        for name, price in right.items()
        if abs(costs.get(name, -1.0) - price) > 1e-9
    ]


def _differences(what: str, found: Sequence[object], right: Sequence[object]) -> list[str]:
    lost, more = Counter(right) - Counter(found), Counter(found) - Counter(right)
    return [f"{what} {each} is lost" for each in lost] + [
        f"{what} {each} is too many" for each in more
    ]


def main(parser: ArgumentParser) -> None:
    """Print what many killed tracks have left."""
    parser.add_argument("kills", nargs="?", type=int, default=KILLS, help="how many kills")
    parser.add_argument(
        "--postgres", action="store_true", help="on a server, with two workers and a conductor"
    )
    options = parser.parse_args()
    roles = ("coordinate", "work", "work") if options.postgres else ("conduct",)
    chance, kills, repeated, number, broken = random.Random(7), 0, 0, 0, 0
    with TemporaryDirectory() as scratch, server(options.postgres) as url:
        folder = write_track(Path(scratch) / "p", TRACK, _TICKETS, files="code.py")
        while kills < options.kills:
            number += 1
            most = min(_KILLS_OF_A_RUN, options.kills - kills)
            done = killed_track(folder, number, chance, most=most, roles=roles, url=url)
            kills, repeated = kills + done.kills, repeated + done.repeated
            broken += bool(done.faults)
            for fault in done.faults:
                print(f"run {number}: {fault}")
    print(f"{number} runs, {kills} kills: {number - broken} exact; {repeated} attempts made again")
    sys.exit(bool(broken))


def server(wanted: bool) -> AbstractContextManager[str]:
    """Return a Postgres server of its own, or nothing in its place."""
    from tests.fakes.postgres import postgres_server

    return postgres_server() if wanted else nullcontext("")
