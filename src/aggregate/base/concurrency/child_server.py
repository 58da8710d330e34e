"""Main loop of a child process that executes calls.

Calls are limited in memory and time. Grammars are unpredictable: a file of a few kilobytes may make a parser loop for
hours, exhaust the memory or write out of bounds. Here only the child dies, and its parent knows at which call.
"""

import gc
import os
import pickle
import signal
import sys
import traceback
from collections.abc import Callable
from typing import Final

from aggregate.base.disk.programs import guard_process
from aggregate.base.errors import AggregateError

HEADER_BYTES: Final = 8  # a message's length, big-endian
# Bytes beyond those mapped at the start: ten times the need of the longest parsed texts.
_MOST_MEMORY: Final = 2 << 30
# CPU time of a call; in the first one the largest grammar takes a second to compile its queries.
_SECONDS: Final = 10.0
_SECONDS_PER_BYTE: Final = 50e-6  # ten times the densest text in all views, as measured
# A hundred times the default: there are hardly any cycles, and frequent collections take some percent.
_OBJECTS_BETWEEN_COLLECTIONS: Final = 100_000


def frame(message: bytes) -> bytes:
    return len(message).to_bytes(HEADER_BYTES, "big") + message


def serve_calls(pipes: tuple[int, int] | None = None) -> None:
    """Answer calls until the parent closes the pipe."""
    gc.freeze()  # leaves the parent's pages shared
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    if sys.platform != "win32":  # undo the parent's signal handlers
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGTERM, signal.SIGPROF):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
    _limit_memory()
    guard_process()
    serve_requests(_answer, pipes)


def serve_requests(answer: Callable[[bytes], bytes], pipes: tuple[int, int] | None = None) -> None:
    """Answer messages until the end of input.

    First sends an empty message as a sign of readiness. Ends silently if the parent is gone. Ignores interrupts of the
    terminal, which the parent handles. By default uses standard input and output, and redirects prints of libraries to
    standard error.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if pipes is None:
        pipes = os.dup(0), os.dup(1)
        os.dup2(2, 1)
        sys.stdin.close()
    requests, answers = os.fdopen(pipes[0], "rb"), os.fdopen(pipes[1], "wb")
    try:
        reply = b""
        while True:
            answers.write(frame(reply))
            answers.flush()
            header = requests.read(HEADER_BYTES)
            if not header:
                return
            reply = answer(requests.read(int.from_bytes(header, "big")))
    except BrokenPipeError:
        os._exit(0)  # Python would flush again and print an error


def _answer(request: bytes) -> bytes:
    """Execute a pickled call; return its pickled value or error. Exits if the memory is exhausted."""
    _limit_time(_SECONDS + len(request) * _SECONDS_PER_BYTE)
    number, value = -1, None
    error: Exception | None = None
    try:
        number, function, arguments = pickle.loads(request)  # noqa: S301 - a private pipe from the parent
        value = function(*arguments)
    except MemoryError:
        os._exit(1)
    except AggregateError as problem:
        error = problem
    except Exception:  # noqa: BLE001 - raised in the parent; as text, since many errors cannot be pickled
        error = RuntimeError(traceback.format_exc())
    answer = pickle.dumps((number, value, error), protocol=pickle.HIGHEST_PROTOCOL)
    _limit_time(0)
    return answer


def _limit_time(seconds: float) -> None:
    # The kernel kills the process after so much CPU time; 0 removes the limit.
    if sys.platform != "win32":
        signal.setitimer(signal.ITIMER_PROF, seconds)


def _limit_memory() -> None:
    if sys.platform == "linux":
        import resource

        with open("/proc/self/statm", "rb") as pages:  # noqa: PTH123 - pathlib takes 10 ms in a new process
            mapped = int(pages.read().split()[0]) * resource.getpagesize()
        bounds = resource.getrlimit(resource.RLIMIT_AS)
        limit = min([mapped + _MOST_MEMORY, *(bound for bound in bounds if bound >= 0)])
        resource.setrlimit(resource.RLIMIT_AS, (limit, bounds[1]))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # no dump of two gigabytes
