"""Framed messages between processes: a length, then as many bytes.

The parent talks to a process that may hang, flood or die, so it reads and writes every byte under a deadline and up to
a size. The child trusts its parent and waits.
"""

import math
import os
import select
import signal
import sys
import time
from collections.abc import Callable
from typing import Final

CHUNK_BYTES: Final = 1 << 20
"""Of one read or write: far above what a pipe holds (64 KB), so that one call takes all that is there."""
POLL_SECONDS: Final = 3600.0
"""At most for one ``poll``, which counts milliseconds in 32 bits."""
HEADER_BYTES: Final = 8
"""Of a message's length, big-endian, before the message."""


class DeadlinePassed(Exception):  # noqa: N818 - an event that callers turn into an error of theirs
    """The deadline has passed."""


def frame(message: bytes) -> bytes:
    """Return ``message`` with its length before it."""
    return len(message).to_bytes(HEADER_BYTES, "big") + message


def serve_requests(
    answer: Callable[[bytes], bytes],
    *,
    greeting: bytes | None = None,
    pipes: tuple[int, int] | None = None,
) -> None:
    """Answer messages until there are no more: the whole life of a child process.

    A ``greeting`` goes out first. Where nobody takes the answers any more the process ends without a word, and an
    interrupt of the terminal, which reaches all its processes, is the parent's to handle.

    Args:
        answer: Returns the answer to a message.
        greeting: What is sent before any answer.
        pipes: Where messages come from, and where answers go; by default standard input and output, of which the latter
            then goes to standard error: what a library prints is not to stand between the answers.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if pipes is None:
        pipes = os.dup(0), os.dup(1)
        os.dup2(2, 1)
        sys.stdin.close()
    requests, answers = os.fdopen(pipes[0], "rb"), os.fdopen(pipes[1], "wb")
    try:
        if greeting is not None:
            answers.write(frame(greeting))
            answers.flush()
        while header := requests.read(HEADER_BYTES):
            request = requests.read(int.from_bytes(header, "big"))
            answers.write(frame(answer(request)))
            answers.flush()
    except BrokenPipeError:
        os._exit(0)  # Python would try to write the rest once more, and tell of that


def send_message(pipe: int, data: bytes, deadline: float) -> None:
    """Write one message to a non-blocking pipe.

    Raises:
        DeadlinePassed: It is not written at ``deadline`` (of ``time.monotonic``).
        OSError: The other side is gone.
    """
    unsent = memoryview(frame(data))
    while unsent:
        if _ready(pipe, select.POLLOUT, deadline):
            written = os.write(pipe, unsent[:CHUNK_BYTES])
            unsent = unsent[written:]


def receive_message(
    pipe: int,
    deadline: float,
    *,
    most: int,
    watch: Callable[[], None] | None = None,
    every: float = math.inf,
) -> bytes:
    """Read one message from a non-blocking pipe; ``watch`` is called every so many seconds meanwhile.

    Raises:
        DeadlinePassed: It is not there at ``deadline``.
        OSError: The other side ended, or announces more than ``most`` bytes.
    """
    received = bytearray()
    size: int | None = None  # unknown until the header is there
    next_watch = time.monotonic() + every
    while size is None or len(received) < size:
        if watch is not None and time.monotonic() >= next_watch:
            watch()
            next_watch = time.monotonic() + every
        if not _ready(pipe, select.POLLIN, deadline, until=next_watch):
            continue
        missing = (HEADER_BYTES if size is None else size) - len(received)
        part = os.read(pipe, min(CHUNK_BYTES, missing))
        if not part:
            raise OSError("it ended without an answer")
        received += part
        if size is None and len(received) == HEADER_BYTES:
            size = int.from_bytes(received, "big")
            received.clear()
            if size > most:
                raise OSError("the answer is too long")
    return bytes(received)


def _ready(pipe: int, event: int, deadline: float, *, until: float = math.inf) -> bool:
    """Wait until the pipe can be used or is closed; ``poll``, because ``select`` knows no descriptor above 1023."""
    now = time.monotonic()
    if now >= deadline:
        raise DeadlinePassed
    poller = select.poll()
    poller.register(pipe, event)
    end = min(deadline, until, now + POLL_SECONDS)
    return bool(poller.poll(math.ceil((end - now) * 1000)))
