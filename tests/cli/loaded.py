"""A process that has the program loaded and runs each command in a copy of itself, so that tests share its start.

A command still is a process of its own, with its folder, environment, streams and exit code; only what every start
repeats, importing libraries and reading the vocabulary, is done once for each worker of the tests.
"""

import atexit
import gc
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from importlib import import_module
from pathlib import Path

import aggregate
from aggregate import main
from aggregate.prompt.files import view_version

_SECONDS = 300  # a busy machine takes its time, and what hangs has no end at all
_HEADER = struct.Struct("!i")


class Command:
    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._code: int | None = None
        self._pid = _receive_number(connection)

    def interrupt(self, how: signal.Signals) -> None:
        os.kill(self._pid, how)

    def wait(self) -> int:
        """Wait for its end and return its exit code, the negative number of the signal that ended it."""
        if self._code is None:
            self._code = _receive_number(self._connection)
        return self._code

    def end(self) -> None:
        if self._code is None:
            self.kill()
            self.wait()

    def kill(self) -> None:
        with suppress(ProcessLookupError):  # it has ended by itself, and its code is on the way
            self.interrupt(signal.SIGKILL)


class Loaded:
    """The process, from the side of the tests. It runs one command at a time."""

    def __init__(self, modules: tuple[str, ...], environment: Mapping[str, str]) -> None:
        self.seconds: float = _SECONDS  # the most that an answer takes
        self._modules = modules
        path = os.pathsep.join(path for path in sys.path if path)
        self._environment = {**environment, "PYTHONPATH": path}
        self._start()

    def _start(self) -> None:
        self._connection, other = socket.socketpair()
        with other:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.cli.loaded", str(other.fileno()), *self._modules],
                pass_fds=[other.fileno()],
                cwd=Path(__file__).parents[2],
                env=self._environment,
                stdin=subprocess.DEVNULL,
            )

    @contextmanager
    def running(
        self, folder: Path, arguments: list[str], environment: Mapping[str, str], streams: list[int]
    ) -> Iterator[Command]:
        """Begin a command with these descriptors as its standard streams, and end it if the block has not.

        A process that does not answer in time is replaced: its late answer would be taken for the next command's.
        """
        if self._process.poll() is not None:
            self._start()
        self._connection.settimeout(self.seconds)
        request = json.dumps([str(folder), arguments, dict(environment)]).encode()
        command = None
        try:
            socket.send_fds(self._connection, [_HEADER.pack(len(request))], streams)
            self._connection.sendall(request)
            command = Command(self._connection)
            try:
                yield command
            finally:
                command.end()
        except (TimeoutError, ConnectionError):
            if command:
                command.kill()
            self.close()
            raise

    def close(self) -> None:
        self._connection.close()
        self._process.kill()
        self._process.wait()


@cache
def loaded(*modules: str) -> Loaded:
    """Return this process's own that has these modules loaded besides, started at the first call."""
    process = Loaded(
        modules, {**os.environ, "PYTHONWARNINGS": "error", "PYTHONIOENCODING": "utf-8"}
    )
    atexit.register(process.close)
    return process


def _receive(connection: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        piece = connection.recv(size - len(data))
        if not piece:
            raise ConnectionError("the other side has ended")
        data += piece
    return data


def _receive_number(connection: socket.socket) -> int:
    (number,) = _HEADER.unpack(_receive(connection, _HEADER.size))
    return int(number)


def _serve(connection: socket.socket, modules: list[str]) -> None:
    """Run commands, each in a copy of this process, until the tests have ended."""
    for module in (
        "prompt.api",
        "cli.view_and_stats",
        "cli.run",
        "cli.send",
        "project.index.database",
        "prompt.fit_prompt",
        "sending.turn",
        "code.views.masked",
        "base.concurrency.child_processes",
        "base.redaction.secret_rules",
        "prompt.output.source_map",
    ):
        import_module(f"aggregate.{module}")
    for module in modules:
        import_module(module)
    aggregate.count("The vocabulary is read by this.")
    aggregate.open_project({})  # which builds the validators of configurations
    view_version()  # which reads the code that what is kept of files was made by
    gc.freeze()  # or else a copy's first collection touches, and so copies, all that it shares
    while True:
        header, descriptors, _, _ = socket.recv_fds(connection, _HEADER.size, 3)
        if not header:
            return
        request = _receive(connection, _HEADER.unpack(header)[0])
        child = os.fork()
        if child == 0:
            connection.close()
            _become(*json.loads(request), *descriptors)
        connection.sendall(_HEADER.pack(child))
        for descriptor in descriptors:
            os.close(descriptor)
        _, status = os.waitpid(child, 0)
        connection.sendall(_HEADER.pack(os.waitstatus_to_exitcode(status)))


def _become(folder: str, arguments: list[str], environment: dict[str, str], *streams: int) -> None:
    # Tests that run in the background ignore it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for target, stream in enumerate(streams):
        os.dup2(stream, target)
    for stream in streams:
        os.close(stream)
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["aggregate", *arguments]
    try:
        main()
    except SystemExit as end:
        if threading.active_count() == 1:
            # Nothing to wait for: taking down memory is slow.
            os._exit(end.code if isinstance(end.code, int) else 1)
        raise


if __name__ == "__main__":
    with socket.socket(fileno=int(sys.argv[1])) as tests:
        _serve(tests, sys.argv[2:])
