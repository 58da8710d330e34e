"""The life of a child process that is asked for calls of functions, each within limits of memory and of time.

What a grammar does with a text cannot be foreseen: one of some kilobytes may make it loop for hours, take all memory of
the machine or write where it must not. Here that costs the process, and its parent knows at which call it ended.
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

HEADER_BYTES: Final = 8  # of a message's length, big-endian, before the message
# Above what is mapped at the start: ten times what the longest texts that are parsed take.
_MOST_MEMORY: Final = 2 << 30
# Of computing, for one call: the largest grammar takes one to get its queries ready, which only the first one pays.
_SECONDS: Final = 10.0
# Ten times what the densest text takes in all views, on the machine that this was measured on.
_SECONDS_PER_BYTE: Final = 50e-6
# A hundred times what is usual: hardly anything here makes cycles, and looking for them often takes some percent.
_OBJECTS_BETWEEN_COLLECTIONS: Final = 100_000


def frame(message: bytes) -> bytes:
    return len(message).to_bytes(HEADER_BYTES, "big") + message


def serve_calls(pipes: tuple[int, int] | None = None) -> None:
    """Say that the process is ready, then answer calls until there are no more."""
    gc.freeze()  # what a fork has brought along stays where it is, untouched
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    if sys.platform != "win32":  # what the parent has set for signals that are to end this process
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGTERM, signal.SIGPROF):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
    _limit_memory()
    guard_process()
    serve_requests(_answer, pipes)


def serve_requests(answer: Callable[[bytes], bytes], pipes: tuple[int, int] | None = None) -> None:
    """Say that the process is ready by an empty message, then answer messages until there are no more.

    Where nobody takes the answers any more the process ends without a word, and an interrupt of the terminal, which
    reaches all its processes, is the parent's to handle. By default messages come and go by standard input and output;
    what a library prints then goes to standard error, not between the answers.
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
        os._exit(0)  # Python would try to write the rest once more, and tell of that


def _answer(request: bytes) -> bytes:
    # What a function returns, or the error that it raises; where the memory does not suffice, the process ends.
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
    except Exception:  # noqa: BLE001 - whatever it is, the parent raises it; many errors cannot be pickled
        error = RuntimeError(traceback.format_exc())
    answer = pickle.dumps((number, value, error), protocol=pickle.HIGHEST_PROTOCOL)
    _limit_time(0)
    return answer


def _limit_time(seconds: float) -> None:
    # The kernel ends the process after so many seconds of computing, wherever it is then; 0 is no limit.
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
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # nobody wants two gigabytes of it
