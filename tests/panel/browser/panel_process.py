"""``aggregate panel`` in its own process."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

STARTING = 30  # seconds for the server to print its address, on a busy machine


class Server:
    """A process of ``aggregate panel``, with the same port after a restart."""

    def __init__(self, root: Path, environment: Mapping[str, str] | None = None) -> None:
        self.root = root
        self.environment = {**os.environ, "PYTHONUNBUFFERED": "1", **(environment or {})}
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.start()

    def start(self) -> None:
        """Start the process, and read the address from its output."""
        command = [
            sys.executable,
            "-m",
            "aggregate",
            "panel",
            "--no-open",
            "--port",
            str(self.port),
        ]
        self.process = subprocess.Popen(
            command,
            cwd=self.root,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert self.process.stdout is not None
        until = time.monotonic() + STARTING
        seen = ""
        while time.monotonic() < until and (line := self.process.stdout.readline()):
            seen += line
            match = re.search(r"http://\S+", line)
            if match:
                self.address = match.group()
                return
        raise AssertionError(f"no address: {seen}")

    def stop(self) -> int:
        """Stop the process with Ctrl-C; return its exit code."""
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(STARTING)
        assert self.process.stdout is not None
        self.process.stdout.close()
        return code
