"""Run untrusted code in processes without network: Python in Monty, commands in bubblewrap."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.agents.sandbox.commands import *
    from aggregate.agents.sandbox.monty import *
else:
    __getattr__ = door(
        __name__,
        {
            "commands": "CommandResult run_command tree_usage",
            "monty": "PythonRun SOURCE_CHARACTERS SandboxLimits run_python",
        },
    )
