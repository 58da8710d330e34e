"""Child processes that answer framed requests: ahead or in a row, killed at their deadline."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from aggregate.base.concurrency import DeadlinePassed, PoolProcess
from aggregate.base.concurrency.child_server import frame
from aggregate.base.concurrency.processes import AlternatingProcess, wait_for_any

CHILD = """
import os, sys, time
sys.path[:] = sys.argv[1:]
from aggregate.base.concurrency.child_server import serve_requests

def answer(request):
    print("noise")
    if request == b"die":
        os._exit(3)
    if request == b"hang":
        time.sleep(3600)
    return request * 2

serve_requests(answer)
"""
SIZES = (0, 1, 3_000_000, 7, 2_000_000)


def child(stderr: int = subprocess.DEVNULL) -> "subprocess.Popen[bytes]":
    """Start a process that says each request twice and dies or hangs when it is told to."""
    command = [sys.executable, "-c", CHILD, *sys.path]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=stderr, bufsize=0)


def answers(process: PoolProcess, number: int) -> list[bytes]:
    """Return what the process answers until it has answered so often or has ended."""
    got: list[bytes] = []
    while len(got) < number and not process.has_ended:
        wait_for_any([process], time.monotonic() + 60)
        got += process.transfer()
    return got


@pytest.mark.parametrize("kind", [PoolProcess, AlternatingProcess])
def test_answers_come_in_order_and_waiting_ends(kind: type[PoolProcess]) -> None:
    """Megabytes are sent ahead and answered whole, or as on Windows one by one; nobody waits beyond the deadline."""
    process = kind(child())
    wanted = [b"x" * size for size in SIZES]
    try:
        for request in wanted:
            process.send(request)
        assert answers(process, 6) == [b"", *(request * 2 for request in wanted)]
        wait_for_any([process], time.monotonic() + 0.05)
        assert process.transfer() == []
    finally:
        process.kill()


def test_what_was_answered_before_the_end_is_still_read() -> None:
    """A process that dies at its third request has answered two, and is known to have ended."""
    process = PoolProcess(child())
    for request in (b"a", b"b", b"die", b"c"):
        process.send(request)
    assert answers(process, 9) == [b"", b"aa", b"bb"]
    assert process.has_ended
    assert process.kill() == process.kill() == 3


def test_a_child_whose_answers_nobody_takes_says_nothing() -> None:
    """Where the parent has left, or the terminal interrupts both, no traceback of the child is shown."""
    with child(subprocess.PIPE) as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        assert process.stdout.read(len(frame(b""))) == frame(b"")
        process.send_signal(signal.SIGINT)
        process.stdout.close()
        process.stdin.write(frame(b"x" * 10_000))
        process.stdin.close()
        assert process.stderr.read() == b"noise\n"
    assert process.returncode == 0


@pytest.mark.parametrize(
    ("request_text", "seconds", "error"),
    [(b"hang", 0.3, DeadlinePassed), (b"die", 30, OSError), (b"too long" * 10, 30, OSError)],
)
def test_one_that_is_asked_in_a_row_and_fails(
    request_text: bytes, seconds: float, error: type[Exception]
) -> None:
    """Its answers are bounded in time and size, and it is gone with its zombie once it is killed."""
    process = PoolProcess(child())
    try:
        assert process.greeting(seconds=30, most=0) == b""
        large = os.urandom(3_000_000)
        assert process.ask(large, seconds=30, most=6_000_000) == large * 2
        with pytest.raises(error):
            process.ask(request_text, seconds=seconds, most=100)
    finally:
        process.kill()
    assert not Path(f"/proc/{process.pid}").exists()
