"""Run the examples of pages as a reader would, tell where a page shows something else, and write that anew."""

import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path

from docs_build.examples import LEFT_OUT, RUNNABLE, Block, agree, blocks_of, commands_of
from docs_build.pages import SiteError

Started = tuple[int, str]
"""An exit code, and what was printed: output and errors, as they came."""
Start = Callable[[Path, list[str], Mapping[str, str], int], int]
"""Runs ``aggregate`` in a folder with arguments and an environment and returns its exit code.

What it prints goes to the descriptor, errors too; it reads nothing.
"""

HOME = "/home/you"
"""What stands on a page for the reader's home folder."""

_SHELL = re.compile(r"[|<>;&$`*~]")
"""A command with one of these is given to a shell."""
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
    """A reader at a terminal."""

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
        with tempfile.TemporaryFile() as printed:
            if _is_plain_call(
                command
            ):  # a shell would start ``aggregate`` anew, which takes longer than all else
                arguments = shlex.split(command)[1:]
                code = self.start(self.folder, arguments, self.environment, printed.fileno())
            else:
                words = ["/bin/bash", "-c", command]
                code = _run_process(words, self.folder, self.environment, printed.fileno())
            printed.seek(0)
            text = printed.read().decode("utf-8", "replace")
        return code, text.replace(str(self.home), HOME)

    def _inside(self, place: str) -> Path:
        return (self.folder / place.strip().replace("~", str(self.home), 1)).resolve(strict=True)

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


def _is_plain_call(command: str) -> bool:
    """Tell whether a command is ``aggregate`` with words that need no shell."""
    bare = _QUOTED.sub("", command)
    return bare.split(" ")[0] == "aggregate" and not _SHELL.search(bare)


@dataclass(frozen=True, slots=True)
class Difference:
    """An example that printed something else than its page shows."""

    page: str
    first: int
    command: str
    shown: tuple[str, ...]
    printed: tuple[str, ...]
    note: str = ""


def run_page(root: Path, page: str, home: Path, start: Start) -> list[Difference]:
    """Run the examples of a page in a new home folder and return where it shows something else.

    The reader begins in a clone of the project, of which the examples alone are there.
    """
    clone = home / "manual-slop"
    shutil.copytree(root / "docs/examples", clone / "docs/examples")
    session = Session(home, clone, start)
    differences: list[Difference] = []
    blocks = list(blocks_of((root / page).read_text(encoding="utf-8")))
    for block, following in zip_longest(blocks, blocks[1:]):
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
    try:
        printed = tuple(session.run_python(code, page).splitlines())
    except Exception as error:  # noqa: BLE001 - whatever an example raises is told with its place
        yield Difference(page, block.first, code, (), (), f"{type(error).__name__}: {error}")
        return
    is_shown = following is not None and following.kind == "text"
    shown = following.lines if following is not None and is_shown else ()
    first = following.first if following is not None else 0
    if is_shown and not agree(shown, printed):
        yield Difference(page, first, code, shown, printed)
    elif printed and not is_shown:
        yield Difference(page, block.first, code, (), printed, "prints, and the page shows nothing")


def pages_to_run(root: Path) -> list[str]:
    """Return the pages that have examples to run, sorted."""
    pages = [*(root / "docs").rglob("*.md"), root / "README.md"]
    return sorted(
        page.relative_to(root).as_posix()
        for page in pages
        if any(
            block.is_run and block.kind in RUNNABLE
            for block in blocks_of(page.read_text(encoding="utf-8"))
        )
    )


def refresh(root: Path, pages: Sequence[str] = ()) -> Iterator[str]:
    """Run these pages, put what is printed in the place of what differs, and yield those that were changed.

    Without any, all pages are run.

    Raises:
        SiteError: An example fails, or shows by ``...`` only some of what it prints.
    """
    known = pages_to_run(root)
    for page in pages:
        if page not in known:
            raise SiteError(f"{page}: no page with examples; such are {', '.join(known)}")
    for page in pages or known:
        with tempfile.TemporaryDirectory() as home:
            differences = run_page(root, page, Path(home).resolve(), start_process)
        for difference in differences:
            printed = "\n".join(difference.printed)
            if difference.note:
                raise SiteError(f"{page}: {difference.command}: {difference.note}\n{printed}")
            if any(line.strip() in LEFT_OUT for line in difference.shown):
                raise SiteError(
                    f"{page}: {difference.command}: choose anew what to show\n{printed}"
                )
        if differences:
            _write(root / page, differences)
            yield page


def start_process(
    folder: Path, arguments: list[str], environment: Mapping[str, str], printed: int
) -> int:
    """Run ``aggregate`` in a process of its own."""
    return _run_process(
        [sys.executable, "-m", "aggregate", *arguments], folder, environment, printed
    )


def _run_process(
    words: list[str], folder: Path, environment: Mapping[str, str], printed: int
) -> int:
    return subprocess.run(
        words,
        cwd=folder,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=printed,
        stderr=printed,
        check=False,
        timeout=_SECONDS,
    ).returncode


def _write(path: Path, differences: list[Difference]) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    for difference in reversed(differences):
        end = difference.first + len(difference.shown)
        lines[difference.first : end] = difference.printed
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
