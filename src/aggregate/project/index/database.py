"""The file of the index: made whole, opened only if it is ours and undamaged, and put aside as a whole.

The folder around the file is the unit: SQLite keeps a log and its index beside the file, and a log that is left without
its file would be taken for that of the next one. So a new index is made under another name and renamed, and an old one
is renamed before it is removed; whoever has it open goes on with what it has.
"""

import os
import shutil
import sqlite3
import stat
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from aggregate.base.disk import (
    PRIVATE_FOLDER,
    TEMPORARY_SUFFIX,
    create_private,
    guard_connection,
    private_folder,
    temporary_name,
)

BUSY_SECONDS: Final = 1.0
"""How long a write waits for another process's. Reads wait for nobody."""
_APPLICATION: Final = 0x41474958
"""``AGIX``, in the file's header: what tells our index from another program's database."""
_SCHEMA_VERSION: Final = 1
_PAGE_BYTES: Final = 16_384
"""Views of a few kilobytes lie several to a page; with SQLite's own 4,096 a third of the file was empty."""
_TRIES: Final = 5
"""How often a new index is moved to its place, where other processes make and remove theirs at the same moment."""
_HEADER_BYTES: Final = 100
_MAGIC: Final = b"SQLite format 3\0"
_OPEN_TO_OTHERS: Final = 0o077
_LEFTOVER_SECONDS: Final = 3600
"""After which a folder that was being made, or removed, is one that a kill has left."""

_SCHEMA: Final = (
    # Small rows, so that finding entries and what was used last touches few pages; the bytes lie in the order in which
    # they were written, as those of one project were and will be read.
    "CREATE TABLE entries (id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, used INTEGER NOT NULL,"
    " place INTEGER NOT NULL)",
    "CREATE TABLE payloads (place INTEGER PRIMARY KEY, data BLOB NOT NULL)",
    "CREATE TABLE kinds (number INTEGER PRIMARY KEY, name TEXT NOT NULL, version TEXT NOT NULL,"
    " used INTEGER NOT NULL)",
    "CREATE TABLE files (id INTEGER PRIMARY KEY, day INTEGER NOT NULL, data BLOB NOT NULL)",
    "CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID",
)


class DamagedError(Exception):
    """The file is no index any more, or one of an earlier release: it can be put aside. The message is the reason."""


class UnusableError(Exception):
    """There is something that is not ours to replace. The message is the reason."""


def open_database(path: Path) -> sqlite3.Connection:
    """Open the index at ``path``, which is there.

    Raises:
        FileNotFoundError: There is none.
        DamagedError: It is damaged, or of an earlier release.
        UnusableError: It is another program's, another user's or of a later release.
        OSError: It cannot be read.
        sqlite3.Error: It cannot be opened.
    """
    _check_place(path)
    _check_header(path)
    try:
        return _connect(path, "mode=rw")
    except sqlite3.OperationalError as error:
        no_log = error_code(error) in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
        if not no_log or os.access(path.parent, os.W_OK):
            raise
    # A folder where nothing can be written: no log can be made, and none changes beneath us.
    return _connect(path, "mode=ro&immutable=1")


def create_database(path: Path) -> None:
    """Make an empty index at ``path``, or leave the one that another process has made meanwhile.

    Raises:
        UnusableError: Something else than a folder is in its way.
        OSError: It cannot be made.
        sqlite3.Error: It cannot be made.
    """
    folder = path.parent
    private_folder(folder.parent)
    remove_leftovers(folder, older_than=_LEFTOVER_SECONDS)
    temporary = temporary_name(folder.parent, folder.name)
    temporary.mkdir(mode=PRIVATE_FOLDER)
    try:
        _write_schema(temporary / path.name)
        if not any(_take_place(temporary, path) for _ in range(_TRIES)):
            raise UnusableError(f"{folder} cannot be replaced")
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _take_place(temporary: Path, path: Path) -> bool:
    """Move a new index to its place, and tell whether there is one now: this, or another process's."""
    if not os.path.lexists(path):
        put_aside(path)  # a log without its database
    try:
        temporary.rename(path.parent)
    except OSError:
        return path.exists()
    return True


def put_aside(path: Path, *, inode: int | None = None) -> None:
    """Remove the folder of the index at ``path``, in one step for whoever looks; without one nothing happens.

    Args:
        path: The index.
        inode: Remove it only if it is this very file: another process may have replaced it already.

    Raises:
        UnusableError: It is no folder of ours.
        OSError: It cannot be removed.
    """
    folder = path.parent
    aside = temporary_name(folder.parent, folder.name)
    try:
        if not stat.S_ISDIR(folder.lstat().st_mode):
            raise UnusableError(f"{folder} is no folder")
        if inode is None or path.lstat().st_ino == inode:
            folder.rename(aside)
    except FileNotFoundError:
        return
    shutil.rmtree(aside, ignore_errors=True)


def remove_leftovers(folder: Path, *, older_than: float) -> None:
    """Remove what a kill has left of folders like ``folder`` that were being made or removed.

    Args:
        folder: That of the index.
        older_than: Seconds; younger ones may be at work.
    """
    for leftover in folder.parent.glob(f".{folder.name}-*{TEMPORARY_SUFFIX}"):
        with suppress(OSError):
            if time.time() - leftover.lstat().st_mtime >= older_than:
                shutil.rmtree(leftover)


def error_code(error: Exception) -> int | None:
    """Return the primary code of an error of SQLite; some have none."""
    code: int | None = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF


def in_transaction(
    connection: sqlite3.Connection, change: Callable[[sqlite3.Connection], None]
) -> None:
    """Call ``change`` in a transaction, whole or not at all.

    Raises:
        sqlite3.Error: It cannot be had within ``BUSY_SECONDS``, or fails.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        change(connection)
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise


def disk_bytes(path: Path) -> int:
    """Return the bytes of the index at ``path`` and of its log."""
    total = 0
    for suffix in ("", "-wal", "-shm"):
        with suppress(OSError):
            total += path.with_name(path.name + suffix).lstat().st_size
    return total


def _check_place(path: Path) -> None:
    """Make sure that folder and file are the user's alone: a project may have brought them, or a neighbour."""
    for place, is_kind, kind in (
        (path.parent, stat.S_ISDIR, "folder"),
        (path, stat.S_ISREG, "regular file"),
    ):
        info = place.lstat()
        if not is_kind(info.st_mode):
            raise UnusableError(f"{place} is no {kind}")
        if os.name == "posix" and info.st_uid != os.geteuid():
            raise UnusableError(f"{place} belongs to another user")
        if os.name == "posix" and info.st_mode & _OPEN_TO_OTHERS:
            raise DamagedError(f"{place} was open to other users")


def _check_header(path: Path) -> None:
    with path.open("rb") as file:
        header = file.read(_HEADER_BYTES)
    if len(header) < _HEADER_BYTES or not header.startswith(_MAGIC):
        raise DamagedError(f"{path} was damaged")
    version, application = (int.from_bytes(header[at : at + 4], "big") for at in (60, 68))
    if application != _APPLICATION:
        raise UnusableError(f"{path} is not an index of this program")
    if version > _SCHEMA_VERSION:
        raise UnusableError(f"{path} is of a later release of this program")
    if version < _SCHEMA_VERSION:
        raise DamagedError(f"{path} was of an earlier release")


def _connect(path: Path, options: str) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{path.as_uri()}?{options}",
        uri=True,
        timeout=BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,  # the index lets one thread at a time use it
    )
    try:
        guard_connection(connection, seconds=None)
        # The disk is never waited for: what a power cut takes or tears is a miss, by the checksum of each entry.
        connection.execute("PRAGMA synchronous=OFF")
        schema = {row[0] for row in connection.execute("SELECT sql FROM sqlite_master")}
        if schema != set(_SCHEMA):
            raise DamagedError(f"{path} was damaged")
    except BaseException:
        connection.close()
        raise
    return connection


def _write_schema(path: Path) -> None:
    os.close(create_private(path))
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        connection.execute(f"PRAGMA page_size={_PAGE_BYTES}")
        connection.execute("PRAGMA auto_vacuum=INCREMENTAL")  # so that a lower limit can shrink it
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=OFF")
        connection.execute("BEGIN")
        for statement in _SCHEMA:
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id={_APPLICATION}")
        connection.execute(f"PRAGMA user_version={_SCHEMA_VERSION}")
        connection.execute("COMMIT")
    finally:
        connection.close()
