"""Which source of a project's beads is read, and what happens when it cannot be."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from aggregate.base.errors import BeadsError
from aggregate.base.values import ALLOW_OUTSIDE, Board
from aggregate.project.beads.bd_program import NAME, TIMEOUT_SECONDS, find_bd
from aggregate.project.beads.find import BeadsFiles, find_beads_files, is_own
from aggregate.project.beads.jsonl import read_json_list, read_jsonl
from aggregate.project.beads.sqlite_store import read_sqlite

_EXPORT_HINT = "install bd, or run `bd export -o .beads/issues.jsonl` where it is installed"

_ELSEWHERE = f"The beads lie outside the project, so they are not read: allow it with {ALLOW_OUTSIDE} or BEADS_DIR."


class BeadsReader(Protocol):
    """One source of beads."""

    def read(self) -> Board:
        """Return all beads of the source; raises ``BeadsError`` where it cannot be read."""


@dataclass(frozen=True, slots=True)
class BeadsFileReader:
    """A file and the function that reads it."""

    path: Path
    parse: Callable[..., Board]

    def read(self) -> Board:
        """Read the file; its name is the folder's and its own, the same on every machine."""
        return self.parse(self.path, name=f"{self.path.parent.name}/{self.path.name}")


def read_board(
    base_dir: Path, *, environ: Mapping[str, str], timeout: float = TIMEOUT_SECONDS, root: str = ""
) -> Board | None:
    """Read the beads of the project around ``base_dir``.

    ``bd`` is asked where it is on ``PATH`` and accepts the project, else the newer of database and JSONL is read. A
    source that fails becomes a warning of the board, and the next one is read.

    Args:
        base_dir: Where the project is looked for, and where ``bd`` runs.
        environ: The process's environment, for ``BEADS_DIR``, ``PATH`` and ``bd`` itself.
        timeout: Seconds that ``bd`` may take.
        root: The real path of the project's root, if beads elsewhere are not to be read: those of its own main checkout
            and those that ``BEADS_DIR`` names may be.

    Returns:
        The board, with an empty source and the reasons as warnings where nothing can be read; ``None`` where there is
        no project of beads.
    """
    files = find_beads_files(base_dir, environ=environ)
    if files is None:
        return None
    if root and not environ.get("BEADS_DIR") and not is_own(files, root):
        return Board("", warnings=(_ELSEWHERE,))
    bd = find_bd(base_dir, environ=environ, timeout=timeout) if files.for_bd else None
    board = first_readable([*([bd] if bd else []), *_file_readers(files)])
    if files.dolt and board.source not in ("", NAME):
        stale = (
            f"A Dolt database holds the truth and {board.source} may be behind it; {_EXPORT_HINT}."
        )
        return replace(board, warnings=(*board.warnings, stale))
    return board


def first_readable(readers: Sequence[BeadsReader]) -> Board:
    """Return the board of the first reader that succeeds, with the failures of those before it as warnings."""
    failures: list[str] = []
    for reader in readers:
        try:
            board = reader.read()
        except BeadsError as error:
            failures.append(f"{error}.")
        else:
            return replace(board, warnings=(*failures, *board.warnings))
    return Board(
        "", warnings=(*failures, f"The beads of this project cannot be read here; {_EXPORT_HINT}.")
    )


def _file_readers(files: BeadsFiles) -> list[BeadsFileReader]:
    """Return the readers of the files, the newest file first and JSONL before a database of the same time."""
    parsers = (
        (files.jsonl, read_jsonl),
        (files.database, read_sqlite),
        (files.mock, read_json_list),
    )
    readers = [BeadsFileReader(path, parse) for path, parse in parsers if path]
    return sorted(readers, key=lambda reader: -_changed(reader.path))


def _changed(path: Path) -> int:
    """Return when ``path`` or the log of its latest changes was written, in nanoseconds."""
    log = path.with_name(f"{path.name}-wal")
    return max((file.stat().st_mtime_ns for file in (path, log) if file.exists()), default=0)
