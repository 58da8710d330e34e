"""Run foreign code within limits: Python in Monty, JavaScript in QuickJS, full Python in bubblewrap.

Nothing that runs here sees the host's files, its network or its environment. Each sandbox lives in a process of its
own.
"""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.agents.sandbox.bubblewrap import run_full_python
    from aggregate.agents.sandbox.commands import CommandResult, run_command
    from aggregate.agents.sandbox.javascript import run_javascript
    from aggregate.agents.sandbox.limits import SOURCE_CHARACTERS, SandboxLimits, plain_copy
    from aggregate.agents.sandbox.monty import PythonRun, run_python
else:
    __getattr__ = door(
        __name__,
        {
            "bubblewrap": "run_full_python",
            "commands": "CommandResult run_command",
            "javascript": "run_javascript",
            "limits": "SOURCE_CHARACTERS SandboxLimits plain_copy",
            "monty": "PythonRun run_python",
        },
    )
