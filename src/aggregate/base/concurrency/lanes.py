"""The child processes that calls are done in: how they are started, and which of them is asked for what.

A fork takes a millisecond and has all modules, a new Python takes a hundred to get there. But a fork of a process with
several threads may find locks taken by those that it lacks, and macOS breaks in forked processes.

Calls are sent ahead and answered one by one, so that of a process that dies it is known at which call. Where it had
answered others before, a new one is asked once more: only a call that ends a new process is given up.
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
# Bytes that a child is asked for ahead, and beyond which another child pays: some 0.1 seconds of work. However large
# they are, one call waits in each child, so that it goes on at once.
_AHEAD: Final = 300_000
# Bytes of all calls that are not answered yet: a large one at the front stops nobody for half a second.
_MOST_WAITING: Final = 8_000_000
# Bytes after which a child is renewed: tree-sitter 0.26.1 for Python never frees what its parser was given to read in
# pieces, as texts from 8 KB on are, so that a child grows by a megabyte with each million.
_MOST_SPENT: Final = 20_000_000
# Children that wait for the calls of later: in most programs one thread asks at a time.
_MOST_KEPT: Final = 2
_LOST: Final = (
    "the parser crashes over this text, or takes far too much memory or time, and it was given up"
)
_NOT_STARTED: Final = "no process can be started to parse texts in"
# How a process ends that has computed for too long.
_TOO_LONG: Final = -getattr(signal, "SIGPROF", 0)


def _start_child() -> PoolProcess:
    is_single_threaded = False
    if sys.platform == "linux":  # which knows also the threads of libraries, as Python does not
        with contextlib.suppress(OSError):
            is_single_threaded = len(os.listdir("/proc/self/task")) == 1  # noqa: PTH208 - quicker
    process = _fork() if is_single_threaded else _run_anew()
    return PoolProcess(process) if hasattr(select, "poll") else AlternatingProcess(process)


def _fork() -> ForkedProcess:
    requests, send = os.pipe()
    receive, answers = os.pipe()
    this = os.getpid()
    try:
        pid = os.fork()
        if not pid:
            # A lock or a connection of the parent's must not outlive it here.
            nothing, used = os.open(os.devnull, os.O_RDWR), {requests, answers}
            for number in {0, 1, 2} - used:
                os.dup2(nothing, number)
            kept = sorted(number for number in used if number > 2)
            for before, behind in pairwise([2, *kept, os.sysconf("SC_OPEN_MAX")]):
                os.closerange(before + 1, behind)
            serve_calls((requests, answers))
        return ForkedProcess(pid, send, receive)
    except OSError:
        os.close(send)
        os.close(receive)
        raise
    finally:
        if os.getpid() != this:
            os._exit(1)  # whatever happens, nothing of the parent's is gone on with in the child
        os.close(requests)
        os.close(answers)


def _run_anew() -> "subprocess.Popen[bytes]":
    import subprocess  # a fork does without

    # It imports from where this process does; -I and -S leave out what Python does by itself at its start.
    paths = dict.fromkeys([*sys.path, str(Path(__file__).parents[3])])
    no_bytecode = ["-B"] if sys.dont_write_bytecode else []
    command = [sys.executable, "-I", "-S", *no_bytecode, "-c", _SERVE, *paths]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, bufsize=0)


class _Lane:
    def __init__(self) -> None:
        # In order, by numbers that answers repeat: where an interrupt loses one, the next is not taken for it.
        self.calls: dict[int, Call[Any, Any]] = {}
        self.ahead = 0  # bytes of these
        self.process: PoolProcess | None = None
        # Seconds of waiting for a call, and for the first one now; who takes the answers may take longer over them.
        self.patience = self.patience_left = 0.0
        self._numbers = count()
        self._spent = 0
        self._has_greeted = self._has_answered = False

    @property
    def is_worn(self) -> bool:
        return self._spent > _MOST_SPENT

    def add(self, call: Call[Any, Any]) -> None:
        if not self.calls:
            self.patience_left = self.patience
            if self.is_worn:
                self.end()
        if self.process is None:
            self._spent = 0
            self._has_greeted = self._has_answered = False
            try:
                self.process = _start_child()
            except OSError as error:
                raise SyntaxViewError(f"{_NOT_STARTED}: {error}") from None
        number = next(self._numbers)
        asked = number, call.function, call.arguments
        message = pickle.dumps(asked, protocol=pickle.HIGHEST_PROTOCOL)
        call.size = len(message)
        self.ahead += call.size
        self._spent += call.size if call.is_parsed else 0
        self.calls[number] = call
        self.process.send(message)

    def advance(self, waited: float) -> None:
        answers = self.process.transfer() if self.process else []
        for answer in answers:
            if not answer:
                self._has_greeted = True
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
        """End the child, give its call up where that is surely at fault, and ask a new one for the others."""
        calls = list(self.calls.values())
        is_too_slow = self.patience_left <= 0
        status = self.end()
        if not self._has_greeted:
            raise SyntaxViewError(f"{_NOT_STARTED}: {sys.executable} ended with status {status}")
        if is_too_slow or status == _TOO_LONG or not self._has_answered:
            calls.pop(0).settle(DeadlineError(_LOST))
        for call in calls:
            self.add(call)

    def end(self) -> int:
        self.calls.clear()
        self.ahead = 0
        process, self.process = self.process, None
        return process.kill() if process else 0


class Lanes:
    """The children that some calls are done in: so many at most, each with ``patience`` seconds for a call."""

    def __init__(self, most: int, patience: float) -> None:
        self._lanes: list[_Lane] = []
        self._most = most
        self._patience = patience

    def answered(
        self, calls: Iterable[Call[_About, _Answer]]
    ) -> Generator[Call[_About, _Answer], None, None]:
        """Yield the calls in their order, each with its answer, and raise what is none."""
        waiting: deque[Call[_About, _Answer]] = deque()
        upcoming = iter(calls)
        held, is_at_end = 0, False
        try:
            while waiting or not is_at_end:
                while not is_at_end and self._have_room and held < _MOST_WAITING:
                    call = next(upcoming, None)
                    if call is None:
                        is_at_end = True
                        break
                    if call.function is None:
                        call.settle(None)
                    else:
                        self._add(call)
                    waiting.append(call)
                    held += call.size
                if waiting and waiting[0].is_answered:
                    call = waiting.popleft()
                    held -= call.size
                    call.result()
                    yield call
                elif waiting:
                    self._await_answers()
        finally:
            self._give_back()

    def begin(self, call: Call[None, _Answer]) -> Callable[[], _Answer | DeadlineError]:
        """Send a call, and return what waits for its answer and returns it, or raises what is none."""
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
        """Whether a child needs more, or another one may be started; a worn one answers first what it was asked."""
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
        """Wait until a child has answered, or one has not in time, and let all that are busy take that up."""
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
        """Keep some children for the calls of later, and end the others."""
        for lane in self._lanes:
            is_fit = lane.process and not lane.calls and not lane.is_worn
            if is_fit and len(_idle) < _MOST_KEPT:
                _idle.append(lane)
            else:
                lane.end()


_idle: list[_Lane] = []
# Those of the process that this one is a fork of, held so that nothing ends them.
_left: list[_Lane] = []


def _end_idle() -> None:
    while _idle:
        _idle.pop().end()


def _leave_idle() -> None:
    for lane in _idle:
        if lane.process:
            lane.process.leave()
    _left.extend(_idle)
    _idle.clear()


atexit.register(_end_idle)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_idle)
