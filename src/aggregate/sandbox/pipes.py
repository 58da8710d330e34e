"""Talk to a process that may hang, flood or die: every byte is read and written under a deadline and up to a size."""

import os
import select
import time
from typing import Final

CHUNK: Final = 1 << 20
HEADER: Final = 8
"""A message is its length in as many bytes, big-endian, and then the message."""


class Late(Exception):  # noqa: N818 - an event between a sandbox and its pipes, turned into a SandboxError
    """The deadline has passed."""


def send(pipe: int, data: bytes, deadline: float) -> None:
    """Write one message to a non-blocking pipe.

    Raises:
        Late: It is not written at ``deadline`` (of ``time.monotonic``).
        OSError: The other side is gone.
    """
    view = memoryview(len(data).to_bytes(HEADER, "big") + data)
    while view:
        if _ready(pipe, select.POLLOUT, deadline):
            view = view[os.write(pipe, view[:CHUNK]) :]


def receive(pipe: int, deadline: float, *, most: int) -> bytes:
    """Read one message from a non-blocking pipe.

    Raises:
        Late: It is not there at ``deadline``.
        OSError: The other side ended, or announces more than ``most`` bytes.
    """
    size = int.from_bytes(_read(pipe, HEADER, deadline), "big")
    if size > most:
        raise OSError("the answer is too long")
    return _read(pipe, size, deadline)


def _read(pipe: int, size: int, deadline: float) -> bytes:
    parts = bytearray()
    while len(parts) < size:
        if _ready(pipe, select.POLLIN, deadline):
            part = os.read(pipe, min(CHUNK, size - len(parts)))
            if not part:
                raise OSError("it ended without an answer")
            parts += part
    return bytes(parts)


def _ready(pipe: int, event: int, deadline: float) -> bool:
    """Wait until the pipe can be used or is closed; ``poll``, because ``select`` knows no descriptor above 1023."""
    left = deadline - time.monotonic()
    if left <= 0:
        raise Late
    poller = select.poll()
    poller.register(pipe, event)
    return bool(poller.poll(left * 1000))
