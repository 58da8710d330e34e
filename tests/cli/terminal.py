"""Running the program on a terminal of its own, as a person does."""

import os
import pty
from pathlib import Path

from tests.cli.command_line import program_environment
from tests.cli.loaded import loaded


def on_terminal(folder: Path, *arguments: str, **environment: str) -> tuple[int, str]:
    """Run ``aggregate ARGUMENTS`` in ``folder`` on a pseudo terminal and return the exit code and all it printed."""
    ours, theirs = pty.openpty()
    nothing = os.open(os.devnull, os.O_RDONLY)
    variables = {**program_environment(folder), "TERM": "xterm", **environment}
    streams = [nothing, theirs, theirs]
    pieces = []
    with loaded().running(folder, [*arguments], variables, streams) as command:
        os.close(theirs)
        os.close(nothing)
        try:
            while piece := os.read(ours, 65536):
                pieces.append(piece)
        except OSError:  # how Linux ends a terminal that nobody holds any more
            pass
        os.close(ours)
        return command.wait(), b"".join(pieces).decode(errors="surrogateescape")
