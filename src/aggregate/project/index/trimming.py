"""Keeping to the limit: versions that nobody uses any more go first, then what was used longest ago (rule I-3)."""

import time
from functools import partial
from typing import TYPE_CHECKING, Final

from aggregate.project.index.database import in_transaction
from aggregate.project.index.entries import delete_entries

if TYPE_CHECKING:
    import sqlite3

_TARGET: Final = 0.9
"""Of the limit: so that the next runs have room, and not each of them has to trim."""
_MOST_ROWS: Final = 5_000
"""What is deleted in one transaction; others write in between."""
_PAGES: Final = 2_000
"""Pages that are given back to the file system at once."""
_SECONDS: Final = 1.0
"""After which the rest is left to the next run."""
_STEPS: Final = 100_000
"""Instructions of SQLite's machine between two looks at the clock."""


def trim(connection: "sqlite3.Connection", limit: int) -> None:
    """Delete rows until the index has room below ``limit`` bytes, or a second or two are over.

    Raises:
        sqlite3.Error: It cannot be read or written.
    """
    if _bytes(connection) <= limit:
        return
    end = time.monotonic() + _SECONDS
    # A damaged file could have a scan go round in circles.
    connection.set_progress_handler(lambda: time.monotonic() > end + _SECONDS, _STEPS)
    try:
        while (excess := _excess(connection, limit)) and time.monotonic() < end:
            if not _delete(connection, excess):
                break
        while (
            _bytes(connection) > limit and _pragma(connection, "freelist_count")
        ) and time.monotonic() < end:
            connection.execute(f"PRAGMA incremental_vacuum({_PAGES})").fetchall()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    finally:
        connection.set_progress_handler(None, 0)


def _excess(connection: "sqlite3.Connection", limit: int) -> int:
    """Return about how many rows are to be deleted now, by their average size; 0 if there is room."""
    used = _bytes(connection, free=False)
    surplus = used - limit * _TARGET
    if surplus <= 0:
        return 0
    query = "SELECT (SELECT count(*) FROM entries) + (SELECT count(*) FROM files)"
    rows = connection.execute(query).fetchone()[0]
    return max(1, min(int(surplus * rows / used), _MOST_ROWS))


def _delete(connection: "sqlite3.Connection", count: int) -> bool:
    """Delete at most ``count`` of the entries that are to go next, and of the files; ``False`` where there are none."""
    # In the order in which they lie, so that whole pages become free.
    for number in _outdated_kinds(connection):
        ids = _ids(
            connection, "SELECT id FROM entries WHERE kind = ? ORDER BY place", number, count
        )
        if ids:
            in_transaction(connection, partial(delete_entries, ids=ids))
            return True
    query = "SELECT min(oldest) FROM (SELECT min(used) AS oldest FROM entries UNION ALL SELECT min(day) FROM files)"
    day = connection.execute(query).fetchone()[0]
    if day is None:
        return False
    ids = _ids(connection, "SELECT id FROM entries WHERE used <= ? ORDER BY place", day, count)
    files = _ids(connection, "SELECT id FROM files WHERE day <= ?", day, count)

    def delete(connection: "sqlite3.Connection") -> None:
        delete_entries(connection, ids)
        connection.executemany("DELETE FROM files WHERE id = ?", ((row_id,) for row_id in files))

    in_transaction(connection, delete)
    return True


def _outdated_kinds(connection: "sqlite3.Connection") -> list[int]:
    """Return the numbers of kinds of which another version was used on a later day."""
    query = (
        "SELECT number FROM kinds old WHERE EXISTS (SELECT 1 FROM kinds new WHERE new.name = old.name"
        " AND new.used > old.used) ORDER BY used, number"
    )
    return [row[0] for row in connection.execute(query)]


def _ids(connection: "sqlite3.Connection", query: str, value: int, count: int) -> list[int]:
    return [row[0] for row in connection.execute(f"{query} LIMIT ?", (value, count))]


def _bytes(connection: "sqlite3.Connection", *, free: bool = True) -> int:
    pages = _pragma(connection, "page_count")
    if not free:
        pages -= _pragma(connection, "freelist_count")
    return pages * _pragma(connection, "page_size")


def _pragma(connection: "sqlite3.Connection", name: str) -> int:
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])
