"""Run foreign code within limits: Python in Monty, JavaScript in QuickJS, full Python in bubblewrap.

Nothing that runs here sees a file, the network or the environment. Each sandbox lives in a process of its own.
"""

from aggregate.sandbox.javascript import run_javascript
from aggregate.sandbox.limits import Limits
from aggregate.sandbox.monty import PythonRun, run_python

__all__ = ["Limits", "PythonRun", "run_javascript", "run_python"]
