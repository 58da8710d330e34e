"""Framed messages between processes: a length, then as many bytes; a child trusts its parent and waits for them."""

import os
import signal
import sys
from collections.abc import Callable
from typing import Final

CHUNK_BYTES: Final = 1 << 20
"""Of one read or write: far above what a pipe holds (64 KB), so that one call takes all that is there."""
HEADER_BYTES: Final = 8
"""Of a message's length, big-endian, before the message."""


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
