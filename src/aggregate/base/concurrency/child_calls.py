"""Call functions in child processes.

A crash then costs one call. The child imports the function by name; arguments and results are pickled. The first call
starts a process, a backlog starts more. Processes are reused until the parent ends.

A lane is one child process with its calls. Calls are sent ahead and answered one by one, so the call that killed a
child is known. If that child had answered other calls before, the call is retried in a new child; only a call that
kills a new child fails.
"""

import atexit
import os
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any, Final, Generic, Self, TypeVar

from aggregate.base.errors import DeadlineError, SyntaxViewError

if TYPE_CHECKING:
    from aggregate.base.concurrency.child_processes import PoolProcess

_About = TypeVar("_About")
_Answer = TypeVar("_Answer")
# Seconds of a call; longer than the CPU limit, to affect only a sleeping child.
PATIENCE: Final = 60.0
_MOST_WORKERS: Final = 8  # each holds its own grammars in memory
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


@dataclass(slots=True, eq=False)
class Call(Generic[_About, _Answer]):
    """A function call in a child process."""

    about: _About  # the caller's own data, returned with the answer
    function: Callable[..., _Answer] | None  # None calls nothing but keeps its position
    arguments: Sequence[Any] = ()
    size: int = 0  # bytes of the message, or of the files named in it
    topic: str = ""  # calls of one topic share what a child has loaded, such as queries
    answer: _Answer | Exception | None = None  # a value, or the error raised
    is_answered: bool = False

    def settle(self, answer: _Answer | Exception | None) -> None:
        self.answer, self.is_answered = answer, True

    def result(self) -> _Answer | DeadlineError:
        """Return the function's value or a ``DeadlineError``; raise its other errors."""
        if isinstance(self.answer, Exception) and not isinstance(self.answer, DeadlineError):
            raise self.answer
        return self.answer  # type: ignore[return-value]  # after ``settle``


def in_child(function: Callable[..., _Answer], *arguments: object) -> _Answer:
    answer = begin_in_child(function, *arguments)()
    if isinstance(answer, DeadlineError):
        raise answer
    return answer


def begin_in_child(
    function: Callable[..., _Answer], *arguments: object
) -> Callable[[], _Answer | DeadlineError]:
    """Begin a call in a child process of its own; return a function to await its result.

    The returned function returns the call's value or a ``DeadlineError``, and raises other errors of the call.
    """
    call = Call(None, function, arguments)
    children = Children(1)
    children.submit(call)

    def result() -> _Answer | DeadlineError:
        with children:
            return children.take().result()

    return result


def in_children(
    calls: Iterable[Call[_About, _Answer]],
    *,
    workers: int | None = None,
    patience: float = PATIENCE,
) -> Generator[Call[_About, _Answer], None, None]:
    """Yield calls with their answers, executed in child processes.

    The order of the calls is kept. A few megabytes of calls are read ahead. An answer may be a ``DeadlineError``; other
    errors of a call are raised. A ``SyntaxViewError`` means that no process could be started.

    Args:
        calls: Consumed lazily.
        workers: Maximum number of processes, by default one per core.
        patience: Seconds until a call is stopped.
    """
    with Children(workers, patience) as children:
        for call in calls:
            children.submit(call)
            while children.has_answer or children.is_full:
                if children.has_answer:
                    yield children.take()
                else:
                    children.wait()
        while children:
            yield children.take()


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
        self.topics: set[str] = set()  # of all calls
        self._is_ready = self._has_answered = False

    @property
    def is_worn(self) -> bool:
        return self._parsed > _MOST_PARSED

    def add(self, call: Call[Any, Any]) -> None:
        import pickle  # 4 ms with the next one, and most runs need no child

        from aggregate.base.concurrency.child_processes import start_child

        if not self.calls:
            self.patience_left = self.patience
        if self.process is None:
            self._parsed = 0
            self.topics.clear()
            self._is_ready = self._has_answered = False
            try:
                self.process = start_child()
            except OSError as error:
                raise SyntaxViewError(f"{_NOT_STARTED}: {error}") from None
        number = next(self._numbers)
        request = number, call.function, call.arguments
        message = pickle.dumps(request, protocol=pickle.HIGHEST_PROTOCOL)
        call.size = max(call.size, len(message))
        self.ahead += call.size
        self._parsed += len(message)
        self.topics.add(call.topic)
        self.calls[number] = call
        self.process.send(message)

    def advance(self, waited: float) -> None:
        """Assign the child's answers to calls; replace a child that died or is too slow."""
        import pickle

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


class Children:
    """Child processes whose calls are answered in the order of submission.

    Args:
        workers: Maximum number of processes, by default one per core.
        patience: Seconds until a call is stopped.
    """

    def __init__(self, workers: int | None = None, patience: float = PATIENCE) -> None:
        self._lanes: list[_Lane] = []
        self._calls: deque[Call[Any, Any]] = deque()  # submitted and not taken
        self._size = 0  # bytes of these
        if workers is None:
            has_affinity = hasattr(os, "sched_getaffinity")
            cores = len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1
            workers = min(cores, _MOST_WORKERS)
        self._most = max(1, workers)
        self._patience = patience

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Keep some child processes for reuse, and end the others."""
        for lane in self._lanes:
            is_reusable = lane.process and not lane.calls and not lane.is_worn
            if is_reusable and len(_idle) < _MOST_IDLE:
                _idle.append(lane)
            else:
                lane.end()

    def __len__(self) -> int:
        """Return the number of calls that were not taken yet."""
        return len(self._calls)

    @property
    def has_answer(self) -> bool:
        """Whether ``take`` returns at once."""
        return bool(self._calls) and self._calls[0].is_answered

    @property
    def is_full(self) -> bool:
        """Whether each child has enough calls for a while."""
        lanes = [lane for lane in self._lanes if not lane.is_worn]
        has_room = len(lanes) < self._most or any(
            lane.ahead < _AHEAD or len(lane.calls) < 2 for lane in lanes
        )
        return not has_room or self._size >= _MOST_WAITING

    def submit(self, call: Call[Any, Any]) -> None:
        """Send a call to the child with the least work; starts children as needed."""
        if call.function is None:
            call.settle(None)
        else:
            self._lane(call.topic).add(call)
        self._calls.append(call)
        self._size += call.size

    def _lane(self, topic: str) -> _Lane:
        """Return the lane with the least work, or one with little more that knows the topic.

        A worn lane only finishes its calls.
        """
        lanes = sorted((lane for lane in self._lanes if not lane.is_worn), key=lambda x: x.ahead)
        if lanes and (lanes[0].ahead < _AHEAD or len(lanes) >= self._most):
            knows = next((lane for lane in lanes if topic in lane.topics), lanes[0])
            return knows if knows.ahead < lanes[0].ahead + _AHEAD else lanes[0]
        for lane in [lane for lane in self._lanes if lane.is_worn and not lane.calls]:
            lane.end()
            self._lanes.remove(lane)
        try:
            lane = _idle.pop()
        except IndexError:
            lane = _Lane()
        lane.patience = self._patience
        self._lanes.append(lane)
        return lane

    def take(self) -> Call[Any, Any]:
        """Return the first call that was not taken yet; wait for its answer, and raise its error."""
        while not self._calls[0].is_answered:
            self.wait()
        call = self._calls.popleft()
        self._size -= call.size
        call.result()
        return call

    def wait(self) -> None:
        """Wait for any answers or a timeout; assign answers to calls."""
        from aggregate.base.concurrency.child_processes import wait_for_any

        busy = [lane for lane in self._lanes if lane.calls]
        began = time.monotonic()
        wait_for_any(
            [lane.process for lane in busy if lane.process],
            began + min(lane.patience_left for lane in busy),
        )
        waited = time.monotonic() - began
        for lane in busy:
            lane.advance(waited)


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
