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
import signal
import sys
import time
from io import FileIO
from itertools import count, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from aggregate.base.concurrency.call import Call
from aggregate.base.concurrency.child_server import serve_calls
from aggregate.base.concurrency.message_stream import StreamingProcess, streaming, wait_for_any
from aggregate.base.errors import DeadlineError, SyntaxViewError

if TYPE_CHECKING:
    import subprocess


_SERVE: Final = (
    "import sys; sys.path[:] = sys.argv[1:]; "
    "from aggregate.base.concurrency.child_server import serve_calls; serve_calls()"
)


def start_child() -> StreamingProcess:
    """Start a process that answers pickled calls, as ``serve_calls`` does.

    Raises:
        OSError: The system starts none.
    """
    return streaming(_fork() if _is_single_threaded() else _run_anew())


def _is_single_threaded() -> bool:
    """Tell whether this process surely has one thread; libraries may have others that Python does not know."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            return len(os.listdir("/proc/self/task")) == 1  # noqa: PTH208 - quicker
    return False


class _ForkedProcess:
    """A forked child, as much like ``Popen`` as is needed."""

    def __init__(self, pid: int, requests: int, answers: int) -> None:
        self._pid = pid
        self.stdin, self.stdout = FileIO(requests, "wb"), FileIO(answers, "rb")
        self.returncode: int | None = None

    def kill(self) -> None:
        if self.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)

    def wait(self) -> int:
        if self.returncode is None:
            self.returncode = 0
            with contextlib.suppress(ChildProcessError):  # somebody has waited for all children
                self.returncode = os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])
        return self.returncode


def _fork() -> _ForkedProcess:
    requests, send = os.pipe()
    receive, answers = os.pipe()
    this = os.getpid()
    try:
        pid = os.fork()
        if not pid:
            _leave_descriptors(requests, answers)
            serve_calls((requests, answers))
        return _ForkedProcess(pid, send, receive)
    except OSError:
        os.close(send)
        os.close(receive)
        raise
    finally:
        if os.getpid() != this:
            os._exit(1)  # whatever happens, nothing of the parent's is gone on with in the child
        os.close(requests)
        os.close(answers)


def _leave_descriptors(*used: int) -> None:
    """Close what belongs to the parent: a lock or a connection must not outlive it here."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in {0, 1, 2}.difference(used):
        os.dup2(nothing, number)
    kept = sorted(number for number in used if number > 2)
    for before, behind in pairwise([2, *kept, os.sysconf("SC_OPEN_MAX")]):
        os.closerange(before + 1, behind)


def _run_anew() -> "subprocess.Popen[bytes]":
    """Run a new Python; it imports from where this process does.

    ``-I`` and ``-S`` leave out what Python does by itself at its start: all paths are handed over.
    """
    import subprocess  # a fork does without

    paths = dict.fromkeys([*sys.path, str(Path(__file__).parents[3])])
    no_bytecode = ["-B"] if sys.dont_write_bytecode else []
    command = [sys.executable, "-I", "-S", *no_bytecode, "-c", _SERVE, *paths]
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        bufsize=0,
    )


_AHEAD: Final = 300_000
"""Bytes that a child is asked for ahead, and beyond which another child pays: some 0.1 seconds of work."""
_MOST_SPENT: Final = 20_000_000
"""Bytes after which a child is renewed: tree-sitter 0.26.1 for Python never frees what its parser was given to read in
pieces, as texts from 8 KB on are, so that a child grows by a megabyte with each million."""
_MOST_KEPT: Final = 2
"""Children that wait for the calls of later: in most programs one thread asks at a time."""
_LOST: Final = (
    "the parser crashes over this text, or takes far too much memory or time, and it was given up"
)
_NOT_STARTED: Final = "no process can be started to parse texts in"
_TOO_LONG: Final = -getattr(signal, "SIGPROF", 0)
"""How a process ends that has computed for too long."""


class Lanes:
    """The children that some calls are done in.

    Args:
        most: How many there may be.
        patience: Seconds that a child has for a call.
    """

    def __init__(self, most: int, *, patience: float) -> None:
        self._lanes: list[_Lane] = []
        self._most = most
        self._patience = patience

    @property
    def have_room(self) -> bool:
        """Whether a child needs more, or another one may be started."""
        return len(self._lanes) < self._most or any(lane.has_room for lane in self._lanes)

    def add(self, call: Call[Any, Any]) -> None:
        """Ask the child that has the least to do; another one where all have much.

        Raises:
            SyntaxViewError: No process can be started.
        """
        lane = min(self._lanes, key=lambda lane: lane.ahead, default=None)
        if lane is None or (lane.ahead >= _AHEAD and len(self._lanes) < self._most):
            lane = _idle_lane()
            lane.patience = self._patience
            self._lanes.append(lane)
        lane.add(call)

    def await_answers(self) -> None:
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

    def give_back(self) -> None:
        """Keep some children for the calls of later, and end the others."""
        for lane in self._lanes:
            if lane.is_fit and len(_idle) < _MOST_KEPT:
                _idle.append(lane)
            else:
                lane.end()


class _Lane:
    """One child, replaced when it dies, and the calls that it has."""

    def __init__(self) -> None:
        self.calls: dict[int, Call[Any, Any]] = {}
        """In order, by numbers that answers repeat: where an interrupt loses one, the next is not taken for it."""
        self.ahead = 0
        """Bytes of these."""
        self.process: StreamingProcess | None = None
        self.patience = self.patience_left = 0.0
        """Seconds of waiting for a call, and for the first one now; who takes the answers may take longer over them."""
        self._numbers = count()
        self._spent = 0
        self._has_greeted = self._has_answered = False

    @property
    def has_room(self) -> bool:
        """Whether it may be asked for more: one that is to be renewed answers first what it was asked."""
        return self.ahead < _AHEAD and not (self.calls and self._is_worn)

    @property
    def is_fit(self) -> bool:
        """Whether it can be kept for later calls."""
        return not (self.calls or self._is_worn) and self.process is not None

    @property
    def _is_worn(self) -> bool:
        return self._spent > _MOST_SPENT

    def add(self, call: Call[Any, Any]) -> None:
        """Ask the child for one more call."""
        if not self.calls:
            self.patience_left = self.patience
            if self._is_worn:
                self.end()
        process = self.process = self.process or self._started()
        number = next(self._numbers)
        asked = number, call.function, call.arguments
        message = pickle.dumps(asked, protocol=pickle.HIGHEST_PROTOCOL)
        call.size = len(message)
        self.ahead += call.size
        self._spent += call.size
        self.calls[number] = call
        process.send(message)

    def _started(self) -> StreamingProcess:
        self._spent = 0
        self._has_greeted = self._has_answered = False
        try:
            return start_child()
        except OSError as error:
            raise SyntaxViewError(f"{_NOT_STARTED}: {error}") from None

    def advance(self, waited: float) -> None:
        """Take up what the child has answered; one that is dead or too slow is replaced."""
        has_answered = self.take_answers()
        self.patience_left = self.patience if has_answered else self.patience_left - waited
        if self.calls and self.process and (self.process.has_ended or self.patience_left <= 0):
            self._replace()

    def take_answers(self) -> bool:
        """Take up what the child has answered, and tell whether that is anything."""
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
        return bool(answers)

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
        """End the child and forget its calls; return how it ended."""
        self.calls.clear()
        self.ahead = 0
        process, self.process = self.process, None
        return process.kill() if process else 0


_idle: list[_Lane] = []
_left: list[_Lane] = []
"""Those of the process that this one is a fork of, held so that nothing ends them."""


def _idle_lane() -> _Lane:
    try:
        return _idle.pop()
    except IndexError:
        return _Lane()


def _end_idle() -> None:
    while _idle:
        _idle.pop().end()


def _leave_idle() -> None:
    """Begin anew in a fork of this process; the children stay its parent's."""
    for lane in _idle:
        if lane.process:
            lane.process.leave()
    _left.extend(_idle)
    _idle.clear()


atexit.register(_end_idle)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_idle)
