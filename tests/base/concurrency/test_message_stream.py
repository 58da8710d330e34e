"""Processes that have their next request before they have answered the last one."""

import signal
import subprocess
import sys
import time

from aggregate.base.concurrency.message_stream import (
    AlternatingProcess,
    StreamingProcess,
    wait_for_any,
)
from aggregate.base.concurrency.pipes import frame

ECHO = """
from aggregate.base.concurrency.pipes import serve_requests
import os
serve_requests(lambda request: os._exit(3) if request == b"die" else request * 2, greeting=b"hello")
"""


def started() -> StreamingProcess:
    """Return a process that says each request twice and dies when it is told to."""
    command = [sys.executable, "-c", ECHO]
    return StreamingProcess(
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    )


def answers(process: StreamingProcess, number: int) -> list[bytes]:
    """Return what the process answers until it has answered so often or has ended."""
    got: list[bytes] = []
    while len(got) < number and not process.has_ended:
        wait_for_any([process], time.monotonic() + 60)
        got += process.transfer()
    return got


def test_answers_come_in_order_also_where_they_do_not_fit_into_a_pipe() -> None:
    """Requests of some megabytes are sent ahead without waiting for an answer, and each is answered whole."""
    process = started()
    wanted = [b"x" * size for size in (0, 1, 3_000_000, 7, 2_000_000)]
    try:
        for request in wanted:
            process.send(request)
        assert answers(process, 6) == [b"hello", *(request * 2 for request in wanted)]
        assert not process.has_ended
    finally:
        process.kill()


def test_what_was_answered_before_the_end_is_still_read() -> None:
    """A process that dies at its third request has answered two, and is known to have ended."""
    process = started()
    try:
        for request in (b"a", b"b", b"die", b"c"):
            process.send(request)
        assert answers(process, 9) == [b"hello", b"aa", b"bb"]
        assert process.has_ended
    finally:
        process.kill()
        process.kill()


def test_waiting_ends_at_the_deadline() -> None:
    """A process that says nothing more is not waited for beyond the deadline."""
    process = started()
    try:
        assert answers(process, 1) == [b"hello"]
        wait_for_any([process], time.monotonic() + 0.05)
        assert process.transfer() == []
    finally:
        process.kill()


def test_a_child_whose_answers_nobody_takes_says_nothing() -> None:
    """Where the parent has left, or the terminal interrupts both, no traceback of the child is shown."""
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", ECHO]
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0) as child:
        assert child.stdin
        assert child.stdout
        assert child.stdout.read(len(frame(b"hello"))) == frame(b"hello")
        child.send_signal(signal.SIGINT)
        child.stdout.close()
        child.stdin.write(frame(b"x" * 10_000))
        child.stdin.close()
        assert child.stderr
        assert child.stderr.read() == b""
    assert child.returncode == 0


def test_where_pipes_cannot_be_watched_requests_alternate_with_answers() -> None:
    """As on Windows: each request is sent once the one before is answered, and at the deadline the process is killed."""
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", ECHO]
    process = AlternatingProcess(subprocess.Popen(command, stdin=pipe, stdout=pipe, bufsize=0))
    wanted = [b"x" * size for size in (0, 3_000_000, 7)]
    for request in wanted:
        process.send(request)
    assert answers(process, 4) == [b"hello", *(request * 2 for request in wanted)]
    wait_for_any([process], time.monotonic() + 0.5)
    assert process.transfer() == []
    assert process.has_ended
    process.kill()
