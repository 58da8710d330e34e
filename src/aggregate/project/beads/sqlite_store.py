"""Beads in the SQLite database of bd before version 0.51, read without touching it.

Tables and columns after ``internal/storage/sqlite/schema.go`` of Beads; older databases lack some of them.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from aggregate.base.disk import (
    CONTENT_BYTES,
    check_plain,
    guard_connection,
    is_plain_table,
    open_regular,
)
from aggregate.base.errors import BeadsError
from aggregate.base.values import Board
from aggregate.project.beads.record import BoardBuilder

_ISSUE_COLUMNS = (
    "id", "title", "description", "status", "priority", "issue_type", "created_at", "closed_at",
    "defer_until", "pinned", "ephemeral", "is_template",
)  # fmt: skip
_DEPENDENCY_COLUMNS = ("issue_id", "depends_on_id", "type", "metadata")
_WAIT_SECONDS = 1.0
"""For another program's lock; it holds one while it writes a bead."""
_READ_SECONDS = 1.5
"""A database of 50,000 beads takes a fifth of it."""


def read_sqlite(path: Path, *, name: str) -> Board:
    """Read the tables ``issues`` and ``dependencies``; columns that an older database lacks take their defaults.

    Raises:
        BeadsError: The file is no database of Beads, is damaged, or cannot be read without changing something.
    """
    try:
        os.close(open_regular(path)[0])
        with closing(
            sqlite3.connect(_uri(path, name), uri=True, timeout=_WAIT_SECONDS)
        ) as connection:
            guard_connection(connection, seconds=_READ_SECONDS)
            # A text that is not UTF-8 must not hide all the others.
            connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
            return _read(connection, name)
    except sqlite3.Error as error:
        slow = getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_INTERRUPT
        why = f"reading it takes longer than {_READ_SECONDS:g} s" if slow else str(error)
        raise BeadsError(
            f"{name} is no readable database of Beads ({why}); export it with bd or remove it"
        ) from error
    except OSError as error:
        raise BeadsError(
            f"{name} cannot be read ({error.strerror}); check the file and its permissions"
        ) from error


def _uri(path: Path, name: str) -> str:
    """Return a read-only URI; nothing is created or locked.

    ``mode=ro`` alone creates ``-wal`` and ``-shm`` files beside a database in WAL mode. Where no changes wait in a
    ``-wal`` file the database is therefore opened as immutable. Where changes wait, an open ``-shm`` shows that a
    program has it open, and reading takes part in that program's protocol without stopping its writes.
    """
    uri = f"{path.absolute().as_uri()}?mode=ro"
    log, index = (path.with_name(path.name + suffix) for suffix in ("-wal", "-shm"))
    for file in (log, index):
        check_plain(file)
    if not log.exists() or log.stat().st_size == 0:
        return f"{uri}&immutable=1"
    if not index.exists():
        raise BeadsError(
            f"{name} has changes from a crash that are not merged yet; run any bd command to merge them"
        )
    return uri


def _read(connection: sqlite3.Connection, name: str) -> Board:
    builder = BoardBuilder(name)
    if not is_plain_table(connection, "issues"):
        raise BeadsError(
            f"{name} has no table of issues; export the beads with bd or remove the file"
        )
    needs: dict[object, list[dict[str, object]]] = {}
    for row in _rows(connection, "dependencies", _DEPENDENCY_COLUMNS):
        needs.setdefault(row.get("issue_id"), []).append(row)
    for number, row in enumerate(_rows(connection, "issues", _ISSUE_COLUMNS), start=1):
        builder.add({**row, "dependencies": needs.get(row.get("id"), [])}, f"row {number}")
    return builder.board()


def _rows(
    connection: sqlite3.Connection, table: str, wanted: tuple[str, ...]
) -> Iterator[dict[str, object]]:
    """Yield the rows of ``table`` with those of the ``wanted`` columns that it has; none where there is no table."""
    if not is_plain_table(connection, table):
        return
    present = {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}
    columns = [column for column in wanted if column in present]
    if not columns:
        return
    # The keys come first: the order does not depend on the file's layout.
    order = ", ".join(columns[:3])
    size = 0
    for row in connection.execute(f"SELECT {', '.join(columns)} FROM {table} ORDER BY {order}"):
        # A damaged file can show the same page as many rows.
        size += sum(len(value) for value in row if isinstance(value, str | bytes))
        if size > CONTENT_BYTES:
            raise sqlite3.DataError(f"it has more than {CONTENT_BYTES:,} bytes of text")
        yield dict(zip(columns, row, strict=True))
