"""Child processes that answer framed requests: at most so many, killed at their deadline, replaced when they die."""

import subprocess
import time
from collections.abc import Callable
from math import inf
from threading import BoundedSemaphore, Lock

from aggregate.base.concurrency.message_stream import streaming, wait_for_any


class DeadlinePassed(Exception):  # noqa: N818 - an event that callers turn into an error of theirs
    """The deadline has passed."""


class PoolProcess:
    """A child process that answers one request after the other, each within its own time.

    Args:
        process: Started with ``stdin`` and ``stdout`` as pipes and ``bufsize=0``; it belongs to the worker from now on.
    """

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._process = process
        self._stream = streaming(process)

    @property
    def pid(self) -> int:
        """The process's id."""
        return self._process.pid

    def ask(
        self,
        request: bytes,
        *,
        seconds: float,
        most: int,
        watch: Callable[[], None] | None = None,
        every: float = inf,
    ) -> bytes:
        """Send a request and return the answer; after any error the worker is of no use any more: kill it.

        Args:
            request: One message.
            seconds: From now until the answer has to be there.
            most: Bytes that the answer may have.
            watch: Called while waiting; what it raises ends the wait.
            every: Seconds between two calls of ``watch``.

        Raises:
            DeadlinePassed: The time is over.
            OSError: The process ended, or announces more than ``most`` bytes.
        """
        self._stream.send(request)
        return self._answer(seconds, most, watch, every)

    def greeting(self, *, seconds: float, most: int) -> bytes:
        """Return what the process says before any request; raises as ``ask`` does."""
        return self._answer(seconds, most, None, inf)

    def _answer(
        self, seconds: float, most: int, watch: Callable[[], None] | None, every: float
    ) -> bytes:
        stream, now = self._stream, time.monotonic()
        stream.most = most
        deadline, next_watch = now + seconds, now + every
        while not (answers := stream.transfer()):
            if stream.has_ended:
                raise OSError("it ended without an answer, or the answer is too long")
            now = time.monotonic()
            if now >= deadline:
                raise DeadlinePassed
            if watch and now >= next_watch:
                watch()
                next_watch = time.monotonic() + every
            wait_for_any([stream], min(deadline, next_watch))
        return answers[0]

    def kill_and_read_errors(self, most: int) -> str:
        """Kill the process and return at most ``most`` bytes of what it wrote to its standard error, a pipe."""
        self._process.kill()
        stream = self._process.stderr
        return stream.read(most).decode("utf-8", errors="replace").strip() if stream else ""

    def kill(self) -> None:
        """End the process, reap it and close its pipes; may be called again."""
        self._stream.kill()
        if self._process.stderr:
            self._process.stderr.close()


class WorkerPool:
    """At most ``size`` workers, each handed to one caller at a time; callers beyond that wait.

    Args:
        start: Starts a worker; what it raises reaches the caller of ``ask``.
        size: How many there may be.
    """

    def __init__(self, start: Callable[[], PoolProcess], size: int) -> None:
        self._start = start
        self._size = size
        self._idle: list[PoolProcess] = []
        self.after_fork()

    def after_fork(self) -> None:
        """Begin anew in a forked child; the parent's workers stay the parent's and are held, not ended."""
        self._lock = Lock()
        self._slots = BoundedSemaphore(self._size)
        self._of_parent, self._idle = self._idle, []

    def ask(self, request: bytes, *, seconds: float, most: int) -> bytes:
        """Let an idle or a new worker answer, as ``PoolProcess.ask`` does; one that fails is killed."""
        with self._slots:
            with self._lock:
                idle = self._idle.pop() if self._idle else None
            worker = idle or self._start()
            try:
                answer = worker.ask(request, seconds=seconds, most=most)
            except BaseException:
                worker.kill()
                raise
            with self._lock:
                self._idle.append(worker)
            return answer

    def close(self) -> None:
        """Kill the idle workers; a worker that is asked at this moment goes on."""
        with self._lock:
            while self._idle:
                self._idle.pop().kill()
