"""A process that has the program loaded and runs each command in a copy of itself, so that tests share its start.

A command still is a process of its own, with its folder, environment, streams and exit code; only what every start
repeats, importing libraries and reading the vocabulary, is done once for each worker of the tests.
"""

import atexit
import gc
import json
import os
import socket
import struct
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path

import aggregate
from aggregate.cli import main

_SECONDS = 60
_HEADER = struct.Struct("!i")


class Loaded:
    """The process, from the side of the tests."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._connection, other = socket.socketpair()
        self._connection.settimeout(_SECONDS)
        with other:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.cli.loaded", str(other.fileno())],
                pass_fds=[other.fileno()],
                cwd=Path(__file__).parents[2],
                env=environment | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
                stdin=subprocess.DEVNULL,
            )

    def run(self, folder: Path, arguments: list[str], environment: Mapping[str, str]) -> tuple[int, bytes, bytes]:
        """Run one command to its end and return its exit code, output and errors."""
        request = json.dumps([str(folder), arguments, dict(environment)]).encode()
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            socket.send_fds(self._connection, [_HEADER.pack(len(request))], [out.fileno(), err.fileno()])
            self._connection.sendall(request)
            (code,) = _HEADER.unpack(_receive(self._connection, _HEADER.size))
            out.seek(0)
            err.seek(0)
            return code, out.read(), err.read()

    def close(self) -> None:
        """End the process, which has nothing to do any more."""
        self._connection.close()
        self._process.kill()
        self._process.wait()


@cache
def loaded() -> Loaded:
    """Return this process's own, started at the first call."""
    process = Loaded({**os.environ, "PYTHONWARNINGS": "error", "PYTHONIOENCODING": "utf-8"})
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


def _serve(connection: socket.socket) -> None:
    """Run commands, each in a copy of this process, until the tests have ended."""
    for module in ("compose.api", "cli.run", "cli.send", "cli.results", "chat.turn", "views.ast_parser"):
        import_module(f"aggregate.{module}")
    aggregate.count("The vocabulary is read by this.")
    gc.freeze()  # or else a copy's first collection touches, and so copies, all that it shares
    while True:
        header, descriptors, _, _ = socket.recv_fds(connection, _HEADER.size, 2)
        if not header:
            return
        request = _receive(connection, _HEADER.unpack(header)[0])
        child = os.fork()
        if child == 0:
            connection.close()
            _become(*json.loads(request), *descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        _, status = os.waitpid(child, 0)
        connection.sendall(_HEADER.pack(os.waitstatus_to_exitcode(status)))


def _become(folder: str, arguments: list[str], environment: dict[str, str], out: int, err: int) -> None:
    """Run one command in this copy and end as the program does."""
    os.dup2(out, 1)
    os.dup2(err, 2)
    os.close(out)
    os.close(err)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["aggregate", *arguments]
    try:
        main()
    except SystemExit as end:
        if threading.active_count() == 1:
            os._exit(end.code if isinstance(end.code, int) else 1)  # nothing to wait for: taking down memory is slow
        raise


if __name__ == "__main__":
    with socket.socket(fileno=int(sys.argv[1])) as tests:
        _serve(tests)
