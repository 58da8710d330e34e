"""Open SQLite files from untrusted projects safely."""

import errno
import os
import sqlite3
import stat
import time
from pathlib import Path

from aggregate.base.disk.reading import UnreadableError
from aggregate.base.disk.writing import create_private, private_folder, without_links

_LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: 20_000_000,  # bytes of a text or a row; zeroblob(1000000000) has a billion
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 1_000_000,  # the schema's texts, which are parsed on opening
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 100,  # a match is one uninterruptible instruction
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 1,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
}
_STEPS = 5_000  # SQLite instructions between checks of the time: a millisecond or so


def guard_connection(connection: sqlite3.Connection, *, seconds: float | None) -> None:
    """Protect a new connection from a hostile schema or rows.

    After ``seconds`` statements raise ``sqlite3.OperationalError``; None means no limit.
    """
    for limit, most in _LIMITS.items():
        connection.setlimit(limit, most)
    # Forbids functions with side effects in views, defaults and indexes.
    connection.execute("PRAGMA trusted_schema=OFF")
    connection.execute("PRAGMA cell_size_check=ON")  # a damaged page is an error
    if seconds is not None:
        end = time.monotonic() + seconds
        connection.set_progress_handler(lambda: time.monotonic() > end, _STEPS)


def is_plain_table(connection: sqlite3.Connection, name: str) -> bool:
    """Return whether ``name`` is an ordinary table.

    Views and virtual tables are not ordinary: reading them runs code.
    """
    query = "SELECT type, sql FROM sqlite_master WHERE name = ? COLLATE NOCASE"
    entries = [
        (kind, str(sql).upper().split()[:2]) for kind, sql in connection.execute(query, (name,))
    ]
    return entries == [("table", ["CREATE", "TABLE"])]


def has_triggers(connection: sqlite3.Connection) -> bool:
    triggers = connection.execute("SELECT 1 FROM sqlite_master WHERE type = 'trigger'")
    return triggers.fetchone() is not None


def private_database(path: Path) -> None:
    """Create a missing database file, readable by the user alone."""
    private_folder(without_links(path.parent))
    for suffix in ("", "-wal", "-shm", "-journal"):
        check_plain(path.with_name(path.name + suffix))
    if not path.exists():
        try:
            os.close(create_private(path))
        except FileExistsError:  # created by another process
            return


def check_plain(path: Path) -> None:
    """Raise ``UnreadableError`` unless a path is missing or a regular file, not a link."""
    try:  # once: SQLite deletes a journal at any time
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if stat.S_ISLNK(mode):
        reason = "is a link: replace it by the database itself"
        raise UnreadableError(errno.EINVAL, reason, str(path))
    if not stat.S_ISREG(mode):
        raise UnreadableError(errno.EINVAL, "is not a regular file", str(path))
