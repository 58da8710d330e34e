"""Start child processes and distribute calls among them.

A lane is one child process with its calls. A fork takes a millisecond and has all modules loaded; a new Python takes a
hundred. But a fork of a process with threads may inherit locked locks, and forks are unreliable on macOS.

Calls are sent ahead and answered one by one, so the call that killed a child is known. If that child had answered other
calls before, the call is retried in a new child; only a call that kills a new child fails.
"""

import atexit
import contextlib
import os
import pickle
import select
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable
from itertools import count, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from aggregate.base.concurrency.call import Call
from aggregate.base.concurrency.child_server import serve_calls
from aggregate.base.concurrency.processes import (
    AlternatingProcess,
    ForkedProcess,
    PoolProcess,
    wait_for_any,
)
from aggregate.base.errors import DeadlineError, SyntaxViewError

if TYPE_CHECKING:
    import subprocess

_About = TypeVar("_About")
_Answer = TypeVar("_Answer")

_SERVE: Final = (
    "import sys; sys.path[:] = sys.argv[1:]; "
    "from aggregate.base.concurrency.child_server import serve_calls; serve_calls()"
)
# Bytes sent ahead to a child, and from which another child is worthwhile: some 0.1 seconds of work. One call always
# waits in each child, whatever its size, so that the child never idles.
_AHEAD: Final = 300_000
# Bytes of all unanswered calls; a large one in front must not block the others.
_MOST_WAITING: Final = 8_000_000
# Bytes after which a child is replaced: tree-sitter 0.26.1 for Python never frees texts read in pieces (from 8 KB on),
# so a child grows by a megabyte per million.
_MOST_PARSED: Final = 40_000_000
_MOST_IDLE: Final = 2  # reused children; most programs parse in one thread at a time
_LOST: Final = "parsing was stopped: the parser crashed, or took far too much memory or time"
_NOT_STARTED: Final = "cannot start a process for parsing"
_OUT_OF_TIME: Final = -getattr(signal, "SIGPROF", 0)  # exit status


def _start_child() -> PoolProcess:
    is_single_threaded = False
    if sys.platform == "linux":  # lists threads of libraries too, unlike Python
        with contextlib.suppress(OSError):
            is_single_threaded = len(os.listdir("/proc/self/task")) == 1  # noqa: PTH208 - quicker
    process = _fork() if is_single_threaded else _run_python()
    return PoolProcess(process) if hasattr(select, "poll") else AlternatingProcess(process)


def _fork() -> ForkedProcess:
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


class _Lane:
    """A child process and its unanswered calls."""

    def __init__(self) -> None:
        # By numbers that answers repeat: after an interrupt an answer may be lost.
        self.calls: dict[int, Call[Any, Any]] = {}
        self.ahead = 0  # bytes of the calls
        self.process: PoolProcess | None = None
        # Seconds for a call, and remaining for the first one; the caller's own time does not count.
        self.patience = self.patience_left = 0.0
        self._numbers = count()
        self._parsed = 0  # bytes
        self._is_ready = self._has_answered = False

    @property
    def is_worn(self) -> bool:
        return self._parsed > _MOST_PARSED

    def add(self, call: Call[Any, Any]) -> None:
        if not self.calls:
            self.patience_left = self.patience
            if self.is_worn:
                self.end()
        if self.process is None:
            self._parsed = 0
            self._is_ready = self._has_answered = False
            try:
                self.process = _start_child()
            except OSError as error:
                raise SyntaxViewError(f"{_NOT_STARTED}: {error}") from None
        number = next(self._numbers)
        request = number, call.function, call.arguments
        message = pickle.dumps(request, protocol=pickle.HIGHEST_PROTOCOL)
        call.size = max(call.size, len(message))
        self.ahead += call.size
        self._parsed += len(message)
        self.calls[number] = call
        self.process.send(message)

    def advance(self, waited: float) -> None:
        answers = self.process.transfer() if self.process else []
        for answer in answers:
            if not answer:
                self._is_ready = True
                continue
            number, value, error = pickle.loads(answer)  # noqa: S301 - a private pipe from our own child
            call = self.calls.pop(number)
            self.ahead -= call.size
            call.settle(value if error is None else error)
            self._has_answered = True
        self.patience_left = self.patience if answers else self.patience_left - waited
        if self.calls and self.process and (self.process.has_ended or self.patience_left <= 0):
            self._replace()

    def _replace(self) -> None:
        """Give this lane's calls to a new child process.

        The first call fails if it was too slow or killed a new child process.
        """
        calls = list(self.calls.values())
        is_too_slow = self.patience_left <= 0
        status = self.end()
        if not self._is_ready:
            raise SyntaxViewError(f"{_NOT_STARTED}: {sys.executable} ended with status {status}")
        if is_too_slow or status == _OUT_OF_TIME or not self._has_answered:
            calls.pop(0).settle(DeadlineError(_LOST))
        for call in calls:
            self.add(call)

    def end(self) -> int:
        self.calls.clear()
        self.ahead = 0
        process, self.process = self.process, None
        return process.kill() if process else 0


class Lanes:
    """Executes calls in at most ``most`` children, with ``patience`` seconds per call."""

    def __init__(self, most: int, patience: float) -> None:
        self._lanes: list[_Lane] = []
        self._most = most
        self._patience = patience

    def answered(
        self, calls: Iterable[Call[_About, _Answer]]
    ) -> Generator[Call[_About, _Answer], None, None]:
        """Yield calls with their results, executed in child processes.

        The order of the calls is kept. A timeout becomes the result of its call; other errors of a call are raised.
        """
        waiting: deque[Call[_About, _Answer]] = deque()
        upcoming = iter(calls)
        size, is_at_end = 0, False
        try:
            while waiting or not is_at_end:
                while not is_at_end and self._have_room and size < _MOST_WAITING:
                    call = next(upcoming, None)
                    if call is None:
                        is_at_end = True
                        break
                    if call.function is None:
                        call.settle(None)
                    else:
                        self._add(call)
                    waiting.append(call)
                    size += call.size
                if waiting and waiting[0].is_answered:
                    call = waiting.popleft()
                    size -= call.size
                    call.result()
                    yield call
                elif waiting:
                    self._await_answers()
        finally:
            self._give_back()

    def begin(self, call: Call[None, _Answer]) -> Callable[[], _Answer | DeadlineError]:
        """Send a call to a child process; return a function that waits for its result."""
        self._add(call)

        def answer() -> _Answer | DeadlineError:
            try:
                while not call.is_answered:
                    self._await_answers()
            finally:
                self._give_back()
            return call.result()

        return answer

    @property
    def _have_room(self) -> bool:
        """Whether a child can take another call; one that has parsed too much is first replaced."""
        return len(self._lanes) < self._most or any(
            (lane.ahead < _AHEAD or len(lane.calls) < 2) and not (lane.calls and lane.is_worn)
            for lane in self._lanes
        )

    def _add(self, call: Call[Any, Any]) -> None:
        lane = min(self._lanes, key=lambda lane: lane.ahead, default=None)
        if lane is None or (lane.ahead >= _AHEAD and len(self._lanes) < self._most):
            try:
                lane = _idle.pop()
            except IndexError:
                lane = _Lane()
            lane.patience = self._patience
            self._lanes.append(lane)
        lane.add(call)

    def _await_answers(self) -> None:
        """Wait for answers or a timeout; assign answers to calls."""
        busy = [lane for lane in self._lanes if lane.calls]
        began = time.monotonic()
        wait_for_any(
            [lane.process for lane in busy if lane.process],
            began + min(lane.patience_left for lane in busy),
        )
        waited = time.monotonic() - began
        for lane in busy:
            lane.advance(waited)

    def _give_back(self) -> None:
        """Keep some child processes for reuse, and end the others."""
        for lane in self._lanes:
            is_reusable = lane.process and not lane.calls and not lane.is_worn
            if is_reusable and len(_idle) < _MOST_IDLE:
                _idle.append(lane)
            else:
                lane.end()


_idle: list[_Lane] = []
# Lanes inherited over fork, kept referenced so that the parent's children are not stopped here.
_inherited: list[_Lane] = []


def _end_idle() -> None:
    while _idle:
        _idle.pop().end()


def _disown_idle() -> None:
    for lane in _idle:
        if lane.process:
            lane.process.close()
    _inherited.extend(_idle)
    _idle.clear()


atexit.register(_end_idle)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_disown_idle)
