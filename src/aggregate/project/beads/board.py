"""Find and read a project's beads.

Beads are read through ``bd`` or from files. The search follows ``FindBeadsDir`` of Beads 1.0.5
(``internal/beads/beads.go``): the variable ``BEADS_DIR``, then upwards from the base directory to the root of its git
checkout, then the main checkout of a worktree. Two additions: a directory with only a JSONL file counts, and so does
the mock client's ``.beads_mock/beads.json``. One restriction: outside a git checkout only the base directory itself
counts, so that a stranger's ``/tmp/.beads`` is ignored.
"""

import json
import os
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from aggregate.base.disk.programs import find_program
from aggregate.base.disk.reading import is_inside, read_bytes, real_path
from aggregate.base.errors import BeadsError
from aggregate.project.beads.bead import Board, board_of, read_json_list, read_jsonl
from aggregate.project.git.guarded_git import guarded_environment
from aggregate.project.paths import ALLOW_OUTSIDE

_LINE_BYTES = 65_536  # limit of a file with a path in a line
_MOCK_DIR = ".beads_mock"
_MOCK_FILE = "beads.json"
_DOLT_DIRS = ("dolt", "embeddeddolt")
_PREFERRED_JSONL = ("issues.jsonl", "beads.jsonl")
_OTHER_JSONL = (
    "deletions.jsonl", "interactions.jsonl", "routes.jsonl", "molecules.jsonl", "beads.base.jsonl", "beads.left.jsonl",
    "beads.right.jsonl",
)  # fmt: skip
NAME = "bd"
TIMEOUT_SECONDS = 10.0  # bd may wait for a lock or a network
_MAX_OUTPUT = 256 * 1024 * 1024  # bytes of a list; a bead has a kilobyte or two
_MAX_MESSAGE = 200  # characters of bd's error in a warning
# --all includes closed beads and lifts the limit of 50; gates are hidden by default, but block others.
_LIST = ("list", "--json", "--all", "--limit", "0")
_CURRENT = ("--readonly", *_LIST, "--include-gates")
_EXPORT_HINT = "install bd, or run `bd export -o .beads/issues.jsonl` where it is installed"
_ELSEWHERE = (
    f"The beads are outside the project and not read: allow it with {ALLOW_OUTSIDE} or BEADS_DIR."
)


@dataclass(frozen=True, slots=True)
class BeadsFiles:
    directory: Path  # the ``.beads`` directory, after a redirect
    jsonl: Path | None = None  # the export to read
    mock: Path | None = None  # the mock client's list
    dolt: bool = False  # a Dolt database is authoritative, which only ``bd`` can read
    for_bd: bool = False  # ``bd`` accepts the directory

    @property
    def readable(self) -> Path | None:
        return self.jsonl or self.mock


def find_beads_files(base_dir: Path, *, environ: Mapping[str, str]) -> BeadsFiles | None:
    variable = environ.get("BEADS_DIR")
    if variable and (files := _inspect(base_dir / variable)):
        return files
    start = base_dir.resolve()
    folders = [start, *start.parents]
    depth = next((i for i, folder in enumerate(folders) if (folder / ".git").exists()), None)
    root = None if depth is None else folders[depth]
    folders = folders[: (depth or 0) + 1]  # outside of a checkout only the base directory
    local = next((files for folder in folders if (files := _in_folder(folder))), None)
    if local and local.readable:
        return local
    # A worktree has the tracked files of a .beads directory, but not its database.
    main = _main_checkout(root) if root else None
    shared = _in_folder(main) if main else None
    return shared if shared and (local is None or shared.readable) else local


def possible_beads_files(base_dir: Path, *, environ: Mapping[str, str]) -> list[Path]:
    """Return all possible paths of a project's beads, for watching."""
    files = find_beads_files(base_dir, environ=environ)
    directory = files.directory if files and not files.mock else base_dir / ".beads"
    paths = [directory / name for name in _PREFERRED_JSONL]
    paths.append(base_dir / _MOCK_DIR / _MOCK_FILE)
    return [*paths, files.readable] if files and files.readable else paths


def is_own(files: BeadsFiles, root: str) -> bool:
    """Return whether all beads files belong to the project.

    They are below ``root`` (a real path), or in the main checkout of its worktree.
    """
    main = _main_checkout(Path(root))
    roots = [root, *([os.path.realpath(main)] if main else [])]
    for path in filter(None, (files.directory, files.readable)):
        if not any(is_inside(real_path(path), folder) for folder in roots):
            return False
    return True


def _in_folder(folder: Path) -> BeadsFiles | None:
    if files := _inspect(folder / ".beads"):
        return files
    mock = folder / _MOCK_DIR / _MOCK_FILE
    return BeadsFiles(mock.parent, mock=mock) if _is_file(mock) else None


def _inspect(directory: Path) -> BeadsFiles | None:
    try:
        lines = map(str.strip, _line_file(directory / "redirect").splitlines())
        target = next((line for line in lines if line and not line.startswith("#")), "")
        redirected = directory.parent / target
        directory = redirected if target and redirected.is_dir() else directory
    except (OSError, ValueError):  # mostly without a redirect; also a NUL character in the path
        pass
    try:
        names = sorted(path.name for path in directory.iterdir())
    except OSError:
        return None
    has_database = any(  # "vc.db" belongs to version control
        name.endswith(".db") and ".backup" not in name and name != "vc.db" for name in names
    )
    # In the order of FindJSONLInDir of old Beads.
    others = [name for name in names if name.endswith(".jsonl") and name not in _OTHER_JSONL]
    exports = [directory / name for name in (*_PREFERRED_JSONL, *others) if name in names]
    jsonl = next(filter(_is_file, exports), None)
    dolt = any((directory / name).is_dir() for name in _DOLT_DIRS)
    for_bd = dolt or has_database or "metadata.json" in names or "config.yaml" in names
    if not (for_bd or jsonl):
        return None
    return BeadsFiles(directory, jsonl=jsonl, dolt=dolt, for_bd=for_bd)


def _is_file(path: Path) -> bool:
    # Reading reports other kinds of files with a reason.
    return path.exists() and not path.is_dir()


def _main_checkout(root: Path) -> Path | None:
    """Return the main checkout of a worktree.

    Returns ``None`` unless the two refer to each other.
    """
    try:
        git_dir = root / _line_file(root / ".git").removeprefix("gitdir:").strip()
        if not (git_dir / _line_file(git_dir / "gitdir").strip()).samefile(root / ".git"):
            return None
        return (git_dir / _line_file(git_dir / "commondir").strip()).resolve().parent
    except (OSError, ValueError):  # a directory, so not a worktree; or a broken pointer
        return None


def _line_file(path: Path) -> str:
    return read_bytes(path, limit=_LINE_BYTES).decode("utf-8", "replace")


def read_bd(
    folder: Path, *, environ: Mapping[str, str], timeout: float = TIMEOUT_SECONDS
) -> Board | None:
    """Return the beads that ``bd`` lists, ``None`` if it is not on PATH."""
    executable = find_program(NAME, outside=(folder,), path=environ.get("PATH", ""))
    if executable is None:
        return None

    def run(*arguments: str) -> tuple[int, bytes, str]:
        return _run_bd([executable, *arguments], folder, environ=environ, timeout=timeout)

    status, output, message = run(*_CURRENT)
    if status != 0 and "unknown flag" in message:  # before 2026
        status, output, message = run(*_LIST)
    if status != 0:
        raise BeadsError(f"{NAME} failed with exit status {status}: {_reason(message)}")
    try:
        records = json.loads(output)
    except (ValueError, RecursionError) as error:
        raise BeadsError(f"the output of {NAME} is not JSON") from error
    if isinstance(records, dict):  # with BD_JSON_ENVELOPE=1
        records = records.get("data")
    records = [] if records is None else records  # null without beads before version 0.30
    if not isinstance(records, list):
        raise BeadsError(f"the output of {NAME} is not a list of beads")
    beads = [record for record in records if isinstance(record, dict)]
    counted = any(bead.get("dependency_count") for bead in beads)
    if counted and not any(bead.get("dependencies") for bead in beads):
        raise BeadsError(f"{NAME} does not list dependencies; update it to see blocked beads")
    return board_of(records, NAME)


def _run_bd(
    command: list[str], folder: Path, *, environ: Mapping[str, str], timeout: float
) -> tuple[int, bytes, str]:
    """Run ``bd``; return its exit status, output and errors.

    Output goes to files: an orphaned child could keep a pipe open beyond the timeout.
    """
    environ = guarded_environment(str(folder), environ)
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as messages:
        try:
            done = subprocess.run(
                command,
                cwd=folder,
                env={**environ, "BEADS_NO_DAEMON": "1"},  # for old versions
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=messages,
                timeout=timeout,
                start_new_session=True,
                check=False,
            )
        except OSError as error:
            raise BeadsError(
                f"{NAME} cannot be started ({error.strerror}); check the program on PATH"
            ) from error
        except subprocess.TimeoutExpired as error:
            raise BeadsError(
                f"{NAME} did not answer within {timeout:g} s and was stopped"
            ) from error
        return done.returncode, _content(output), _content(messages).decode("utf-8", "replace")


def _content(file: IO[bytes]) -> bytes:
    if file.seek(0, os.SEEK_END) > _MAX_OUTPUT:
        raise BeadsError(f"the output of {NAME} exceeds {_MAX_OUTPUT // 1024 // 1024} MB")
    file.seek(0)
    return file.read()


def _reason(message: str) -> str:
    try:
        error = json.loads(message)["error"]
        return str(error)[:_MAX_MESSAGE]
    except (ValueError, TypeError, KeyError, RecursionError):
        lines = [line.strip() for line in message.splitlines() if line.strip()]
        return lines[0][:_MAX_MESSAGE] if lines else "no message"


def read_board(base_dir: Path, *, environ: Mapping[str, str], root: str = "") -> Board | None:
    """Return the beads of the project around ``base_dir``.

    Returns ``None`` if the project has no beads. Beads are read by ``bd`` if that is on ``PATH`` and accepts the
    project, otherwise from the exported file or the list in ``.beads_mock``. If a source fails, the board has a
    warning.
    """
    files = find_beads_files(base_dir, environ=environ)
    if files is None:
        return None
    if root and not environ.get("BEADS_DIR") and not is_own(files, root):
        return Board("", warnings=(_ELSEWHERE,))
    board, warnings = Board(""), list[str]()
    path = files.readable
    try:
        board = (files.for_bd and read_bd(base_dir, environ=environ)) or board
    except BeadsError as error:
        warnings.append(f"{error}.")
    try:
        if not board.source and path:
            parse = read_jsonl if files.jsonl else read_json_list
            board = parse(path, name=f"{path.parent.name}/{path.name}")
    except BeadsError as error:
        warnings.append(f"{error}.")
    warnings += board.warnings
    if not board.source:
        warnings.append(f"The beads of this project cannot be read here; {_EXPORT_HINT}.")
    elif files.dolt and board.source != NAME:
        stale = f"{board.source} may be older than the Dolt database"
        warnings.append(f"{stale}; {_EXPORT_HINT}.")
    return replace(board, warnings=tuple(warnings))
