"""Keeping to the limit: versions that nobody uses any more go first, then what was used longest ago (rule I-3)."""

import time
from functools import partial
from typing import TYPE_CHECKING, Final

from aggregate.project.index.database import in_transaction
from aggregate.project.index.rows import delete_rows

if TYPE_CHECKING:
    import sqlite3

# Of the limit: so that the next runs have room, and not each of them has to trim.
_TARGET: Final = 0.9
_MOST_ROWS: Final = 5_000  # What is deleted in one transaction; others write in between
_PAGES: Final = 2_000  # Pages that are given back to the file system at once
_SECONDS: Final = 1.0  # After which the rest is left to the next run
_STEPS: Final = 100_000  # Instructions of SQLite's machine between two looks at the clock
# What goes first: rows of kinds of which another version was used on a later day, then those used longest ago.
_NEXT: Final = (
    # In the order in which rows lie, so that whole pages become free.
    "SELECT id FROM entries WHERE kind IN (SELECT number FROM kinds old WHERE EXISTS (SELECT 1 FROM kinds new"
    " WHERE new.name = old.name AND new.used > old.used)) ORDER BY place LIMIT ?",
    "SELECT id FROM entries WHERE used <= (SELECT min(used) FROM entries) ORDER BY place LIMIT ?",
)


def trim(connection: "sqlite3.Connection", limit: int) -> None:
    if _bytes(connection) <= limit:
        return
    end = time.monotonic() + _SECONDS
    # A damaged file could have a scan go round in circles.
    connection.set_progress_handler(lambda: time.monotonic() > end + _SECONDS, _STEPS)
    try:
        while time.monotonic() < end and (ids := _excess(connection, limit)):
            in_transaction(connection, partial(delete_rows, ids=ids))
        while (
            _bytes(connection) > limit and _pragma(connection, "freelist_count")
        ) and time.monotonic() < end:
            connection.execute(f"PRAGMA incremental_vacuum({_PAGES})").fetchall()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    finally:
        connection.set_progress_handler(None, 0)


def _excess(connection: "sqlite3.Connection", limit: int) -> list[int]:
    """Return the rows to delete now, about as many as are too many by their average size; none if there is room."""
    free = _pragma(connection, "freelist_count") * _pragma(connection, "page_size")
    used = _bytes(connection) - free
    surplus = used - limit * _TARGET
    if surplus <= 0:
        return []
    rows = connection.execute("SELECT count(*) FROM entries").fetchone()[0]
    count = max(1, min(int(surplus * rows / used), _MOST_ROWS))
    found = ([row[0] for row in connection.execute(query, (count,))] for query in _NEXT)
    return next(filter(None, found), [])


def _bytes(connection: "sqlite3.Connection") -> int:
    return _pragma(connection, "page_count") * _pragma(connection, "page_size")


def _pragma(connection: "sqlite3.Connection", name: str) -> int:
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])
