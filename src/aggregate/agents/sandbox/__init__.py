"""Run untrusted code in processes without network: Python in Monty, commands in bubblewrap."""

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
