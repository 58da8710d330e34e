"""What a process has to write into the index, in one transaction."""

import sqlite3
from array import array
from dataclasses import dataclass, field
from typing import Final

from aggregate.index.entries import (
    Entry,
    delete_entries,
    insert_entries,
    replace_files,
    touch_entries,
)
from aggregate.index.file_states import FileRow
from aggregate.index.kinds import Kind
from aggregate.index.trimming import DAY_NS

_ROW_BYTES: Final = 300
"""What a row that waits takes in memory besides its data."""


@dataclass(slots=True)
class Changes:
    """What waits to be written.

    Attributes:
        entries: New rows, by id.
        files: New rows of files, by id.
        used: Ids of rows that were read.
        kinds: Of the rows that are new or were read.
        damaged: Ids of rows whose checksum was wrong.
        hits: How many entries were asked for and there.
        misses: How many were asked for and not there.
        size: About how many bytes this takes in memory.
    """

    entries: dict[int, Entry] = field(default_factory=dict)
    files: dict[int, FileRow] = field(default_factory=dict)
    used: "array[int]" = field(default_factory=lambda: array("q"))
    kinds: set[Kind] = field(default_factory=set)
    damaged: set[int] = field(default_factory=set)
    hits: int = 0
    misses: int = 0
    size: int = 0

    def add_entry(self, row_id: int, entry: Entry) -> None:
        """Add a row."""
        self.entries[row_id] = entry
        self.kinds.add(entry.kind)
        self.size += len(entry.data) + _ROW_BYTES

    def add_file(self, row: FileRow) -> None:
        """Add a row of a file."""
        self.files[row.id] = row
        self.size += len(row.data) + _ROW_BYTES


def write_changes(connection: sqlite3.Connection, changes: Changes, now_ns: int) -> None:
    """Write ``changes`` in the transaction that is open."""
    day = now_ns // DAY_NS
    delete_entries(connection, changes.damaged)
    numbers = {kind: _kind_number(connection, kind, day) for kind in sorted(changes.kinds)}
    if changes.entries:
        insert_entries(connection, changes.entries, numbers, day)
    touch_entries(connection, changes.used, day)
    replace_files(connection, changes.files.values())
    counters = (("hits", changes.hits), ("misses", changes.misses))
    connection.executemany(
        "INSERT INTO counters VALUES (?, ?) ON CONFLICT DO UPDATE SET value = value + excluded.value",
        counters,
    )


def _kind_number(connection: sqlite3.Connection, kind: Kind, day: int) -> int:
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
