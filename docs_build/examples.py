"""The examples of a page: run as a reader would, compared with what the page shows, and written anew.

Every page is run from its first block to its last, in one folder and with one home folder of its own, so that a
reader who follows it gets what it shows. Blocks of ``console`` hold commands behind ``$``, each with its output,
standard error among it; blocks of ``python`` may be followed by one of ``text`` with what they print. A comment
``<!-- not run: REASON -->`` before a block leaves it out, and ``<!-- fails -->`` says that its last command ends with
another exit code than 0. A line ``...`` stands for any lines. Blocks of ``sh`` list commands for a reader's own
project; no more of them is asked than that ``aggregate`` has such commands and options.
"""

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
from itertools import pairwise, zip_longest
from pathlib import Path
from typing import IO

from tests.fakes.chat_server import chat_server

from docs_build.pages import SiteError, fences_of

RUNNABLE = ("console", "python")
"""The kinds of blocks that are run."""
HOME = "/home/you"
"""What stands on a page for the reader's home folder."""
Start = Callable[[Path, list[str], Mapping[str, str], list[int]], int]
"""Runs ``aggregate`` in a folder with arguments, an environment and three streams, and returns its exit code."""

_NOT_RUN = re.compile(r"<!-- not run: \S.*-->")
_FAILS = "<!-- fails -->"
_LEFT_OUT = ("...", "…")
_VARYING = (
    (re.compile(r"\b\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d)?)?"), "DATE"),
    (re.compile(r"(?<=_)20\d{6}(?=[_/\s]|$)"), "DAY"),
    (re.compile(r"\b\d+(?:\.\d+)? (?:ms|s|seconds)\b"), "TIME"),
)
"""What differs from run to run: days and times, durations."""
_SHELL = re.compile(r"[|<>;&$`*~]")
"""A command with one of these is given to a shell."""
_OTHER_THAN_PIPES = re.compile(r"[<>;&$`]|\|\|")
_QUOTED = re.compile(r"""'[^']*'|"[^"$`]*\"""")
"""Words in which no character means anything to a shell."""
_CHANGE_OF_FOLDER = re.compile(r"cd (?P<folder>[^|;&]+)")
_SECONDS = 300
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
class Block:
    """A fenced block of a page."""

    kind: str
    first: int
    lines: tuple[str, ...]
    is_run: bool
    fails: bool


@dataclass(frozen=True, slots=True)
class Command:
    """A command of a console block."""

    text: str
    first: int
    output: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """An example that printed something else than its page shows."""

    page: str
    first: int
    command: str
    shown: tuple[str, ...]
    printed: tuple[str, ...]
    note: str = ""


def blocks_of(text: str) -> Iterator[Block]:
    """Yield the fenced blocks of a page."""
    lines = text.splitlines()
    for start, end, info in fences_of(lines):
        remark = next((line.strip() for line in reversed(lines[:start]) if line.strip()), "")
        yield Block(
            kind=info.split(" ")[0],
            first=start + 1,
            lines=tuple(lines[start + 1 : end]),
            is_run=not _NOT_RUN.fullmatch(remark),
            fails=remark == _FAILS,
        )


def commands_of(block: Block) -> list[Command]:
    """Return the commands of a console block with what stands below each."""
    starts = [index for index, line in enumerate(block.lines) if line.startswith("$ ")]
    return [
        Command(block.lines[start][2:], block.first + start + 1, block.lines[start + 1 : end])
        for start, end in pairwise([*starts, len(block.lines)])
    ]


def agree(shown: Sequence[str], printed: Sequence[str]) -> bool:
    """Tell whether what a page shows is what was printed, but for times and the lines that it leaves out."""
    pattern = "".join(
        r"(?:.*\n)*?" if line.strip() in _LEFT_OUT else re.escape(_settled(line)) + r"\n"
        for line in shown
    )
    return bool(re.fullmatch(pattern, "".join(f"{_settled(line)}\n" for line in printed)))


def _settled(line: str) -> str:
    for pattern, name in _VARYING:
        line = pattern.sub(name, line)
    return line.rstrip()


@dataclass(slots=True)
class Session:
    """A reader at a terminal."""

    home: Path
    folder: Path
    start: Start
    environment: dict[str, str] = field(default_factory=dict)
    sdk_environment: Mapping[str, str] = field(default_factory=dict)
    """Keys and addresses for the SDKs that blocks of Python call."""
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

    def run(self, command: str) -> tuple[int, str]:
        """Run one command; return its exit code and what was printed: output and errors, as they came."""
        if change := _CHANGE_OF_FOLDER.fullmatch(command):
            place = change["folder"].strip().replace("~", str(self.home), 1)
            self.folder = (self.folder / place).resolve(strict=True)
            return 0, ""
        if command.startswith("export "):
            self.environment |= dict([shlex.split(command)[1].split("=", 1)])
            return 0, ""
        with contextlib.ExitStack() as files:
            printed = files.enter_context(tempfile.TemporaryFile())
            read: IO[bytes] = files.enter_context(Path(os.devnull).open("rb"))
            *before, last = _piped(command)
            for stage in before:
                between = files.enter_context(tempfile.TemporaryFile())
                self._run_stage(stage, [read.fileno(), between.fileno(), printed.fileno()])
                between.seek(0)
                read = between
            code = self._run_stage(last, [read.fileno(), printed.fileno(), printed.fileno()])
            printed.seek(0)
            text = printed.read().decode("utf-8", "replace")
        return code, text.replace(str(self.home), HOME)

    def _run_stage(self, command: str, streams: list[int]) -> int:
        bare = _QUOTED.sub("", command)
        if bare.split(" ")[0] == "aggregate" and not _SHELL.search(bare):
            # A shell would start it anew, which takes longer than all else.
            return self.start(self.folder, shlex.split(command)[1:], self.environment, streams)
        return _run_process(["/bin/bash", "-c", command], self.folder, self.environment, streams)

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
        os.environ.update({**self.environment, **self.sdk_environment})
        try:
            with contextlib.chdir(self.folder):
                yield
        finally:
            os.environ.clear()
            os.environ.update(before)


def _piped(command: str) -> list[str]:
    """Return the commands of a pipe, which run one after the other here; the whole where a shell is needed for more."""
    bare = _QUOTED.sub(lambda quoted: "_" * len(quoted[0]), command)
    if _OTHER_THAN_PIPES.search(bare):
        return [command]
    bars = [place for place, character in enumerate(bare) if character == "|"]
    return [command[start + 1 : end].strip() for start, end in pairwise([-1, *bars, len(bare)])]


def run_page(root: Path, page: str, home: Path, start: Start) -> list[Difference]:
    """Run the examples of a page in a new home folder and return where it shows something else.

    The reader starts in a clone that contains only the examples. A server on this machine answers the SDKs.
    """
    clone = home / "manual-slop"
    shutil.copytree(root / "docs/examples", clone / "docs/examples")
    differences: list[Difference] = []
    blocks = list(blocks_of((root / page).read_text(encoding="utf-8")))
    with chat_server() as server:
        session = Session(home, clone, start, sdk_environment=_sdk_environment(server.url))
        for block, following in zip_longest(blocks, blocks[1:]):
            if block.is_run and block.kind == "console":
                differences += _run_console(session, page, block)
            elif block.is_run and block.kind == "python":
                differences += _run_python(session, page, block, following)
    return differences


def _sdk_environment(address: str) -> dict[str, str]:
    """Return the variables that lead the SDKs of Anthropic and OpenAI to a server."""
    return {
        "ANTHROPIC_API_KEY": "local",
        "ANTHROPIC_BASE_URL": address,
        "OPENAI_API_KEY": "local",
        "OPENAI_BASE_URL": f"{address}/v1",
    }


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
    if following is None or following.kind != "text":
        if printed:
            note = "prints, and the page shows nothing"
            yield Difference(page, block.first, code, (), printed, note)
    elif not agree(following.lines, printed):
        yield Difference(page, following.first, code, following.lines, printed)


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
            is_part = any(line.strip() in _LEFT_OUT for line in difference.shown)
            if note := difference.note or ("choose anew what to show" if is_part else ""):
                printed = "\n".join(difference.printed)
                raise SiteError(f"{page}: {difference.command}: {note}\n{printed}")
        if differences:
            _write(root / page, differences)
            yield page


def start_process(
    folder: Path, arguments: list[str], environment: Mapping[str, str], streams: list[int]
) -> int:
    """Run ``aggregate`` in a process of its own."""
    words = [sys.executable, "-m", "aggregate", *arguments]
    return _run_process(words, folder, environment, streams)


def _run_process(
    words: list[str], folder: Path, environment: Mapping[str, str], streams: list[int]
) -> int:
    read, out, err = streams
    return subprocess.run(
        words,
        check=False,
        cwd=folder,
        env=environment,
        stdin=read,
        stdout=out,
        stderr=err,
        timeout=_SECONDS,
    ).returncode


def _write(path: Path, differences: list[Difference]) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    for difference in reversed(differences):
        end = difference.first + len(difference.shown)
        lines[difference.first : end] = difference.printed
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
