"""Measuring programs from outside: seconds, CPU seconds and peak memory, of a process with all of its children."""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from threading import Event, Thread

_SAMPLE_SECONDS = 0.01
_PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True)
class Cost:
    """What a program has cost."""

    wall: float
    cpu: float
    peak_mb: float = 0.0


@dataclass(frozen=True, slots=True)
class Job:
    """A program to measure."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str]
    before: Callable[[], None]
    folder: Path


class FailedJobError(Exception):
    """A program that was to be measured has failed."""


def try_once(job: Job) -> None:
    """Run a job without measuring it."""
    _run(job, sample=False)


def compare(jobs: Sequence[Job], rounds: int) -> dict[str, Cost]:
    """Run the jobs in turns and return the median cost of each.

    Memory is sampled in a round of its own before the others, which also brings files and bytecode
    into the system's cache: sampling takes time, and would be counted.
    """
    memory = {job.name: _run(job, sample=True).peak_mb for job in jobs}
    costs: dict[str, list[Cost]] = {job.name: [] for job in jobs}
    for _ in range(rounds):
        for job in jobs:
            costs[job.name].append(_run(job, sample=False))
    return {
        name: Cost(
            statistics.median(cost.wall for cost in of_job),
            statistics.median(cost.cpu for cost in of_job),
            memory[name],
        )
        for name, of_job in costs.items()
    }


def line(title: str, cost: Cost) -> str:
    """Return a row of a table."""
    return f"{title:46}{cost.wall:>8.2f} s{cost.cpu:>8.2f} s{cost.peak_mb:>7.0f} MB"


def ratio(title: str, ours: Cost, other: Cost) -> str:
    """Return a row of ratios."""
    memory = f"{ours.peak_mb / other.peak_mb:>10.2f}" if other.peak_mb else ""
    return f"{title:46}{ours.wall / other.wall:>10.2f}{ours.cpu / other.cpu:>10.2f}{memory}"


def _run(job: Job, *, sample: bool) -> Cost:
    job.before()
    start = time.perf_counter()
    process = subprocess.Popen(
        job.command,
        cwd=job.folder,
        env={**os.environ, **job.environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    sampler = _MemorySampler(process.pid) if sample else None
    if process.stderr is None:
        raise AssertionError("the pipe was asked for")
    errors = process.stderr.read()  # to its end, which comes with the program's
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stderr.close()
    peak = sampler.stop() if sampler else 0.0
    if process.returncode:
        reason = errors.decode(errors="replace").strip()[-500:]
        raise FailedJobError(f"{' '.join(job.command)}: ended with {process.returncode}: {reason}")
    # The kernel's figure is that of the largest single process, in bytes on macOS. One that is started takes ours over.
    ours = getrusage(RUSAGE_SELF).ru_maxrss
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
    largest = usage.ru_maxrss / unit if usage.ru_maxrss > ours else 0.0
    return Cost(wall, usage.ru_utime + usage.ru_stime, max(peak, largest) if sample else 0.0)


class _MemorySampler:
    """Sums the resident memory of a process and its descendants again and again; shared pages count for each."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._peak = 0
        self._stop = Event()
        self._thread = Thread(target=self._sample, daemon=True)
        self._thread.start()

    def stop(self) -> float:
        """Return the peak in MiB, 0 where the system has no ``/proc``."""
        self._stop.set()
        self._thread.join()
        return self._peak / (1 << 20)

    def _sample(self) -> None:
        while not self._stop.wait(_SAMPLE_SECONDS):
            self._peak = max(self._peak, sum(map(_resident, _tree(self._pid))))


def _tree(pid: int) -> list[int]:
    """Return a process and its descendants."""
    pids = [pid]
    with suppress(OSError):  # it has just ended
        for children in Path(f"/proc/{pid}/task").glob("*/children"):
            with suppress(OSError):
                for child in children.read_text(encoding="ascii").split():
                    pids += _tree(int(child))
    return pids


def _resident(pid: int) -> int:
    try:
        statm = Path(f"/proc/{pid}/statm").read_text(encoding="ascii")
    except OSError:
        return 0
    return int(statm.split()[1]) * _PAGE
