"""Starting the child processes that calls are done in: by a fork where that is safe, else by running Python anew.

A fork takes a millisecond and has all modules, a new Python takes a hundred to get there. But a fork of a process with
several threads may find locks taken by those that it lacks, and macOS breaks in forked processes.
"""

import contextlib
import os
import signal
import sys
from io import FileIO
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final

from aggregate.base.concurrency.child_server import serve_calls
from aggregate.base.concurrency.message_stream import StreamingProcess, streaming

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
