"""Run untrusted Python in Monty, and commands in bubblewrap.

The code runs in its own process and sees no files, network or environment of the host.
"""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.agents.sandbox.commands import CommandResult, run_command
    from aggregate.agents.sandbox.monty import (
        SOURCE_CHARACTERS,
        PythonRun,
        SandboxLimits,
        run_python,
    )
else:
    __getattr__ = door(
        __name__,
        {
            "commands": "CommandResult run_command",
            "monty": "PythonRun SOURCE_CHARACTERS SandboxLimits run_python",
        },
    )
