"""Child processes that answer framed requests: kept, bounded in number, killed at their deadline, replaced."""

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from aggregate.base.concurrency import DeadlinePassed, PoolProcess, WorkerPool

CHILD = """
import os, sys, time
sys.path[:] = sys.argv[1:]
from aggregate.base.concurrency.pipes import serve_requests

def answer(request):
    print("noise")
    if request == b"die":
        os._exit(3)
    if request == b"hang":
        time.sleep(3600)
    return b"%d " % os.getpid() + request

serve_requests(answer)
"""


def start_worker() -> PoolProcess:
    """Start a process that answers with its id and the request."""
    return PoolProcess(
        subprocess.Popen(
            [sys.executable, "-c", CHILD, *sys.path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
        )
    )


@pytest.fixture
def pool() -> Iterator[WorkerPool]:
    """Return a pool of two workers."""
    workers = WorkerPool(start_worker, 2)
    yield workers
    workers.close()


def ask(
    pool: WorkerPool, request: bytes, *, seconds: float = 30, most: int = 10_000_000
) -> tuple[int, bytes]:
    """Return the id of the process that answered, and the request as it came back."""
    pid, _, text = pool.ask(request, seconds=seconds, most=most).partition(b" ")
    return int(pid), text


def is_there(pid: int) -> bool:
    """Return whether a process runs or waits to be reaped."""
    return Path(f"/proc/{pid}").exists()


def test_one_worker_answers_calls_in_a_row(pool: WorkerPool) -> None:
    """A worker is used again, for messages of any size, whatever a library prints; closing the pool ends it."""
    large = os.urandom(3_000_000)
    pid, text = ask(pool, large)
    assert text == large
    assert ask(pool, b"") == (pid, b"")
    pool.close()
    assert not is_there(pid)


def test_no_more_workers_than_agreed(pool: WorkerPool) -> None:
    """Callers beyond the pool's size wait for a worker; each gets its own answer."""
    with ThreadPoolExecutor(6) as threads:
        answers = list(threads.map(lambda number: ask(pool, b"%d" % number), range(30)))
    assert [text for _, text in answers] == [b"%d" % number for number in range(30)]
    assert len({pid for pid, _ in answers}) <= 2


@pytest.mark.parametrize(
    ("request_text", "seconds", "most", "error"),
    [
        (b"hang", 0.3, 100, DeadlinePassed),
        (b"die", 30, 100, OSError),
        (b"longer than agreed" * 10, 30, 100, OSError),
    ],
)
def test_a_worker_that_fails_is_replaced(
    pool: WorkerPool, request_text: bytes, seconds: float, most: int, error: type[Exception]
) -> None:
    """One that hangs, dies or floods is killed and reaped, and the next call gets another one."""
    pid, _ = ask(pool, b"first")
    with pytest.raises(error):
        ask(pool, request_text, seconds=seconds, most=most)
    assert not is_there(pid)
    assert ask(pool, b"next")[0] != pid
