"""What the processes that render views and those that analyse files share: how they start, and how they are awaited."""

import subprocess
import sys
import time
from collections.abc import Iterable, Sized
from pathlib import Path
from typing import Final, Protocol

from aggregate.concurrency.message_stream import StreamingProcess, wait_for_any

_JOBS_AHEAD: Final = 2
"""Batches that a worker has: the one it is at, and the next."""
_SERVE: Final = """\
import sys
sys.path[:] = sys.argv[1:]
from aggregate.disk.program_guard import guard_process
guard_process()
from {} import serve
serve()
"""


class Lane(Protocol):
    """One worker, and what it was asked for."""

    @property
    def jobs(self) -> Sized:
        """What it has not answered yet."""
        ...

    @property
    def process(self) -> StreamingProcess | None:
        """Its process, ``None`` while it has none."""
        ...

    @property
    def patience_left(self) -> float:
        """Seconds of waiting that it has for its first job."""
        ...

    def advance(self, waited: float) -> None:
        """Take up what it has answered in the ``waited`` seconds, or that it has not in time."""
        ...


def has_room(lanes: Iterable[Lane], *, characters: int, most: int) -> bool:
    """Tell whether a worker needs more, and the texts in memory allow it.

    Args:
        lanes: All workers.
        characters: Of all requests that are not answered yet.
        most: How many of these there may be.
    """
    return characters < most and any(len(lane.jobs) < _JOBS_AHEAD for lane in lanes)


def await_answers(lanes: Iterable[Lane]) -> None:
    """Wait until a worker has answered, or one has not in time, and let all that are busy take that up."""
    busy = [lane for lane in lanes if len(lane.jobs)]
    processes = [lane.process for lane in busy if lane.process]
    began = time.monotonic()
    wait_for_any(processes, began + min(lane.patience_left for lane in busy))
    waited = time.monotonic() - began
    for lane in busy:
        lane.advance(waited)


def start_worker(module: str) -> StreamingProcess:
    """Start a worker that runs ``serve`` of one of our modules and imports from where this process does.

    ``-I`` and ``-S`` leave out what Python does by itself at its start: all paths are handed over.
    """
    paths = dict.fromkeys([*sys.path, str(Path(__file__).parents[2])])
    no_bytecode = ["-B"] if sys.dont_write_bytecode else []
    command = [sys.executable, "-I", "-S", *no_bytecode, "-c", _SERVE.format(module), *paths]
    return StreamingProcess(
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    )
