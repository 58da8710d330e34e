"""Starting the program on a terminal of its own, as a person does."""

import os
import pty
import subprocess
import sys
from pathlib import Path

from tests.cli.command_line import program_environment


def on_terminal(folder: Path, *arguments: str, **environment: str) -> tuple[int, str]:
    """Run ``aggregate ARGUMENTS`` in ``folder`` on a pseudo terminal and return the exit code and all it printed."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "aggregate", *arguments],
        cwd=folder,
        env={**program_environment(folder), "TERM": "xterm", **environment},
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    pieces = []
    try:
        while piece := os.read(ours, 65536):
            pieces.append(piece)
    except OSError:  # how Linux ends a terminal that nobody holds any more
        pass
    finally:
        os.close(ours)
    return process.wait(timeout=60), b"".join(pieces).decode(errors="surrogateescape")
