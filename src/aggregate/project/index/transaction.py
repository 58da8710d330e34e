"""What a process has to write into the index, in one transaction."""

from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from aggregate.project.index.entries import (
    DAY_NS,
    delete_entries,
    insert_entries,
    replace_files,
    touch_entries,
)
from aggregate.project.index.kinds import Kind

if TYPE_CHECKING:
    import sqlite3

ROW_BYTES: Final = 250
"""What a row that waits takes in memory besides its data."""


@dataclass(slots=True)
class Changes:
    """What waits to be written.

    Attributes:
        entries: New rows by id, of each kind that was read or written.
        files: New rows of files, by id.
        used: Ids of rows that were read.
        damaged: Ids of rows whose checksum was wrong.
        hits: How many entries were asked for and there.
        misses: How many were asked for and not there.
        size: About how many bytes this takes in memory.
    """

    entries: dict[Kind, dict[int, bytes]] = field(default_factory=dict)
    files: dict[int, bytes] = field(default_factory=dict)
    used: "array[int]" = field(default_factory=lambda: array("q"))
    damaged: set[int] = field(default_factory=set)
    hits: int = 0
    misses: int = 0
    size: int = 0

    @property
    def has_rows(self) -> bool:
        """Whether there is anything to keep, and not only something to count."""
        return bool(self.files) or any(self.entries.values())

    def rows_of(self, kind: Kind) -> dict[int, bytes]:
        """Return the rows of a kind, to read from or add to."""
        return self.entries.setdefault(kind, {})


def write_changes(connection: "sqlite3.Connection", changes: Changes, now_ns: int) -> None:
    """Write ``changes`` in the transaction that is open."""
    day = now_ns // DAY_NS
    delete_entries(connection, changes.damaged)
    for kind, rows in changes.entries.items():
        insert_entries(connection, rows, _kind_number(connection, kind, day), day)
    touch_entries(connection, changes.used, day)
    replace_files(connection, changes.files, day)
    _add(connection, {"hits": changes.hits, "misses": changes.misses})


def _add(connection: "sqlite3.Connection", counts: Mapping[str, int]) -> None:
    connection.executemany(
        "INSERT INTO counters VALUES (?, ?) ON CONFLICT DO UPDATE SET value = value + excluded.value",
        counts.items(),
    )


def _kind_number(connection: "sqlite3.Connection", kind: Kind, day: int) -> int:
    """Return the number of a kind, which it gets on first use, and write down that it was used."""
    query = "SELECT number FROM kinds WHERE name = ? AND version = ?"
    row = connection.execute(query, kind).fetchone()
    if row is None:
        insert = "INSERT INTO kinds (name, version, used) VALUES (?, ?, ?) RETURNING number"
        return int(connection.execute(insert, (*kind, day)).fetchone()[0])
    connection.execute(
        "UPDATE kinds SET used = ? WHERE number = ? AND used < ?", (day, row[0], day)
    )
    return int(row[0])
