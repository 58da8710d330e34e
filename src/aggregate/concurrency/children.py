"""Calls of functions in child processes, in order, without waiting for each: what may crash or hang costs only itself.

A function is found by its name in the child, and what it takes and returns crosses as a pickle. The first call starts a
process; more are started where calls pile up. They stay for the calls of later, to the end of this process.

Calls are sent ahead and answered one by one, so that of a process that dies it is known at which call. Where it had
answered others before, a new one is asked once more: only a call that ends a new process is given up.
"""

import atexit
import os
import pickle
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from aggregate.concurrency.child_server import is_serving
from aggregate.concurrency.message_stream import StreamingProcess, wait_for_any
from aggregate.errors import DeadlineError, SyntaxViewError

_About = TypeVar("_About")
_Answer = TypeVar("_Answer")

_AHEAD: Final = 300_000
"""Bytes that a child is asked for ahead, and beyond which another child pays: some 0.1 seconds of work."""
_MOST_WAITING: Final = 4_000_000
"""Of all calls that are not answered yet: a large one at the front stops nobody for half a second."""
_MOST_SPENT: Final = 20_000_000
"""Bytes after which a child is renewed: tree-sitter 0.26.1 for Python never frees what its parser was given to read in
pieces, as texts from 8 KB on are, so that a child grows by a megabyte with each million."""
_MOST_KEPT: Final = 2
"""Children that wait for the calls of later: in most programs one thread asks at a time."""
PATIENCE: Final = 60.0
"""Seconds that a child has for a call, whatever it does: it computes for less, so only one that sleeps is given up."""
_LAST_SECONDS: Final = 1.0
"""For what children are at when work is ended before its time: nobody who has pressed Ctrl-C waits longer."""
_LOST: Final = (
    "the parser crashes over this text, or takes far too much memory or time, and it was given up"
)
_NOT_STARTED: Final = "no process can be started to parse texts in"
_TOO_LONG: Final = -getattr(signal, "SIGPROF", 0)
"""How a process ends that has computed for too long."""


@dataclass(slots=True, eq=False)
class Call(Generic[_About, _Answer]):
    """A function that a child is asked for, and its answer once that is there.

    Attributes:
        about: Whatever the asker wants to find again beside the answer.
        function: What is called; ``None`` calls nothing, and keeps its place among the answers.
        arguments: What it is called with.
        size: About how many bytes wait with it.
        answer: What the function returned or raised, or why it was given up.
        is_answered: Whether there is an answer.
    """

    about: _About
    function: Callable[..., _Answer] | None
    arguments: Sequence[Any] = ()
    size: int = 0
    answer: _Answer | Exception | None = None
    is_answered: bool = False

    def settle(self, answer: _Answer | Exception | None) -> None:
        """Take its answer."""
        self.answer, self.is_answered = answer, True


def in_child(function: Callable[..., _Answer], *arguments: object) -> _Answer:
    """Return what ``function`` returns in a child process.

    Raises:
        DeadlineError: It crashes there, or takes too much memory or time.
        SyntaxViewError: No process can be started.
        Exception: What the function raises.
    """
    if is_serving():
        return function(*arguments)
    (call,) = in_children([Call(None, function, arguments)])
    if isinstance(call.answer, DeadlineError):
        raise call.answer
    return call.answer  # type: ignore[return-value]  # it is answered


def in_children(
    calls: Iterable[Call[_About, _Answer]],
    *,
    workers: int = 1,
    patience: float = PATIENCE,
    renewed_after: int = _MOST_SPENT,
    on_cut: Callable[[Call[_About, _Answer]], None] | None = None,
    last_seconds: float = _LAST_SECONDS,
) -> Generator[Call[_About, _Answer], None, None]:
    """Yield the calls in their order, each with its answer; a few megabytes of them are taken ahead.

    Args:
        calls: What to do.
        workers: How many processes there may be; one at least.
        patience: Seconds that a process has for a call.
        renewed_after: Bytes after which a process is replaced by a new one.
        on_cut: Takes calls that are answered and that nobody has taken, where the work is ended before its time.
        last_seconds: How long processes are waited for then.

    Raises:
        SyntaxViewError: No process can be started.
        Exception: What a function raises, but for ``DeadlineError``, which is an answer.
    """
    lanes: list[_Lane] = []
    waiting: deque[Call[_About, _Answer]] = deque()
    upcoming = iter(calls)
    is_at_end = False
    try:
        while waiting or not is_at_end:
            while not is_at_end and _has_room(lanes, waiting, workers):
                call = next(upcoming, None)
                if call is None:
                    is_at_end = True
                    break
                waiting.append(call)
                if call.function is None:
                    call.settle(None)
                else:
                    _lane_for(lanes, workers, patience, renewed_after).add(call)
            if waiting and waiting[0].is_answered:
                call = waiting.popleft()
                if isinstance(call.answer, Exception) and not isinstance(
                    call.answer, DeadlineError
                ):
                    raise call.answer
                yield call
            elif waiting:
                _await_answers(lanes)
    finally:
        if on_cut and waiting:
            _finish(lanes, time.monotonic() + last_seconds)
            for call in waiting:
                if call.function and call.is_answered:
                    on_cut(call)
        _give_back(lanes)


def _has_room(lanes: Sequence["_Lane"], waiting: Iterable[Call[Any, Any]], workers: int) -> bool:
    """Tell whether a child needs more, or another one may be started, and the calls in memory allow it."""
    if not lanes:
        return not waiting  # what needs no child is handed on at once
    wanted = len(lanes) < workers or any(lane.has_room for lane in lanes)
    return wanted and sum(call.size for call in waiting) < _MOST_WAITING


def _lane_for(lanes: list["_Lane"], workers: int, patience: float, renewed_after: int) -> "_Lane":
    """Return the child that has the least to do; another one where all have much."""
    lane = min(lanes, key=lambda lane: lane.ahead, default=None)
    if lane is None or (lane.ahead >= _AHEAD and len(lanes) < workers):
        try:
            lane = _idle.pop()
        except IndexError:
            lane = _Lane()
        lane.patience, lane.renewed_after = patience, renewed_after
        lanes.append(lane)
    return lane


def _await_answers(lanes: Iterable["_Lane"]) -> None:
    """Wait until a child has answered, or one has not in time, and let all that are busy take that up."""
    busy = [lane for lane in lanes if lane.calls]
    began = time.monotonic()
    wait_for_any(
        [lane.process for lane in busy if lane.process],
        began + min(lane.patience_left for lane in busy),
    )
    waited = time.monotonic() - began
    for lane in busy:
        lane.advance(waited)


def _finish(lanes: Iterable["_Lane"], end: float) -> None:
    """Take up what children answer until ``end`` (of ``monotonic``)."""
    while time.monotonic() < end and (busy := [lane for lane in lanes if lane.is_working]):
        wait_for_any([lane.process for lane in busy if lane.process], end)
        for lane in busy:
            lane.take_answers()


class _Lane:
    """One child, replaced when it dies, and the calls that it has, in order."""

    def __init__(self) -> None:
        self.calls: deque[Call[Any, Any]] = deque()
        self.ahead = 0
        """Bytes of these."""
        self.process: StreamingProcess | None = None
        self.patience = PATIENCE
        self.patience_left = PATIENCE
        """Seconds of waiting that the child has for its first call; who takes the answers may take longer over them."""
        self.renewed_after = _MOST_SPENT
        self._spent = 0
        self._answers = 0
        """From this process; the first is its greeting."""

    @property
    def has_room(self) -> bool:
        """Whether it may be asked for more: one that is to be renewed answers first what it was asked."""
        return self.ahead < _AHEAD and not (self.calls and self._is_worn)

    @property
    def _is_worn(self) -> bool:
        return self._spent > self.renewed_after

    @property
    def is_working(self) -> bool:
        """Whether answers may still come."""
        return bool(self.calls) and self.process is not None and not self.process.has_ended

    @property
    def is_fit(self) -> bool:
        """Whether it can be kept for later calls."""
        return not (self.calls or self._is_worn) and self.process is not None

    def add(self, call: Call[Any, Any]) -> None:
        """Ask the child for one more call."""
        if not self.calls:
            self.patience_left = self.patience
            if self._is_worn:
                self.end()
        if self.process is None:
            # Processes and pipes, which a run without anything new does without.
            from aggregate.concurrency.child_start import start_child

            try:
                self.process = start_child()
            except OSError as error:
                raise SyntaxViewError(f"{_NOT_STARTED}: {error}") from None
            self._spent = self._answers = 0
        message = pickle.dumps((call.function, call.arguments), protocol=pickle.HIGHEST_PROTOCOL)
        call.size = len(message)
        self.ahead += call.size
        self._spent += call.size
        self.calls.append(call)
        self.process.send(message)

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
            if self._answers:
                value, error = pickle.loads(answer)  # noqa: S301 - a private pipe from our own child
                call = self.calls.popleft()
                self.ahead -= call.size
                call.settle(value if error is None else error)
            self._answers += 1
        return bool(answers)

    def _replace(self) -> None:
        """End the child, give its call up where that is surely at fault, and ask a new one for the others."""
        is_too_slow = self.patience_left <= 0
        calls = list(self.calls)
        status = self.end()
        if not self._answers:
            raise SyntaxViewError(f"{_NOT_STARTED}: {sys.executable} ended with status {status}")
        if is_too_slow or status == _TOO_LONG or self._answers == 1:
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


def _give_back(lanes: Iterable[_Lane]) -> None:
    """Keep some children for the calls of later, and end the others."""
    for lane in lanes:
        if lane.is_fit and len(_idle) < _MOST_KEPT:
            _idle.append(lane)
        else:
            lane.end()


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
