"""Child processes that answer requests over pipes, several requests ahead.

A fork takes a millisecond and has all modules loaded; a new Python takes a hundred. But a fork of a process with
threads may inherit locked locks, and forks are unreliable on macOS.

A message is preceded by its length. With its next request already in the pipe a child continues at once, instead of
idling until the parent reads.
"""

import contextlib
import math
import os
import select
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Sequence
from io import FileIO
from itertools import pairwise
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

from aggregate.base.concurrency.child_server import HEADER_BYTES, serve_calls

if TYPE_CHECKING:
    import subprocess

_SERVE: Final = (
    "import sys; sys.path[:] = sys.argv[1:]; "
    "from aggregate.base.concurrency.child_server import serve_calls; serve_calls()"
)
_CHUNK_BYTES: Final = 1 << 20  # of a read or write: more than a pipe holds
# Largest pipe allowed to every user by Linux, to hold a request and an answer.
_PIPE_BYTES: Final = 1 << 20
_MOST_ANSWERED: Final = 1 << 28  # bytes: ten times the answer to the largest text
_POLL_SECONDS: Final = 3600.0  # limit of a ``poll``, which counts milliseconds in 32 bits


def start_child() -> "PoolProcess":
    is_single_threaded = False
    if sys.platform == "linux":  # lists threads of libraries too, unlike Python
        with contextlib.suppress(OSError):
            is_single_threaded = len(os.listdir("/proc/self/task")) == 1  # noqa: PTH208 - quicker
    process = _fork() if is_single_threaded else _run_python()
    return PoolProcess(process) if hasattr(select, "poll") else AlternatingProcess(process)


def _fork() -> "ForkedProcess":
    requests, send = os.pipe()
    receive, answers = os.pipe()
    parent = os.getpid()
    try:
        pid = os.fork()
        if not pid:
            # Close the parent's locks and connections, which must not outlive it here.
            null, pipes = os.open(os.devnull, os.O_RDWR), {requests, answers}
            for number in {0, 1, 2} - pipes:
                os.dup2(null, number)
            high_pipes = sorted(number for number in pipes if number > 2)
            for low, high in pairwise([2, *high_pipes, os.sysconf("SC_OPEN_MAX")]):
                os.closerange(low + 1, high)
            serve_calls((requests, answers))
        return ForkedProcess(pid, send, receive)
    except OSError:
        os.close(send)
        os.close(receive)
        raise
    finally:
        if os.getpid() != parent:
            os._exit(1)  # the child must never continue the parent's code
        os.close(requests)
        os.close(answers)


def _run_python() -> "subprocess.Popen[bytes]":
    import subprocess  # not needed for a fork

    # The same import paths as here; -I and -S skip Python's own setup.
    paths = dict.fromkeys([*sys.path, str(Path(__file__).parents[3])])
    no_bytecode = ["-B"] if sys.dont_write_bytecode else []
    command = [sys.executable, "-I", "-S", *no_bytecode, "-c", _SERVE, *paths]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, bufsize=0)


class ForkedProcess:
    def __init__(self, pid: int, requests: int, answers: int) -> None:
        self.pid = pid
        self.stdin, self.stdout = FileIO(requests, "wb"), FileIO(answers, "rb")
        self.returncode: int | None = None

    def kill(self) -> None:
        if self.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)

    def wait(self) -> int:
        """Wait for the end; return the exit status, negative for a signal."""
        if self.returncode is None:
            self.returncode = 0
            with contextlib.suppress(ChildProcessError):  # reaped by other code
                self.returncode = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self.returncode


class PoolProcess:
    def __init__(self, process: "subprocess.Popen[bytes] | ForkedProcess") -> None:
        if process.stdin is None or process.stdout is None:
            raise ValueError("the process has no pipes for standard input and output")
        self._process = process
        self._pipes: list[IO[bytes] | Any] = [process.stdin, process.stdout]
        self._requests, self._answers = process.stdin.fileno(), process.stdout.fileno()
        self._unsent: deque[memoryview] = deque()
        self._received = bytearray()
        self.has_ended = False  # earlier answers remain readable
        self._prepare()

    def _prepare(self) -> None:
        for pipe in (self._requests, self._answers):
            os.set_blocking(pipe, False)
            # Some systems lack the module or the name; an OSError means too many pipes of this user.
            with contextlib.suppress(ImportError, AttributeError, OSError):
                import fcntl

                fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)

    def send(self, request: bytes) -> None:
        self._unsent.append(memoryview(len(request).to_bytes(HEADER_BYTES, "big") + request))
        self._write()

    def transfer(self) -> list[bytes]:
        self._write()
        self._read()
        answers: list[bytes] = []
        while len(self._received) >= HEADER_BYTES:
            end = HEADER_BYTES + int.from_bytes(self._received[:HEADER_BYTES], "big")
            if end > _MOST_ANSWERED + HEADER_BYTES:
                self.has_ended = True
                break
            if len(self._received) < end:
                break
            answers.append(bytes(memoryview(self._received)[HEADER_BYTES:end]))
            del self._received[:end]
        return answers

    def kill(self) -> int:
        self._process.kill()
        self.close()
        return self._process.wait()

    def close(self) -> None:
        """Close this process's ends of the pipes, also those of the parent's children after a fork."""
        for pipe in self._pipes:
            pipe.close()

    def _write(self) -> None:
        while self._unsent:
            try:
                written = os.write(self._requests, self._unsent[0][:_CHUNK_BYTES])
            except BlockingIOError:
                return
            except OSError:  # the other side is closed
                self.has_ended = True
                return
            self._unsent[0] = self._unsent[0][written:]
            if not self._unsent[0]:
                self._unsent.popleft()

    def _read(self) -> None:
        # The limit stops reading from a child that floods.
        while len(self._received) <= _MOST_ANSWERED + HEADER_BYTES:
            try:
                part = os.read(self._answers, _CHUNK_BYTES)
            except BlockingIOError:
                return
            if not part:
                self.has_ended = True
                return
            self._received += part

    def watch(self, poller: "select.poll") -> None:
        poller.register(self._answers, select.POLLIN)
        if self._unsent:
            poller.register(self._requests, select.POLLOUT)


class AlternatingProcess(PoolProcess):
    """A child process with one request at a time, for systems without ``poll``."""

    _is_ready = False

    def _prepare(self) -> None:
        self._reader = os.fdopen(self._answers, "rb", closefd=False)

    def _write(self) -> None:
        """Do nothing: ``exchange`` writes and reads."""

    _read = _write

    def exchange(self, deadline: float) -> None:
        """Send a request and await the answer.

        The first call only awaits the child's readiness. At the deadline the child is killed.
        """
        timer = threading.Timer(max(0.0, deadline - time.monotonic()), self._process.kill)
        timer.start()
        try:
            if self._is_ready and self._unsent:
                message = self._unsent.popleft()
                while message:
                    message = message[os.write(self._requests, message[:_CHUNK_BYTES]) :]
            header = self._reader.read(HEADER_BYTES)
            size = min(_MOST_ANSWERED, int.from_bytes(header, "big"))
            self._received += header + self._reader.read(size)
            self._is_ready = True
            self.has_ended = not header
        except OSError:
            self.has_ended = True
        finally:
            timer.cancel()


def wait_for_any(processes: Sequence[PoolProcess], deadline: float) -> None:
    """Wait until a pipe is ready, or until ``deadline``, a time of ``time.monotonic``."""
    for process in processes:
        if isinstance(process, AlternatingProcess):
            process.exchange(deadline)
            return
    poller = select.poll()  # ``select`` is limited to descriptors below 1024
    for process in processes:
        process.watch(poller)
    seconds = min(max(0.0, deadline - time.monotonic()), _POLL_SECONDS)
    poller.poll(math.ceil(seconds * 1000))
