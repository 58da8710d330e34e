"""A child process that is sent requests ahead and answers them in order; nobody waits unless there is nothing to do.

Between two answers a process that is asked only once it has answered stands idle until its parent gets to it. One that
has its next request in the pipe already goes on at once.
"""

import contextlib
import os
import select
import subprocess
import time
from collections import deque
from collections.abc import Iterable
from typing import Final

from aggregate.concurrency.pipes import CHUNK_BYTES, HEADER_BYTES, frame

_PIPE_BYTES: Final = 1 << 20
"""As large as Linux lets every user make a pipe, so that a request and an answer fit in without the other side."""


class StreamingProcess:
    """A child process with messages on their way to and from it.

    Args:
        process: Started with ``stdin`` and ``stdout`` as pipes and ``bufsize=0``; it belongs to this object now.
    """

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        if process.stdin is None or process.stdout is None:
            raise ValueError("a process is talked to through pipes")
        self._process = process
        self._requests, self._answers = process.stdin.fileno(), process.stdout.fileno()
        self._unsent: deque[memoryview] = deque()
        self._received = bytearray()
        self.has_ended = False
        """Whether the process was found dead; what it answered before is still to be had."""
        for pipe in (self._requests, self._answers):
            os.set_blocking(pipe, False)
            _widen(pipe)

    def send(self, request: bytes) -> None:
        """Put a request behind those that are on their way."""
        self._unsent.append(memoryview(frame(request)))
        self._write()

    def transfer(self) -> list[bytes]:
        """Write and read what the pipes take and hold now, and return the answers that are complete."""
        self._write()
        self._read()
        answers: list[bytes] = []
        while len(self._received) >= HEADER_BYTES:
            end = HEADER_BYTES + int.from_bytes(self._received[:HEADER_BYTES], "big")
            if len(self._received) < end:
                break
            answers.append(bytes(memoryview(self._received)[HEADER_BYTES:end]))
            del self._received[:end]
        return answers

    def kill(self) -> None:
        """End the process, reap it and close its pipes; may be called again."""
        self._process.kill()
        with self._process:
            pass

    def _write(self) -> None:
        while self._unsent:
            try:
                written = os.write(self._requests, self._unsent[0][:CHUNK_BYTES])
            except BlockingIOError:
                return
            except OSError:  # the other side is closed
                self.has_ended = True
                return
            self._unsent[0] = self._unsent[0][written:]
            if not self._unsent[0]:
                self._unsent.popleft()

    def _read(self) -> None:
        while True:
            try:
                part = os.read(self._answers, CHUNK_BYTES)
            except BlockingIOError:
                return
            if not part:
                self.has_ended = True
                return
            self._received += part

    def watched(self) -> list[tuple[int, int]]:
        """Return the pipes to wait for, each with its event for ``poll``."""
        answers = [(self._answers, select.POLLIN)]
        return [*answers, (self._requests, select.POLLOUT)] if self._unsent else answers


def wait_for_any(processes: Iterable[StreamingProcess], deadline: float) -> None:
    """Wait until ``transfer`` of one of the processes has something to do, or until ``deadline`` (of ``monotonic``)."""
    poller = select.poll()  # ``select`` knows no descriptor above 1023
    for process in processes:
        for pipe, event in process.watched():
            poller.register(pipe, event)
    poller.poll(max(0.0, deadline - time.monotonic()) * 1000)


def _widen(pipe: int) -> None:
    """Make a pipe large where the system can do that; else small ones serve too."""
    # Neither the module nor the name is there on every system; an OSError means that the user has many pipes.
    with contextlib.suppress(ImportError, AttributeError, OSError):
        import fcntl

        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
