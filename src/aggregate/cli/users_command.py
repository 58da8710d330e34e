"""A command that the user has typed, run as their shell would run it: in the current folder, with their PATH."""

import subprocess
from typing import Final, NamedTuple

from aggregate.base.disk.programs import users_environment
from aggregate.base.errors import ToolError

MOST_BYTES: Final = 5_000_000  # Of what it prints: some print without end
_UNUSABLE: Final = (126, 127)  # Exit codes of a shell that cannot start the program


class CommandOutput(NamedTuple):
    text: str
    code: int


def run_command(command: str) -> CommandOutput:
    """Return what a command prints to its standard output; its messages go where ours go, and nothing is its input."""
    nothing, pipe, variables = subprocess.DEVNULL, subprocess.PIPE, users_environment()
    with subprocess.Popen(  # noqa: S602 - the user has typed it
        command, shell=True, stdin=nothing, stdout=pipe, env=variables
    ) as process:
        try:
            data = process.stdout.read(MOST_BYTES + 1) if process.stdout else b""
            code = process.wait() if len(data) <= MOST_BYTES else 0
        finally:
            process.kill()
    if len(data) > MOST_BYTES:
        raise ToolError(
            f"the command prints more than {MOST_BYTES:,} bytes, too much to show: {command}"
        )
    if code in _UNUSABLE:
        raise ToolError(f"the command cannot be run (exit code {code}): {command}")
    return CommandOutput(data.decode("utf-8", "replace"), code)
