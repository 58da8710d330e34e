"""Starting the program as a user does, in a folder and configuration of its own."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.cli.loaded import loaded


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended: exit code and what it printed."""

    code: int
    out: str
    err: str


def start(folder: Path, *arguments: str, **environment: str) -> Ended:
    """Run ``aggregate ARGUMENTS`` in ``folder`` to its end; presets of all projects come from ``folder/.xdg``.

    It is a copy of a process that has the program loaded; with an ``environment`` of its own it starts afresh, because
    the interpreter itself reads some variables.
    """
    if hasattr(os, "fork") and not environment:
        code, out, err = loaded().run(folder, list(arguments), program_environment(folder))
        return Ended(code, out.decode(), err.decode())
    done = subprocess.run(
        [sys.executable, "-m", "aggregate", *arguments],
        cwd=folder,
        env=program_environment(folder) | environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
    )
    return Ended(done.returncode, done.stdout.decode(), done.stderr.decode())


def program_environment(folder: Path) -> dict[str, str]:
    """Return the environment of a command that is started in ``folder``."""
    return {
        **os.environ,
        "XDG_CONFIG_HOME": str(folder / ".xdg"),
        "COLUMNS": "100",
        "PYTHONWARNINGS": "error",
        "PYTHONIOENCODING": "utf-8",
    }


def mistake(ended: Ended) -> str:
    """Return the one line on standard error of a command that refused, without its prefix."""
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("aggregate: ")
    assert ended.err.endswith("\n")
    assert ended.err.count("\n") == 1
    return ended.err.removeprefix("aggregate: ").removesuffix("\n")
