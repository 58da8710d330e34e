"""Running a page's examples as a reader would: one home folder, one folder to begin in, block after block."""

import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from docs_build.examples import Block, agree, blocks_of, commands_of

Started = tuple[int, str]
"""An exit code, and what was printed: output and errors, as they came."""
Start = Callable[[Path, list[str], Mapping[str, str]], Started]
"""Runs ``aggregate`` in a folder with arguments and an environment."""

HOME = "/home/you"
"""What stands on a page for the reader's home folder."""

_SHELL = re.compile(r"[|<>;&$`*~]")
"""A command with one of these is given to a shell."""
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


@dataclass(frozen=True, slots=True)
class Difference:
    """An example that printed something else than its page shows.

    Attributes:
        page: The page's path in the project.
        first: The number of the first line of what it shows, from 0.
        command: What was run.
        shown: What the page shows.
        printed: What was printed.
        note: What else is wrong, such as an exit code.
    """

    page: str
    first: int
    command: str
    shown: tuple[str, ...]
    printed: tuple[str, ...]
    note: str = ""


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
        words = shlex.split(command) if not _SHELL.search(command) else []
        if words[:1] == ["cd"] or command.startswith("cd ~"):
            self.folder = self._inside(command.removeprefix("cd "))
            return 0, ""
        if words[:1] == ["export"]:
            self.environment |= dict([words[1].split("=", 1)])
            return 0, ""
        if words[:1] == ["aggregate"]:
            code, printed = self.start(self.folder, words[1:], self.environment)
        else:
            code, printed = self._in_shell(command)
        return code, printed.replace(str(self.home), HOME)

    def _inside(self, place: str) -> Path:
        return (self.folder / place.strip().replace("~", str(self.home), 1)).resolve(strict=True)

    def _in_shell(self, command: str) -> Started:
        done = subprocess.run(
            ["/bin/bash", "-c", command],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
            timeout=_SECONDS,
        )
        return done.returncode, done.stdout.decode("utf-8", "replace")

    def run_python(self, code: str, page: str) -> str:
        """Run a block of Python in this process and return what it prints."""
        printed = io.StringIO()
        with self._standing_here(), contextlib.redirect_stdout(printed):
            exec(compile(code, page, "exec"), self.names)  # noqa: S102 - this project's own pages
        return printed.getvalue().replace(str(self.home), HOME)

    @contextlib.contextmanager
    def _standing_here(self) -> Iterator[None]:
        """Give this process the reader's folder and home for a while."""
        before = dict(os.environ)
        os.environ.update(self.environment)
        for name in [name for name in os.environ if name.startswith(("XDG_", "AGGREGATE_"))]:
            del os.environ[name]
        try:
            with contextlib.chdir(self.folder):
                yield
        finally:
            os.environ.clear()
            os.environ.update(before)


def run_page(root: Path, page: str, home: Path, start: Start) -> list[Difference]:
    """Run the examples of a page in a new home folder and return where it shows something else.

    The reader begins in a clone of the project, of which the examples alone are there.
    """
    clone = home / "manual-slop"
    shutil.copytree(root / "docs/examples", clone / "docs/examples")
    session = Session(home, clone, start)
    differences: list[Difference] = []
    blocks = list(blocks_of((root / page).read_text(encoding="utf-8")))
    for block, following in zip(blocks, [*blocks[1:], None], strict=True):
        if block.is_run and block.kind == "console":
            differences += _run_console(session, page, block)
        elif block.is_run and block.kind == "python":
            differences += _run_python(session, page, block, following)
    return differences


def _run_console(session: Session, page: str, block: Block) -> Iterator[Difference]:
    commands = commands_of(block)
    for command in commands:
        code, text = session.run(command.text)
        printed = tuple(text.splitlines())
        may_fail = block.fails and command is commands[-1]
        note = "" if bool(code) == may_fail else f"exit code {code}"
        if note or not agree(command.output, printed):
            yield Difference(page, command.first, command.text, command.output, printed, note)


def _run_python(
    session: Session, page: str, block: Block, following: Block | None
) -> Iterator[Difference]:
    code = "\n".join(block.lines) + "\n"
    printed = tuple(session.run_python(code, page).splitlines())
    is_shown = following is not None and following.kind == "text"
    shown = following.lines if following is not None and is_shown else ()
    first = following.first if following is not None else 0
    if is_shown and not agree(shown, printed):
        yield Difference(page, first, code, shown, printed)
    elif printed and not is_shown:
        yield Difference(page, block.first, code, (), printed, "prints, and the page shows nothing")
