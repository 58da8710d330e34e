"""SQLite files that somebody else may have put there."""

import errno
import os
import sqlite3
import stat
import time
from pathlib import Path

from aggregate.base.disk.reading import UnreadableError, without_links
from aggregate.base.disk.writing import create_private, private_folder

_LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: 20_000_000,  # bytes of a text or a row; zeroblob(1000000000) makes a billion
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 1_000_000,  # the texts of the schema, which is parsed on opening
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 100,  # matching is one step of the machine, however long it takes
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 1,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
}

# Instructions of SQLite's machine between two looks at the clock: a millisecond or so.
_STEPS = 5_000


def guard_connection(connection: sqlite3.Connection, *, seconds: float | None) -> None:
    """Bound what a database can make a new connection do by its schema and its rows.

    After ``seconds`` statements are interrupted, with an ``sqlite3.OperationalError``; ``None`` for never.
    """
    for limit, most in _LIMITS.items():
        connection.setlimit(limit, most)
    # No functions with side effects in views, defaults and indexes.
    connection.execute("PRAGMA trusted_schema=OFF")
    connection.execute("PRAGMA cell_size_check=ON")  # a damaged page is an error
    if seconds is not None:
        end = time.monotonic() + seconds
        connection.set_progress_handler(lambda: time.monotonic() > end, _STEPS)


def is_plain_table(connection: sqlite3.Connection, name: str) -> bool:
    """Tell whether ``name`` is an ordinary table: no view and no virtual table, which compute what they show."""
    query = "SELECT type, sql FROM sqlite_master WHERE name = ? COLLATE NOCASE"
    things = [
        (kind, str(sql).upper().split()[:2]) for kind, sql in connection.execute(query, (name,))
    ]
    return things == [("table", ["CREATE", "TABLE"])]


def has_triggers(connection: sqlite3.Connection) -> bool:
    triggers = connection.execute("SELECT 1 FROM sqlite_master WHERE type = 'trigger'")
    return triggers.fetchone() is not None


def private_database(path: Path) -> None:
    """Make the file of a database for the user alone, before SQLite would with the user's default; a log inherits that.

    Something else than a file there, or in the place of a log, is an ``UnreadableError``, a folder that a link leads
    out of its project an ``OutputError``.
    """
    private_folder(without_links(path.parent))
    for suffix in ("", "-wal", "-shm", "-journal"):
        check_plain(path.with_name(path.name + suffix))
    if not path.exists():
        try:
            os.close(create_private(path))
        except FileExistsError:  # another process was faster
            return


def check_plain(path: Path) -> None:
    """Make sure that there is a regular file at ``path`` or nothing, no link either, or raise ``UnreadableError``."""
    if path.is_symlink():
        why = "is a link: put the database itself there"
        raise UnreadableError(errno.EINVAL, why, str(path))
    if os.path.lexists(path) and not stat.S_ISREG(path.lstat().st_mode):
        raise UnreadableError(errno.EINVAL, "is no regular file", str(path))
