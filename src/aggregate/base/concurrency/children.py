"""Call functions in child processes.

A crash then costs one call. Calls are sent ahead and answered in order. The child imports the function by name;
arguments and results are pickled. The first call starts a process, a backlog starts more. Processes are reused until
the parent ends.
"""

import os
from collections.abc import Callable, Generator, Iterable
from itertools import chain
from typing import Final, TypeVar

from aggregate.base.concurrency.call import Call
from aggregate.base.errors import DeadlineError

_About = TypeVar("_About")
_Answer = TypeVar("_Answer")

# Seconds of a call; longer than the CPU limit, to affect only a sleeping child.
PATIENCE: Final = 60.0
_MOST_WORKERS: Final = 8  # each holds its own grammars in memory


def in_child(function: Callable[..., _Answer], *arguments: object) -> _Answer:
    answer = begin_in_child(function, *arguments)()
    if isinstance(answer, DeadlineError):
        raise answer
    return answer


def begin_in_child(
    function: Callable[..., _Answer], *arguments: object
) -> Callable[[], _Answer | DeadlineError]:
    """Begin a call; return a function to await its result.

    The call runs in a child process of its own. The returned function returns the call's value or a ``DeadlineError``,
    and raises other errors of the call.
    """
    from aggregate.base.concurrency.lanes import Lanes

    return Lanes(1, PATIENCE).begin(Call(None, function, arguments))


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
    upcoming = iter(calls)
    for call in upcoming:
        if call.function is not None:
            # Imported late: a run without new files needs no processes.
            from aggregate.base.concurrency.lanes import Lanes

            yield from Lanes(_workers(workers), patience).answered(chain((call,), upcoming))
            return
        call.settle(None)
        yield call


def _workers(most: int | None) -> int:
    if most is not None:
        return max(1, most)
    has_affinity = hasattr(os, "sched_getaffinity")
    cores = len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1
    return min(cores, _MOST_WORKERS)
