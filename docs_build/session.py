"""A reader at a terminal: one home folder, one folder to begin in, one command or block of Python after another."""

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

Started = tuple[int, str]
"""An exit code, and what was printed: output and errors, as they came."""
Streams = tuple[int, int, int]
"""Descriptors of what a command reads, prints and complains to."""
Start = Callable[[Path, list[str], Mapping[str, str], Streams], int]
"""Runs ``aggregate`` in a folder with arguments, an environment and streams, and returns its exit code."""

HOME = "/home/you"
"""What stands on a page for the reader's home folder."""

_SHELL = re.compile(r"[|<>;&$`*~]")
"""A command with one of these is given to a shell, but for the pipes around ``aggregate``."""
_PIPE = re.compile(r"""'[^']*'|"[^"]*"|(?P<pipe> \| )""")
"""A pipe between two commands, and the quoted words in which a bar is none."""
_QUOTED = re.compile(r"""'[^']*'|"[^"$`]*\"""")
"""Words in which no character means anything to a shell."""
_CHANGE_OF_FOLDER = re.compile(r"cd (?P<folder>[^|;&]+)")
_SECONDS = 60
"""For one command: far more than any takes, so that a hanging one ends the run."""
_GIT = {
    "GIT_AUTHOR_DATE": "2026-01-31T12:00:00Z",
    "GIT_AUTHOR_EMAIL": "you@example.org",
    "GIT_AUTHOR_NAME": "You",
    "GIT_COMMITTER_DATE": "2026-01-31T12:00:00Z",
    "GIT_COMMITTER_EMAIL": "you@example.org",
    "GIT_COMMITTER_NAME": "You",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
}


@dataclass(slots=True)
class Session:
    """A reader at a terminal.

    Attributes:
        home: Their home folder.
        folder: Where they are.
        start: How ``aggregate`` is run where no shell is needed.
        environment: Of their commands.
        names: What the blocks of Python have defined so far: each goes on where the one before has ended.
    """

    home: Path
    folder: Path
    start: Start
    environment: dict[str, str] = field(default_factory=dict)
    names: dict[str, object] = field(default_factory=lambda: {"__name__": "example"})

    def __post_init__(self) -> None:
        programs = self.home / ".local/bin"
        programs.mkdir(parents=True)
        program = programs / "aggregate"
        program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m aggregate "$@"\n')
        program.chmod(0o700)
        self.environment = {
            "COLUMNS": "100",
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "PATH": f"{programs}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
            "PYTHONIOENCODING": "utf-8",
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
            "TZ": "UTC",
            **_GIT,
        }

    def run(self, command: str) -> Started:
        """Run one command."""
        if change := _CHANGE_OF_FOLDER.fullmatch(command):
            self.folder = self._inside(change["folder"])
            return 0, ""
        if command.startswith("export "):
            self.environment |= dict([shlex.split(command)[1].split("=", 1)])
            return 0, ""
        pieces = _pieces(command)
        if not any(_is_plain_call(piece) for piece in pieces):
            pieces = [command]
        with tempfile.TemporaryFile() as printed:
            code = self._run_pieces(pieces, printed)
            printed.seek(0)
            text = printed.read().decode("utf-8", "replace")
        return code, text.replace(str(self.home), HOME)

    def _inside(self, place: str) -> Path:
        return (self.folder / place.strip().replace("~", str(self.home), 1)).resolve(strict=True)

    def _run_pieces(self, pieces: list[str], printed: BinaryIO) -> int:
        """Run the commands of a pipe one after another and return the last one's exit code.

        A shell would start ``aggregate`` anew, which takes longer than all else.
        """
        with contextlib.ExitStack() as files:
            given: BinaryIO = files.enter_context(Path(os.devnull).open("rb"))
            for piece in pieces[:-1]:
                passed = files.enter_context(tempfile.TemporaryFile())
                self._run_piece(piece, (given.fileno(), passed.fileno(), printed.fileno()))
                passed.seek(0)
                given = passed
            ends = (given.fileno(), printed.fileno(), printed.fileno())
            return self._run_piece(pieces[-1], ends)

    def _run_piece(self, command: str, streams: Streams) -> int:
        if _is_plain_call(command):
            arguments = shlex.split(command)[1:]
            return self.start(self.folder, arguments, self.environment, streams)
        return subprocess.run(
            ["/bin/bash", "-c", command],
            cwd=self.folder,
            env=self.environment,
            stdin=streams[0],
            stdout=streams[1],
            stderr=streams[2],
            check=False,
            timeout=_SECONDS,
        ).returncode

    def run_python(self, code: str, page: str) -> str:
        """Run a block of Python in this process and return what it prints."""
        printed = io.StringIO()
        with self._standing_here(), contextlib.redirect_stdout(printed):
            exec(compile(code, page, "exec"), self.names)  # noqa: S102 - this project's own pages
        return printed.getvalue().replace(str(self.home), HOME)

    @contextlib.contextmanager
    def _standing_here(self) -> Iterator[None]:
        """Give this process the reader's folder and variables for a while, and none of its own folders."""
        before = dict(os.environ)
        for name in [name for name in os.environ if name.startswith(("XDG_", "AGGREGATE_"))]:
            del os.environ[name]
        os.environ.update(self.environment)
        try:
            with contextlib.chdir(self.folder):
                yield
        finally:
            os.environ.clear()
            os.environ.update(before)


def _pieces(command: str) -> list[str]:
    """Return the commands of a pipe."""
    bars = [match for match in _PIPE.finditer(command) if match["pipe"]]
    starts = [0, *(bar.end() for bar in bars)]
    ends = [*(bar.start() for bar in bars), len(command)]
    return [command[start:end] for start, end in zip(starts, ends, strict=True)]


def _is_plain_call(command: str) -> bool:
    """Tell whether a command is ``aggregate`` with words that need no shell."""
    bare = _QUOTED.sub("", command)
    return bare.split(" ")[0] == "aggregate" and not _SHELL.search(bare)
