"""Run foreign code within limits: Python in Monty, JavaScript in QuickJS, full Python in bubblewrap.

Nothing that runs here sees the host's files, its network or its environment. Each sandbox lives in a process of its
own.
"""

from aggregate.sandbox.bubblewrap import run_full_python
from aggregate.sandbox.javascript import run_javascript
from aggregate.sandbox.limits import SandboxLimits
from aggregate.sandbox.monty import PythonRun, run_python
from aggregate.sandbox.plain_data import plain_copy

__all__ = [
    "PythonRun",
    "SandboxLimits",
    "plain_copy",
    "run_full_python",
    "run_javascript",
    "run_python",
]
