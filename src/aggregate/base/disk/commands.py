"""A command that the user has typed, run as their shell would run it: from their folder, with their PATH."""

import subprocess
from typing import Final, NamedTuple

from aggregate.base.disk.programs import users_environment
from aggregate.base.errors import ToolError

# Of what it prints; what prints more without end is ended.
MOST_BYTES: Final = 5_000_000
_UNUSABLE: Final = (126, 127)  # Exit codes of a shell that cannot start the program


class CommandOutput(NamedTuple):
    text: str
    code: int


def run_command(command: str) -> CommandOutput:
    """Return what a command prints to its standard output; its messages go where ours go, and nothing is its input."""
    with subprocess.Popen(  # noqa: S602 - the user has typed it, for a shell
        command,
        shell=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        env=users_environment(),
    ) as process:
        try:
            data = process.stdout.read(MOST_BYTES + 1) if process.stdout else b""
            if len(data) > MOST_BYTES:
                raise ToolError(
                    f"the command prints more than {MOST_BYTES:,} bytes: let it print less, such as by tail: {command}"
                )
            code = process.wait()
        finally:
            if process.returncode is None:
                process.kill()
    if code in _UNUSABLE:
        raise ToolError(f"the command cannot be run (exit code {code}): {command}")
    return CommandOutput(data.decode("utf-8", "replace"), code)
