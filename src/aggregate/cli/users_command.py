"""Run a command line of the user in their shell, with their own PATH."""

import subprocess
from typing import Final, NamedTuple

from aggregate.base.disk.programs import users_environment
from aggregate.base.errors import ToolError

MOST_BYTES: Final = 5_000_000  # of output: some commands never stop printing
_UNUSABLE: Final = (126, 127)  # exit codes of a shell that cannot start the program


class CommandOutput(NamedTuple):
    text: str
    code: int


def run_command(command: str) -> CommandOutput:
    """Run a command without input; return its output."""
    with subprocess.Popen(  # noqa: S602 - the user has typed it
        command,
        shell=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        env=users_environment(),
    ) as process:
        try:
            data = process.stdout.read(MOST_BYTES + 1) if process.stdout else b""
            code = process.wait() if len(data) <= MOST_BYTES else 0
        finally:
            process.kill()
    if len(data) > MOST_BYTES:
        raise ToolError(f"the command prints more than {MOST_BYTES:,} bytes: {command}")
    if code in _UNUSABLE:
        raise ToolError(f"the command cannot be run (exit code {code}): {command}")
    return CommandOutput(data.decode("utf-8", "replace"), code)
