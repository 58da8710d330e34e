"""The index under fire: processes that share it are killed at random moments, clear it, delete it and damage it.

Each process reads, checks every byte that it gets, puts what is missing and flushes, over and over; what it sees goes
into a log. Nothing wrong may ever be read, and no process may fail.
"""

import random
import shutil
import tempfile
import time
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Callable
from functools import partial
from hashlib import sha256
from multiprocessing import get_context
from multiprocessing.context import ForkProcess
from pathlib import Path
from signal import SIGKILL

from aggregate.project.index import Index, Kind, clear_index
from simulation.killing import Journal

KINDS = (Kind("view", "1"), Kind("tokens", "1"))
LIMIT = 3_000_000
"""Small, so that trimming is under way at many of the kills."""
_KEYS = 3_000
_PATIENCE_SECONDS = 60.0  # a busy machine gives a process no time for many seconds


def place(folder: Path) -> Path:
    """Return the path of the index."""
    return folder / "aggregate-index" / "index.sqlite"


def payload(kind: Kind, number: int) -> bytes:
    """Return what is kept of a kind for a content; up to 5,000 bytes."""
    return sha256(f"{kind.name} {number}".encode()).digest() * (number % 157)


def use_once(folder: Path, chance: random.Random, *, limit: int = LIMIT) -> list[str]:
    """Use the index as a run does, and return what there is to tell."""
    index = Index(place(folder), limit=limit)
    said = []
    kind = chance.choice(KINDS)
    first = chance.randrange(_KEYS)
    numbers = [number % _KEYS for number in range(first, first + chance.randrange(1, 400))]
    keys = [sha256(b"%d" % number).digest() for number in numbers]
    results = index.get_many(kind, keys)
    for number, result in zip(numbers, results, strict=True):
        if result not in (None, payload(kind, number)):
            said.append(f"wrong: {kind.name} {number}")
    said += ["read"] * (len(results) - results.count(None))
    missing = [
        (key, payload(kind, number))
        for key, number, result in zip(keys, numbers, results, strict=True)
        if result is None
    ]
    index.put_many(kind, missing)
    index.flush()
    index.close()
    return [*said, "flushed", *([f"warning: {index.warning}"] if index.warning else [])]


def _disturb(folder: Path, chance: random.Random) -> str:
    """Clear, delete or damage the index, as users, other programs and disks do."""
    path = place(folder)
    match chance.randrange(4):
        case 0:
            clear_index(path)
            return "cleared"
        case 1:
            shutil.rmtree(folder, ignore_errors=True)
            return "deleted with its folder"
        case 2:
            path.unlink(missing_ok=True)
            return "deleted without its log"
    try:
        with path.open("r+b") as file:
            file.seek(chance.randrange(path.stat().st_size + 1))
            file.write(chance.randbytes(chance.randrange(1, 5_000)))
    except OSError:
        return "nothing to damage"
    return "damaged"


def start(task: Callable[..., None], *arguments: object) -> ForkProcess:
    """Run a task in a copy of this process, which ends with 1 if it raises."""
    process = get_context("fork").Process(target=task, args=arguments)
    process.start()
    return process


def _tell_log(log: Path, said: Counter[str]) -> None:
    Journal(log).write("\n".join(f"{count}\t{what}" for what, count in said.items()))


def _work(folder: Path, log: Path, seed: int, disturbs: bool) -> None:
    """Be a process that is killed."""
    chance = random.Random(seed)
    while True:
        said = Counter(use_once(folder, chance))
        if disturbs and chance.random() < 0.15:
            said[_disturb(folder, chance)] += 1
        _tell_log(log, said)


def kill_loop(
    folder: Path, kills: int, *, processes: int = 4, disturbs: bool = False, seed: int = 1
) -> Counter[str]:
    """Let processes share an index, kill one after the other, and return what they told, and how others ended."""
    chance = random.Random(seed)
    log, cache = folder / "log", folder / "cache"

    def begin(number: int) -> ForkProcess:
        return start(_work, cache, log, seed * 100_000 + number, disturbs)

    running = [begin(number) for number in range(processes)]
    ends: Counter[str] = Counter()
    for number in range(kills):
        _wait_for_news(log)
        time.sleep(chance.uniform(0, 0.1))
        victim = running.pop(chance.randrange(len(running)))
        victim.kill()
        ends[_end(victim)] += 1
        running.append(begin(processes + number))
    _wait_until(lambda: read_log(log)["read"] > 0)  # few rounds may have met no content twice
    for process in running:
        process.kill()
        process.join()
    return ends + read_log(log)


def _wait_until(happened: Callable[[], bool]) -> None:
    end = time.monotonic() + _PATIENCE_SECONDS
    while time.monotonic() < end and not happened():
        time.sleep(0.001)


def _wait_for_news(log: Path) -> None:
    """Wait until the log has grown; without that a busy machine would kill all before they have begun."""
    size = log.stat().st_size if log.exists() else 0
    _wait_until(lambda: log.exists() and log.stat().st_size != size)


def share(folder: Path, processes: int) -> Counter[str]:
    """Start many processes at once on an index that is not there yet, and return what they told and how they ended."""
    log, cache = folder / "log", folder / "cache"

    def work(number: int) -> None:
        chance = random.Random(number)
        said = use_once(cache, chance, limit=10**9) + use_once(cache, chance, limit=10**9)
        _tell_log(log, Counter(said))

    running = [start(work, number) for number in range(processes)]
    return Counter(_end(process) for process in running) + read_log(log)


def read_log(log: Path) -> Counter[str]:
    """Return what processes told, and how often."""
    told: Counter[str] = Counter()
    for line in log.read_text(encoding="utf-8").splitlines():
        count, _, what = line.partition("\t")
        told[what] += int(count)
    return told


def _end(process: ForkProcess) -> str:
    process.join()
    return "killed" if process.exitcode == -SIGKILL else f"ended with {process.exitcode}"


def main(parser: ArgumentParser) -> None:
    """Run all three."""
    parser.add_argument("--kills", type=int, default=500, help="how many processes to kill")
    parser.add_argument("--processes", type=int, default=200, help="how many to start at once")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        for title, disturbs in (("kills", False), ("kills, cleared, deleted and damaged", True)):
            kill = partial(kill_loop, kills=options.kills, disturbs=disturbs, seed=options.seed)
            _tell(title, kill, Path(name, f"kills{disturbs}"))
        _tell("processes at once", partial(share, processes=options.processes), Path(name, "share"))


def _tell(title: str, run: Callable[[Path], Counter[str]], folder: Path) -> None:
    """Print what happened in a run, and how often."""
    folder.mkdir()
    begun = time.perf_counter()
    told = run(folder)
    print(f"{title}: {time.perf_counter() - begun:.0f} s")
    for what, count in sorted(told.items()):
        print(f"  {count:9,} {what}")
