"""Calls of functions in child processes, in order, without waiting for each: what may crash or hang costs only itself.

A function is found by its name in the child, and what it takes and returns crosses as a pickle. The first call starts a
process, and more are started where calls pile up. They stay for the calls of later, to the end of this process.
"""

import os
from collections.abc import Callable, Generator, Iterable
from itertools import chain
from typing import Final, TypeVar

from aggregate.base.concurrency.call import Call
from aggregate.base.errors import DeadlineError

_About = TypeVar("_About")
_Answer = TypeVar("_Answer")

# Seconds that a child has for a call, whatever it does: it computes for less, so only one that sleeps is given up.
PATIENCE: Final = 60.0
_MOST_WORKERS: Final = 8  # Each holds its own grammars in memory


def in_child(function: Callable[..., _Answer], *arguments: object) -> _Answer:
    answer = begin_in_child(function, *arguments)()
    if isinstance(answer, DeadlineError):
        raise answer
    return answer


def begin_in_child(
    function: Callable[..., _Answer], *arguments: object
) -> Callable[[], _Answer | DeadlineError]:
    """Begin a call in a child process that is asked for nothing else; what is returned waits once for its answer.

    What the function raises is raised then, but for ``DeadlineError``, which is an answer.
    """
    from aggregate.base.concurrency.lanes import Lanes

    return Lanes(1, PATIENCE).begin(Call(None, function, arguments))


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
    upcoming = iter(calls)
    for call in upcoming:
        if call.function is not None:
            # Processes and pipes, which a run in which nothing is new does without.
            from aggregate.base.concurrency.lanes import Lanes

            yield from Lanes(_workers(workers), patience).answered(chain((call,), upcoming))
            return
        call.settle(None)
        yield call


def _workers(asked: int | None) -> int:
    if asked is not None:
        return max(1, asked)
    can_tell = hasattr(os, "sched_getaffinity")
    cores = len(os.sched_getaffinity(0)) if can_tell else os.cpu_count() or 1
    return min(cores, _MOST_WORKERS)
