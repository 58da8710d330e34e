"""What the index holds and how often it was of use, and emptying it (rule I-3)."""

import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from aggregate.base.errors import OutputError
from aggregate.project.index.connection import IndexConnection
from aggregate.project.index.database import UnusableError, disk_bytes, put_aside, remove_leftovers


class IndexReport(NamedTuple):
    """The index in figures.

    Attributes:
        path: Its file, which need not be there.
        bytes: On the disk, its log included.
        entries: Results that are kept, and files whose content is known.
        hits: How often a result was asked for and there, in all runs since it was made.
        misses: How often it had to be computed.
        limit: The most bytes that it may have.
    """

    path: Path
    bytes: int
    entries: int
    hits: int
    misses: int
    limit: int


def read_report(path: Path, limit: int) -> tuple[IndexReport, str]:
    """Return the figures of the index at ``path``, and one sentence on why it cannot be used, ``""`` if it can."""
    file = IndexConnection(path)
    figures = file.read(_figures) or (0, 0, 0)
    file.close()
    return IndexReport(path, disk_bytes(path), *figures, limit), file.warning


def clear_index(path: Path) -> bool:
    """Delete the index at ``path``, in whatever state it is, and return whether there was one.

    Raises:
        OutputError: It cannot be deleted.
    """
    is_there = path.parent.exists()
    try:
        put_aside(path)
        remove_leftovers(path.parent, older_than=0)
    except UnusableError as error:
        raise OutputError(f"{error}: delete it yourself") from None
    except OSError as error:
        raise OutputError(f"cannot delete {path.parent}: {error.strerror or error}") from error
    return is_there


def _figures(connection: sqlite3.Connection) -> tuple[int, int, int]:
    query = "SELECT (SELECT count(*) FROM entries) + (SELECT count(*) FROM files)"
    entries = int(connection.execute(query).fetchone()[0])
    counters = {"hits": 0, "misses": 0}
    with suppress(TypeError, ValueError):  # a damaged page can hold anything
        counters |= {
            name: int(value) for name, value in connection.execute("SELECT * FROM counters")
        }
    return entries, counters["hits"], counters["misses"]
