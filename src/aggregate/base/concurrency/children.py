"""Calls of functions in child processes, in order, without waiting for each: what may crash or hang costs only itself.

A function is found by its name in the child, and what it takes and returns crosses as a pickle. The first call starts a
process, and more are started where calls pile up. They stay for the calls of later, to the end of this process.
"""

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable
from typing import TYPE_CHECKING, Final, TypeVar

from aggregate.base.concurrency.call import Call
from aggregate.base.errors import DeadlineError

if TYPE_CHECKING:
    from aggregate.base.concurrency.lanes import Lanes

_About = TypeVar("_About")
_Answer = TypeVar("_Answer")

# Seconds that a child has for a call, whatever it does: it computes for less, so only one that sleeps is given up.
PATIENCE: Final = 60.0
# Bytes of all calls that are not answered yet: a large one at the front stops nobody for half a second.
_MOST_WAITING: Final = 4_000_000
_MOST_WORKERS: Final = 8  # Each holds its own grammars in memory


def in_child(function: Callable[..., _Answer], *arguments: object) -> _Answer:
    (call,) = in_children([Call(None, function, arguments)], workers=1)
    if isinstance(call.answer, DeadlineError):
        raise call.answer
    return call.answer  # type: ignore[return-value]  # it is answered


def in_children(
    calls: Iterable[Call[_About, _Answer]],
    *,
    workers: int | None = None,
    patience: float = PATIENCE,
) -> Generator[Call[_About, _Answer], None, None]:
    """Yield the calls in their order, each with its answer; a few megabytes of them are taken ahead.

    What a function raises is raised, but for ``DeadlineError``, which is an answer; a ``SyntaxViewError`` says that no
    process can be started. There are ``workers`` processes at the most, by default one per core, with ``patience``
    seconds for a call.
    """
    lanes: Lanes | None = None
    waiting: deque[Call[_About, _Answer]] = deque()
    upcoming = iter(calls)
    held, is_at_end = 0, False
    try:
        while waiting or not is_at_end:
            while not is_at_end and (
                # What needs no child is handed on at once.
                lanes.have_room and held < _MOST_WAITING if lanes else not waiting
            ):
                call = next(upcoming, None)
                if call is None:
                    is_at_end = True
                    break
                if call.function is None:
                    call.settle(None)
                else:
                    lanes = lanes or _lanes(workers, patience)
                    lanes.add(call)
                waiting.append(call)
                held += call.size
            if waiting and waiting[0].is_answered:
                call = waiting.popleft()
                held -= call.size
                if isinstance(call.answer, Exception) and not isinstance(
                    call.answer, DeadlineError
                ):
                    raise call.answer
                yield call
            elif waiting and lanes:
                lanes.await_answers()
    finally:
        if lanes:
            lanes.give_back()


def _lanes(workers: int | None, patience: float) -> "Lanes":
    # Processes and pipes, which a run in which nothing is new does without.
    from aggregate.base.concurrency.lanes import Lanes

    if workers is None:
        can_tell = hasattr(os, "sched_getaffinity")
        cores = len(os.sched_getaffinity(0)) if can_tell else os.cpu_count() or 1
        workers = min(cores, _MOST_WORKERS)
    return Lanes(max(1, workers), patience)
