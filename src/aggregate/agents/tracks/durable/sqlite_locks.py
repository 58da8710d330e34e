"""SQLite as the database of runs, with lock files.

A lock file is a process's sign of life. All processes are on one machine, and the end of a process frees its lock, so
nothing has to expire.
"""

import glob
import os
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from time import monotonic, sleep, time
from typing import Any

import sqlalchemy as sa

from aggregate.agents.tracks.durable.run_database import Heartbeat
from aggregate.base.disk.writing import create_private, private_folder

_SUBSEC_SINCE = (3, 42)  # the version of SQLite with unixepoch('subsec')
_BUSY_SECONDS = 30  # for other processes; as DBOS has it on an engine of its own
_BUSY_LOOK_SECONDS = 0.02
_ABANDONED_SECONDS = 60.0  # age of a deleted lock file: a new one is not locked yet


def prepare(engine: sa.Engine) -> sa.TextClause:
    """Create the database file; return the statement that locks it."""
    _create_file(_path_of(engine))
    sa.event.listen(engine, "connect", _prepare_connection)
    return sa.text("BEGIN IMMEDIATE")


def _create_file(path: Path) -> None:
    """Create a file, private since it contains prompts and answers."""
    private_folder(path.parent)
    with suppress(FileExistsError):
        os.close(create_private(path))


def _prepare_connection(connection: Any, _record: object) -> None:  # noqa: ANN401 - SQLAlchemy hands over the driver's own
    """Set up a new connection like DBOS's own connections."""
    # Writers take turns from their first read on, and none gives up.
    connection.isolation_level = "IMMEDIATE"
    connection.execute(f"PRAGMA busy_timeout={_BUSY_SECONDS * 1000}")
    connection.execute("PRAGMA foreign_keys=ON")
    # In write-ahead mode a kill still loses nothing, and commits do not wait for the disk.
    connection.execute("PRAGMA synchronous=NORMAL")
    if sqlite3.sqlite_version_info < _SUBSEC_SINCE:
        # From Python 3.12 on DBOS takes the time by unixepoch('subsec'), NULL in an older SQLite.
        connection.create_function("unixepoch", 1, lambda _: time())
    end = monotonic() + _BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            # While another process changes the mode SQLite refuses without waiting.
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or monotonic() >= end:
                raise
        sleep(_BUSY_LOOK_SECONDS)


class LockFile(Heartbeat):
    """A process's sign of life: its locked file."""

    _lock: sqlite3.Connection | None = None

    def renew(self) -> None:
        if self._lock is None:
            _create_file(self._path)
            self._lock = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False)
            self._lock.execute("BEGIN EXCLUSIVE")

    def end(self) -> None:
        if self._lock is not None:
            self._path.unlink(missing_ok=True)
            self._lock.close()

    def alive(self, prefix: str) -> set[str]:
        database = _path_of(self.engine)
        alive: set[str] = set()
        for path in database.parent.glob(f"{glob.escape(database.name)}.{prefix}*.lock"):
            if _is_locked(path):
                alive.add(path.name.removeprefix(f"{database.name}.").removesuffix(".lock"))
                continue
            with suppress(OSError):
                if time() - path.stat().st_mtime > _ABANDONED_SECONDS:
                    path.unlink()
        return alive

    @property
    def _path(self) -> Path:
        database = _path_of(self.engine)
        return database.with_name(f"{database.name}.{self.executor_id}.lock")


def _path_of(engine: sa.Engine) -> Path:
    return Path(engine.url.database or "")


def _is_locked(path: Path) -> bool:
    try:
        with closing(
            sqlite3.connect(f"{path.as_uri()}?mode=rw", timeout=0, uri=True)
        ) as connection:
            connection.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError as error:
        return error.sqlite_errorcode == sqlite3.SQLITE_BUSY
    return False
