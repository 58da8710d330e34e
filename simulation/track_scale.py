"""Measure large tracks: throughput, memory and the time of a look, on SQLite and on Postgres with four workers.

Workers answer at once, so that what is measured is everything but the answers.
"""

import argparse
import os
import resource
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

from aggregate.agents.tracks import RunOptions, conduct
from aggregate.agents.tracks.run_control import forget, status
from aggregate.agents.tracks.worker import ScriptedWorker
from aggregate.prompt import open_project
from simulation.kills import TRACK, start, write_project

SIZES = (100, 1_000, 10_000)
WORKERS = 4
HEADER = f"{'where':26} {'tickets':>8} {'per second':>11} {'CPU ms each':>12} {'memory':>8} {'status':>8} {'forget':>8}"


@dataclass(frozen=True, slots=True)
class Measurement:
    """One line of the table.

    Attributes:
        where: The database and who works.
        tickets: How many the track has.
        seconds: From the start to the report.
        cpu: Of these, what this process computed.
        megabytes: The most memory that this process had.
        status_seconds: How long a look takes afterwards.
        forget_seconds: How long it takes to delete the run.
    """

    where: str
    tickets: int
    seconds: float
    cpu: float
    megabytes: float
    status_seconds: float
    forget_seconds: float

    def __str__(self) -> str:
        return (
            f"{self.where:26} {self.tickets:8,} {self.tickets / self.seconds:11.0f} "
            f"{self.cpu / self.tickets * 1000:12.2f} {self.megabytes:5.0f} MB "
            f"{self.status_seconds:6.2f} s {self.forget_seconds:6.2f} s"
        )


def measure(folder: Path, where: str, tickets: int, database: str, *, works: bool) -> Measurement:
    """Run a track of so many tickets, every fifth of which depends on the one before."""
    project = open_project(write_project(folder, tickets) / "manual_slop.toml")
    options = RunOptions(database=database)
    begin, cpu = time.perf_counter(), time.process_time()
    result = conduct(project, TRACK, ScriptedWorker({}) if works else None, options=options)
    end, cpu = time.perf_counter(), time.process_time() - cpu
    if not result.succeeded:
        raise AssertionError("tickets failed")
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    looked = time.perf_counter()
    status(project, TRACK, database=database)
    told = time.perf_counter()
    forget(project, TRACK, database=database)
    forgotten = time.perf_counter()
    return Measurement(where, tickets, end - begin, cpu, megabytes, told - looked, forgotten - told)


def measure_alone(
    folder: Path, where: str, tickets: int, database: str, *, works: bool
) -> Measurement:
    """Measure in a process of its own: the most memory that a process had is that of all it has done."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(measure, folder, where, tickets, database, works=works).result()


def measurements(most: int) -> Iterator[Measurement]:
    """Measure each size on each database, the smaller first."""
    from tests.fakes.postgres import HOW_TO_GET_IT, find_programs, postgres_server

    sizes = [size for size in SIZES if size <= most]
    with TemporaryDirectory() as folder:
        os.environ["AGGREGATE_STATE_DIR"] = str(Path(folder) / "state")
        for size in sizes:
            where = "SQLite, one process"
            yield measure_alone(Path(folder) / f"a{size}", where, size, "", works=True)
        with postgres_server() if find_programs() else nullcontext() as url:
            if url is None:
                print(HOW_TO_GET_IT)
                return
            workers = [start("work", Path(folder), url, 0) for _ in range(WORKERS)]
            where = f"Postgres, {WORKERS} workers"
            for size in sizes:
                yield measure_alone(Path(folder) / f"b{size}", where, size, url, works=False)
            for worker in workers:
                worker.kill()


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Measure large tracks; ten thousand take minutes.")
    parser.add_argument("most", type=int, nargs="?", default=SIZES[-1], help="tickets (10,000)")
    options = parser.parse_args()
    print(HEADER)
    for row in measurements(options.most):
        print(row, flush=True)


if __name__ == "__main__":
    main()
