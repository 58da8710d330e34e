"""Rows of the index: how they are keyed and checked, read and written in few statements."""

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import islice
from struct import Struct
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from aggregate.project.index.kinds import Kind

if TYPE_CHECKING:
    import sqlite3


DAY_NS: Final = 86_400_000_000_000
"""Use is written down by the day, so that reading seldom writes."""
_CHUNK: Final = 1_000
"""Keys of one statement: from some hundreds on it no longer matters."""
_CHECK_BYTES: Final = 16
_LEADS: Final = Struct(">q24x")
"""The first 64 of a key's 256 bits."""

_WHOLE: Final = (
    "FROM entries e JOIN payloads p USING (place) WHERE typeof(p.data) = 'blob' AND e.id IN "
)
"""Rows with their payload; on a damaged page it can be anything else."""


class Seal(NamedTuple):
    """What tells the rows of one kind from those of others.

    Attributes:
        salt: In front of what is summed.
        mask: Of the rows' keys.
    """

    salt: bytes
    mask: int

    @classmethod
    def of(cls, kind: Kind) -> "Seal":
        """Return the seal of a kind."""
        salt = sha256(f"{kind.name}\0{kind.version}".encode()).digest()
        return cls(salt, int.from_bytes(salt[:8], "big", signed=True))

    def ids(self, keys: Iterable[bytes]) -> list[int]:
        """Return the keys of rows, 64 bits; that the rest of a key is the same too is what the checksum says."""
        mask = self.mask
        return [lead ^ mask for (lead,) in _LEADS.iter_unpack(b"".join(keys))]

    def close(self, key: bytes, payload: bytes) -> bytes:
        """Return ``payload`` behind a checksum over itself, the whole key and the kind."""
        return sha256(self.salt + key + payload).digest()[:_CHECK_BYTES] + payload

    def open(self, key: bytes, data: bytes) -> bytes | None:
        """Return the payload, or ``None`` if ``data`` is damaged or belongs to another key."""
        check = sha256(self.salt + key)
        # A question opens megabytes, so no copy of them is made for the check.
        check.update(memoryview(data)[_CHECK_BYTES:])
        return data[_CHECK_BYTES:] if data.startswith(check.digest()[:_CHECK_BYTES]) else None


def select_entries(connection: "sqlite3.Connection", ids: Iterable[int]) -> dict[int, bytes]:
    """Return the rows that are there, by id."""
    return dict(_select(connection, f"SELECT e.id, p.data {_WHOLE}", ids))


def select_files(connection: "sqlite3.Connection", ids: Iterable[int]) -> dict[int, bytes]:
    """Return the rows of files that are there, by id."""
    query = "SELECT id, data FROM files WHERE typeof(data) = 'blob' AND id IN "
    return dict(_select(connection, query, ids))


def insert_entries(
    connection: "sqlite3.Connection", rows: Mapping[int, bytes], kind: int, day: int
) -> None:
    """Write the rows of a kind that are not there yet; what is there under the same id stays."""
    there = {row[0] for row in _select(connection, f"SELECT e.id {_WHOLE}", rows)}
    new = [(row_id, data) for row_id, data in rows.items() if row_id not in there]
    last = connection.execute("SELECT max(place) FROM payloads").fetchone()[0] or 0
    connection.executemany(
        "INSERT INTO payloads VALUES (?, ?)",
        ((place, data) for place, (_, data) in enumerate(new, last + 1)),
    )
    directory = [(row_id, kind, day, place) for place, (row_id, _) in enumerate(new, last + 1)]
    directory.sort()
    # What is there without its payload, which only damage can do, is replaced.
    connection.executemany("INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?)", directory)


def delete_entries(connection: "sqlite3.Connection", ids: Iterable[int]) -> None:
    """Delete rows."""
    for chunk, marks in _chunks(ids):
        places = f"SELECT place FROM entries WHERE id IN {marks}"
        connection.execute(f"DELETE FROM payloads WHERE place IN ({places})", chunk)
        connection.execute(f"DELETE FROM entries WHERE id IN {marks}", chunk)


def touch_entries(connection: "sqlite3.Connection", ids: Iterable[int], day: int) -> None:
    """Write down that rows were used on ``day``; only those change that were last used before."""
    for chunk, marks in _chunks(ids):
        update = f"UPDATE entries SET used = ? WHERE used < ? AND id IN {marks}"
        connection.execute(update, [day, day, *chunk])


def replace_files(connection: "sqlite3.Connection", rows: Mapping[int, bytes], day: int) -> None:
    """Write rows of files, in place of older ones."""
    connection.executemany(
        "INSERT OR REPLACE INTO files VALUES (?, ?, ?)",
        sorted((row_id, day, data) for row_id, data in rows.items()),
    )


def _select(
    connection: "sqlite3.Connection", query: str, ids: Iterable[int]
) -> Iterator[tuple[Any, ...]]:
    for chunk, marks in _chunks(ids):
        yield from connection.execute(query + marks, chunk).fetchall()


def _chunks(ids: Iterable[int]) -> Iterator[tuple[Sequence[int], str]]:
    rest = iter(sorted(ids))
    while chunk := list(islice(rest, _CHUNK)):
        yield chunk, f"({','.join('?' * len(chunk))})"


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
