"""Which source of a project's beads is read, ``bd`` first: it is the only way to read a Dolt database."""

import contextlib
import json
import os
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import IO

from aggregate.base.disk import find_program
from aggregate.base.errors import BeadsError
from aggregate.base.values import ALLOW_OUTSIDE, Board
from aggregate.project.beads.find import find_beads_files, is_own
from aggregate.project.beads.record import board_of, read_json_list, read_jsonl, read_sqlite
from aggregate.project.git.git_process import guarded_environment

NAME = "bd"
# After which bd is given up: it may wait for a lock or a network, and somebody waits for the prompt.
TIMEOUT_SECONDS = 10.0
# Bytes of a list that are read into memory: a bead has a kilobyte or two.
_MAX_OUTPUT = 256 * 1024 * 1024
_MAX_MESSAGE = 200  # Characters of what bd says went wrong: a line or two of a warning
# --all lists closed beads too and lifts the limit of 50; gates are hidden by default, but they block others.
_LIST = ("list", "--json", "--all", "--limit", "0")
_CURRENT = ("--readonly", *_LIST, "--include-gates")


@dataclass(frozen=True, slots=True)
class BdProgram:
    executable: str
    cwd: Path
    environ: Mapping[str, str]
    timeout: float = TIMEOUT_SECONDS

    def read(self) -> Board:
        status, output, message = self._run(_CURRENT)
        if status != 0 and "unknown flag" in message:  # before 2026
            status, output, message = self._run(_LIST)
        if status != 0:
            raise BeadsError(f"{NAME} failed with exit status {status}: {_reason(message)}")
        try:
            records = json.loads(output)
        except (ValueError, RecursionError) as error:
            raise BeadsError(f"{NAME} printed no JSON") from error
        if isinstance(records, dict):  # as BD_JSON_ENVELOPE=1 prints it
            records = records.get("data")
        records = [] if records is None else records  # no beads are null before version 0.30
        if not isinstance(records, list):
            raise BeadsError(f"{NAME} printed no list of beads")
        beads = [record for record in records if isinstance(record, dict)]
        counted = any(bead.get("dependency_count") for bead in beads)
        if counted and not any(bead.get("dependencies") for bead in beads):
            raise BeadsError(f"{NAME} does not list dependencies; update it to see what is blocked")
        return board_of(records, NAME)

    def _run(self, arguments: tuple[str, ...]) -> tuple[int, bytes, str]:
        """Run bd; return its exit status, what it printed, and its messages.

        The output goes to files, since a pipe that a left-over child holds open would outlast the timeout.
        """
        with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as messages:
            try:
                process = subprocess.Popen(
                    [self.executable, *arguments],
                    cwd=self.cwd,
                    # Old versions start a daemon that stays.
                    env={
                        **guarded_environment(str(self.cwd), self.environ),
                        "BEADS_NO_DAEMON": "1",
                    },
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=messages,
                    start_new_session=True,
                )
            except OSError as error:
                raise BeadsError(
                    f"{NAME} cannot be started ({error.strerror}); check the program on PATH"
                ) from error
            try:
                status = process.wait(self.timeout)
            except subprocess.TimeoutExpired as error:
                raise BeadsError(
                    f"{NAME} gave no answer within {self.timeout:g} s and was stopped"
                ) from error
            finally:
                _stop(process)
            return status, _content(output), _content(messages).decode("utf-8", "replace")


def find_bd(
    base_dir: Path, *, environ: Mapping[str, str], timeout: float = TIMEOUT_SECONDS
) -> BdProgram | None:
    executable = find_program(NAME, outside=(base_dir,), path=environ.get("PATH", ""))
    return BdProgram(executable, base_dir, environ, timeout) if executable else None


def _stop(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL) if hasattr(os, "killpg") else process.kill()
        process.wait()


def _content(file: IO[bytes]) -> bytes:
    if file.seek(0, os.SEEK_END) > _MAX_OUTPUT:
        raise BeadsError(
            f"{NAME} printed more than {_MAX_OUTPUT // 1024 // 1024} MB, which is more than can be read"
        )
    file.seek(0)
    return file.read()


def _reason(message: str) -> str:
    try:
        error = json.loads(message)["error"]
        return str(error)[:_MAX_MESSAGE]
    except (ValueError, TypeError, KeyError, RecursionError):
        lines = [line.strip() for line in message.splitlines() if line.strip()]
        return lines[0][:_MAX_MESSAGE] if lines else "no message"


_EXPORT_HINT = "install bd, or run `bd export -o .beads/issues.jsonl` where it is installed"

_ELSEWHERE = f"The beads lie outside the project, so they are not read: allow it with {ALLOW_OUTSIDE} or BEADS_DIR."


def read_board(
    base_dir: Path, *, environ: Mapping[str, str], timeout: float = TIMEOUT_SECONDS, root: str = ""
) -> Board | None:
    """Read the beads of the project around ``base_dir``.

    ``bd`` is asked where it is on ``PATH`` and accepts the project, else the newer of database and JSONL is read. A
    source that fails becomes a warning of the board, and the next one is read.
    """
    files = find_beads_files(base_dir, environ=environ)
    if files is None:
        return None
    if root and not environ.get("BEADS_DIR") and not is_own(files, root):
        return Board("", warnings=(_ELSEWHERE,))
    bd = find_bd(base_dir, environ=environ, timeout=timeout) if files.for_bd else None
    parsers = (
        (files.jsonl, read_jsonl),
        (files.database, read_sqlite),
        (files.mock, read_json_list),
    )
    # The newest file first, and JSONL before a database of the same time.
    found = sorted(
        ((path, parse) for path, parse in parsers if path), key=lambda pair: -_changed(pair[0])
    )
    readers = [
        partial(parse, path, name=f"{path.parent.name}/{path.name}") for path, parse in found
    ]
    board = first_readable([*([bd.read] if bd else []), *readers])
    if files.dolt and board.source not in ("", NAME):
        stale = (
            f"A Dolt database holds the truth and {board.source} may be behind it; {_EXPORT_HINT}."
        )
        return replace(board, warnings=(*board.warnings, stale))
    return board


def first_readable(readers: Iterable[Callable[[], Board]]) -> Board:
    failures: list[str] = []
    for read in readers:
        try:
            board = read()
        except BeadsError as error:
            failures.append(f"{error}.")
        else:
            return replace(board, warnings=(*failures, *board.warnings))
    return Board(
        "", warnings=(*failures, f"The beads of this project cannot be read here; {_EXPORT_HINT}.")
    )


def _changed(path: Path) -> int:
    log = path.with_name(f"{path.name}-wal")
    return max((file.stat().st_mtime_ns for file in (path, log) if file.exists()), default=0)
