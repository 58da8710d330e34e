"""A child process that is sent requests ahead and answers them in order; nobody waits unless there is nothing to do.

Between two answers a process that is asked only once it has answered stands idle until its parent gets to it. One that
has its next request in the pipe already goes on at once.
"""

import contextlib
import math
import os
import select
import threading
import time
from collections import deque
from collections.abc import Iterable
from typing import IO, Final, Protocol

from aggregate.base.concurrency.pipes import CHUNK_BYTES, HEADER_BYTES, frame

_PIPE_BYTES: Final = 1 << 20
"""As large as Linux lets every user make a pipe, so that a request and an answer fit in without the other side."""
_MOST_ANSWERED: Final = 1 << 28
"""Ten times what the largest text gives."""


_POLL_SECONDS: Final = 3600.0
"""At most for one ``poll``, which counts milliseconds in 32 bits."""


class ChildProcess(Protocol):
    """What is needed of a child process; ``subprocess.Popen`` has it."""

    @property
    def stdin(self) -> IO[bytes] | None:
        """Where it takes requests from."""
        ...

    @property
    def stdout(self) -> IO[bytes] | None:
        """Where it answers."""
        ...

    def kill(self) -> None:
        """End it; may be called again."""
        ...

    def wait(self) -> int:
        """Return how it ended, once it has: a signal's number is negative; may be called again."""
        ...


class StreamingProcess:
    """A child process with messages on their way to and from it.

    Args:
        process: Started with ``stdin`` and ``stdout`` as unbuffered pipes; it belongs to this object now.
    """

    most = _MOST_ANSWERED
    """Bytes of an answer: a process that says more is not listened to."""

    def __init__(self, process: ChildProcess) -> None:
        if process.stdin is None or process.stdout is None:
            raise ValueError("a process is talked to through pipes")
        self._process = process
        self._pipes = process.stdin, process.stdout
        self._requests, self._answers = process.stdin.fileno(), process.stdout.fileno()
        self._unsent: deque[memoryview] = deque()
        self._received = bytearray()
        self.has_ended = False
        """Whether the process was found dead; what it answered before is still to be had."""
        self._prepare()

    def _prepare(self) -> None:
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
        return self._complete()

    def _complete(self) -> list[bytes]:
        answers: list[bytes] = []
        while len(self._received) >= HEADER_BYTES:
            end = HEADER_BYTES + int.from_bytes(self._received[:HEADER_BYTES], "big")
            if end > self.most + HEADER_BYTES:
                self.has_ended = True
                break
            if len(self._received) < end:
                break
            answers.append(bytes(memoryview(self._received)[HEADER_BYTES:end]))
            del self._received[:end]
        return answers

    def kill(self) -> int:
        """End the process, reap it, close its pipes, and return how it ended; may be called again."""
        self._process.kill()
        self.leave()
        return self._process.wait()

    def leave(self) -> None:
        """Close the pipes, as a fork of this process does that is not to talk to its parent's child."""
        for pipe in self._pipes:
            pipe.close()

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
        while len(self._received) <= self.most + HEADER_BYTES:  # one that floods would never let go
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


class AlternatingProcess(StreamingProcess):
    """A child process for systems on which no pipe can be read without waiting: it has one request at a time."""

    _has_greeted = False

    def _prepare(self) -> None:
        pass

    def _write(self) -> None:
        pass

    def _read(self) -> None:
        pass

    def exchange(self, deadline: float) -> None:
        """Send a request and wait for its answer, or first for the greeting; at the deadline the process is killed."""
        timer = threading.Timer(max(0.0, deadline - time.monotonic()), self._process.kill)
        timer.start()
        try:
            if self._has_greeted and self._unsent:
                _write_all(self._requests, self._unsent.popleft())
            self._receive(HEADER_BYTES)
            self._receive(min(self.most, int.from_bytes(self._received[-HEADER_BYTES:], "big")))
            self._has_greeted = True
        except OSError:
            self.has_ended = True
        finally:
            timer.cancel()

    def _receive(self, size: int) -> None:
        while size:
            part = os.read(self._answers, min(size, CHUNK_BYTES))
            if not part:
                raise BrokenPipeError
            self._received += part
            size -= len(part)


def streaming(process: ChildProcess) -> StreamingProcess:
    """Return a process with what this system needs to talk to it."""
    return StreamingProcess(process) if hasattr(select, "poll") else AlternatingProcess(process)


def wait_for_any(processes: Iterable[StreamingProcess], deadline: float) -> None:
    """Wait until ``transfer`` of one of the processes has something to do, or until ``deadline`` (of ``monotonic``)."""
    processes = list(processes)
    for process in processes:
        if isinstance(process, AlternatingProcess):
            process.exchange(deadline)
            return
    poller = select.poll()  # ``select`` knows no descriptor above 1023
    for process in processes:
        for pipe, event in process.watched():
            poller.register(pipe, event)
    seconds = min(max(0.0, deadline - time.monotonic()), _POLL_SECONDS)
    poller.poll(math.ceil(seconds * 1000))


def _write_all(pipe: int, message: memoryview) -> None:
    while message:
        message = message[os.write(pipe, message[:CHUNK_BYTES]) :]


def _widen(pipe: int) -> None:
    """Make a pipe large where the system can do that; else small ones serve too."""
    # Neither the module nor the name is there on every system; an OSError means that the user has many pipes.
    with contextlib.suppress(ImportError, AttributeError, OSError):
        import fcntl

        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
