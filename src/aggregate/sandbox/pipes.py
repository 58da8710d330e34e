"""Talk to a process that may hang, flood or die: every byte is read and written under a deadline and up to a size."""

import math
import os
import select
import time
from collections.abc import Callable
from typing import Final

CHUNK: Final = 1 << 20
LONGEST: Final = 3600.0
"""Seconds of one ``poll``, which counts milliseconds in 32 bits."""
HEADER: Final = 8
"""A message is its length in as many bytes, big-endian, and then the message."""


class DeadlinePassed(Exception):  # noqa: N818 - an event between a sandbox and its pipes, turned into a SandboxError
    """The deadline has passed."""


def send_message(pipe: int, data: bytes, deadline: float) -> None:
    """Write one message to a non-blocking pipe.

    Raises:
        Late: It is not written at ``deadline`` (of ``time.monotonic``).
        OSError: The other side is gone.
    """
    view = memoryview(len(data).to_bytes(HEADER, "big") + data)
    while view:
        if _ready(pipe, select.POLLOUT, deadline):
            view = view[os.write(pipe, view[:CHUNK]) :]


def _no_watch() -> None:
    """Look at nothing while waiting."""


def receive_message(
    pipe: int, deadline: float, *, most: int, watch: Callable[[], None] = _no_watch, every: float = math.inf
) -> bytes:
    """Read one message from a non-blocking pipe; ``watch`` is called every so many seconds meanwhile.

    Raises:
        Late: It is not there at ``deadline``.
        OSError: The other side ended, or announces more than ``most`` bytes.
    """

    def read(size: int) -> bytes:
        return _read(pipe, size, deadline, watch, every)

    size = int.from_bytes(read(HEADER), "big")
    if size > most:
        raise OSError("the answer is too long")
    return read(size)


def _read(pipe: int, size: int, deadline: float, watch: Callable[[], None], every: float) -> bytes:
    parts = bytearray()
    look = time.monotonic() + every
    while len(parts) < size:
        if time.monotonic() >= look:
            watch()
            look = time.monotonic() + every
        if _ready(pipe, select.POLLIN, deadline, until=look):
            part = os.read(pipe, min(CHUNK, size - len(parts)))
            if not part:
                raise OSError("it ended without an answer")
            parts += part
    return bytes(parts)


def _ready(pipe: int, event: int, deadline: float, *, until: float = math.inf) -> bool:
    """Wait until the pipe can be used or is closed; ``poll``, because ``select`` knows no descriptor above 1023."""
    now = time.monotonic()
    if now >= deadline:
        raise DeadlinePassed
    poller = select.poll()
    poller.register(pipe, event)
    return bool(poller.poll(math.ceil((min(deadline, until, now + LONGEST) - now) * 1000)))
