"""Programs that a Python of its own runs, for what is true of a whole process."""

import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent


def python(
    code: str,
    *arguments: str,
    folder: Path | None = None,
    stdin: str = "",
    timeout: float = 120,
    **environment: str,
) -> str:
    """Return the output of a program that succeeds, in a folder and with additions to the environment.

    ``timeout``: in seconds.
    """
    done = subprocess.run(
        [sys.executable, "-c", dedent(code), *arguments],
        cwd=folder,
        env={**os.environ, **environment},
        input=stdin,
        capture_output=True,
        encoding="utf-8",
        timeout=timeout,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
