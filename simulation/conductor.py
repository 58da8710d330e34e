"""Measure durable runs: their overhead, their memory, and what ``kill -9`` at random moments does to them."""

import argparse
import random
import resource
import time
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from aggregate.agents.tracks import RunOptions, TicketEvent, TicketState, conduct
from aggregate.agents.tracks.worker import ScriptedWorker
from aggregate.prompt import open_project
from simulation.kills import LOG, TRACK, killed_run, read_leftovers, start, write_project

TICKETS = 1000
KILLED_TICKETS = 200
PER_ROUND = 8


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table."""

    what: str
    measured: str
    bound: str
    met: bool


@dataclass(slots=True)
class Memory:
    """Hears of a run and notes how much memory the process has at a quarter of it and at its end, in MB."""

    tickets: int
    done: int = 0
    quarter: float = 0.0
    end: float = 0.0

    def hear(self, event: TicketEvent) -> None:
        """Count tickets that have ended."""
        self.done += event.state is TicketState.DONE
        self.end = _resident()
        if self.done == self.tickets // 4 and not self.quarter:
            self.quarter = self.end


def _resident() -> float:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() / 1e6


def overhead(folder: Path) -> Iterator[Row]:
    """A thousand scripted tickets on SQLite: everything but the answers themselves."""
    write_project(folder, TICKETS, chained=False)
    project = open_project(folder / "manual_slop.toml")
    memory = Memory(TICKETS)
    before = time.perf_counter(), time.process_time()
    result = conduct(project, TRACK, ScriptedWorker({}), options=RunOptions(), observe=memory.hear)
    wall, used = time.perf_counter() - before[0], time.process_time() - before[1]
    if not result.succeeded:
        raise AssertionError("tickets failed")
    each = wall / TICKETS * 1000
    measured = f"{each:.2f} ms ({used / TICKETS * 1000:.2f} ms of CPU)"
    yield Row(f"{TICKETS:,} tickets on SQLite, overhead each", measured, "<= 10 ms", each <= 10)
    grown = memory.end - memory.quarter
    measured = f"{memory.quarter:.0f} -> {memory.end:.0f} MB"
    yield Row("memory from the 250th ticket to the last", measured, "<= 10 MB more", grown <= 10)


def kills(folder: Path, most: int) -> Row:
    """Runs of 200 tickets on SQLite, killed at random moments."""
    write_project(folder, KILLED_TICKETS)
    chance, fallen, number, wrong, again = random.Random(1), 0, 0, 0, 0
    while fallen < most:
        number += 1
        done = killed_run(folder, number, most=min(PER_ROUND, most - fallen), chance=chance)
        fallen += done.kills
        wrong += not done.leftovers.exact(KILLED_TICKETS)
        again += done.leftovers.asked_again
    measured = f"{wrong} of {number} runs wrong, {again / max(fallen, 1):.1f} calls again per kill"
    return Row(
        f"{fallen} x kill -9 on SQLite",
        measured,
        "0 wrong, <= 8 again",
        wrong == 0 and again <= 8 * fallen,
    )


def two_workers(folder: Path, url: str, rounds: int) -> Row:
    """A coordinator and two workers on one Postgres; one worker is killed in each run and another one started."""
    write_project(folder, KILLED_TICKETS)
    chance, wrong, again = random.Random(2), 0, 0
    for number in range(1, rounds + 1):
        (folder / LOG).unlink(missing_ok=True)
        workers = [start("work", folder, url, 0.05) for _ in range(2)]
        coordinator = start("coordinate", folder, url, 0)
        time.sleep(chance.uniform(0.5, 2.0))
        workers[0].kill()
        coordinator.join(300)
        for worker in workers:
            worker.kill()
            worker.join()
        left = read_leftovers(folder, number)
        wrong += not left.exact(KILLED_TICKETS)
        again += left.asked_again
    measured = f"{wrong} of {rounds} runs wrong, {again / rounds:.1f} calls again per kill"
    return Row(
        "two workers on Postgres, one killed",
        measured,
        "0 wrong, <= 8 again",
        wrong == 0 and again <= 8 * rounds,
    )


def rows(most: int) -> Iterator[Row]:
    """Measure everything, one line after the other."""
    from tests.fakes.postgres import HOW_TO_GET_IT, find_programs, postgres_server

    with TemporaryDirectory() as folder:
        yield from overhead(Path(folder) / "overhead")
        yield kills(Path(folder) / "kills", most)
        with postgres_server() if find_programs() else nullcontext() as url:
            if url is None:
                yield Row("two workers on Postgres, one killed", HOW_TO_GET_IT, "", True)
            else:
                yield two_workers(Path(folder) / "workers", url, max(1, most // 10))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description="Measure durable runs; a hundred kills take some minutes."
    )
    parser.add_argument(
        "kills",
        type=int,
        nargs="?",
        default=100,
        help="on SQLite; a tenth of them on Postgres (100)",
    )
    options = parser.parse_args()
    print(f"{'what':44} {'measured':>44}   bound")
    for row in rows(options.kills):
        print(
            f"{row.what:44} {row.measured:>44}   {row.bound} {'' if row.met else '(MISSED)'}".rstrip(),
            flush=True,
        )


if __name__ == "__main__":
    main()
