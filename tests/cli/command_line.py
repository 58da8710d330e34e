"""Starting the program as a user does, in a folder and configuration of its own."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, chdir, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import BinaryIO, NamedTuple
from unittest.mock import patch

from aggregate.cli.program import run_program
from tests.cli.loaded import Command, loaded


class Ended(NamedTuple):
    code: int
    out: str
    err: str


def aggregate(*arguments: str, stream: type[StringIO] = StringIO) -> Ended:
    """Run a command in this process; ``stream`` makes what stands for its output and its errors."""
    with redirect_stdout(stream()) as out, redirect_stderr(stream()) as err:
        code = run_program([*arguments])
    return Ended(code, out.getvalue(), err.getvalue())


def succeeded(*arguments: str) -> Ended:
    ended = aggregate(*arguments)
    assert ended.code == 0, ended.err
    return ended


def start(folder: Path, *arguments: str, **environment: str) -> Ended:
    """Run ``aggregate ARGUMENTS`` in ``folder`` to its end; presets of all projects come from ``folder/.xdg``.

    It is a process of its own where the ``environment`` has variables that the interpreter itself reads.
    """
    variables = program_environment(folder) | environment
    if not any(name.startswith(("PYTHON", "TMP")) for name in environment):
        with chdir(folder), patch.dict(os.environ, variables):
            return aggregate(*arguments)
    done = subprocess.run(
        [sys.executable, "-m", "aggregate", *arguments],
        cwd=folder,
        env=variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
    )
    return Ended(done.returncode, done.stdout.decode(), done.stderr.decode())


@dataclass(frozen=True, slots=True)
class Begun:
    """A command at work, and the ends of its output and errors to read from; empty where they go elsewhere."""

    command: Command
    out: BinaryIO
    err: BinaryIO


@contextmanager
def begin(
    folder: Path,
    *arguments: str,
    load: tuple[str, ...] = (),
    stdout: int | None = None,
    stderr: int | None = None,
    **environment: str,
) -> Iterator[Begun]:
    """Begin ``aggregate ARGUMENTS`` in ``folder`` in a copy of a process that has ``load`` loaded as well.

    Its output and errors can be read, or go to a descriptor. It is ended if the block has not waited for its end.
    """
    with ExitStack() as stack:
        read_out, write_out = os.pipe()
        out = stack.enter_context(os.fdopen(read_out, "rb"))
        read_err, write_err = os.pipe()
        err = stack.enter_context(os.fdopen(read_err, "rb"))
        nothing = os.open(os.devnull, os.O_RDONLY)
        streams = [
            nothing,
            write_out if stdout is None else stdout,
            write_err if stderr is None else stderr,
        ]
        variables = program_environment(folder) | environment
        running = loaded(*load).running(folder, list(arguments), variables, streams)
        command = stack.enter_context(running)
        for descriptor in (nothing, write_out, write_err):
            os.close(descriptor)
        yield Begun(command, out, err)


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
