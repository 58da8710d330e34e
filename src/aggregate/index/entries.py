"""Rows of the index: how they are keyed and checked, read and written in few statements."""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import islice
from typing import Any, Final, NamedTuple

from aggregate.index.file_states import FileRow
from aggregate.index.kinds import Kind, stamp

_CHUNK: Final = 1_000
"""Keys of one statement: from some hundreds on it no longer matters."""
_CHECK_BYTES: Final = 16


class Entry(NamedTuple):
    """A row to be written: its kind, and a payload behind its checksum."""

    kind: Kind
    data: bytes


def entry_id(kind: Kind, key: bytes) -> int:
    """Return the key of a row: 64 bits; that the rest is the same too is what the checksum says."""
    return int.from_bytes(key[:8], "big", signed=True) ^ int.from_bytes(
        stamp(kind)[:8], "big", signed=True
    )


def sealed(kind: Kind, key: bytes, payload: bytes) -> bytes:
    """Return ``payload`` behind a checksum over itself, the whole key and the kind."""
    return _checksum(kind, key, payload) + payload


def unsealed(kind: Kind, key: bytes, data: bytes) -> bytes | None:
    """Return the payload, or ``None`` if ``data`` is damaged or belongs to another key."""
    payload = data[_CHECK_BYTES:]
    return payload if data[:_CHECK_BYTES] == _checksum(kind, key, payload) else None


def select_entries(connection: sqlite3.Connection, ids: Iterable[int]) -> dict[int, bytes]:
    """Return the rows that are there, by id."""
    query = "SELECT e.id, p.data FROM entries e JOIN payloads p USING (place) WHERE e.id IN "
    return {
        row_id: data
        for row_id, data in _select(connection, query, ids)
        if isinstance(data, bytes)  # a damaged page can hold anything
    }


def select_files(connection: sqlite3.Connection, ids: Iterable[int]) -> dict[int, FileRow]:
    """Return the rows of files that are there, by id."""
    query = "SELECT id, seen, data FROM files WHERE id IN "
    return {
        row_id: FileRow(row_id, seen, data)
        for row_id, seen, data in _select(connection, query, ids)
        if isinstance(data, bytes) and isinstance(seen, int)
    }


def insert_entries(
    connection: sqlite3.Connection, rows: Mapping[int, Entry], numbers: Mapping[Kind, int], day: int
) -> None:
    """Write the rows that are not there yet; what is there under the same id stays."""
    known = {row[0] for row in _select(connection, "SELECT id FROM entries WHERE id IN ", rows)}
    new = [(row_id, entry) for row_id, entry in rows.items() if row_id not in known]
    last = connection.execute("SELECT max(place) FROM payloads").fetchone()[0] or 0
    connection.executemany(
        "INSERT INTO payloads VALUES (?, ?)",
        ((place, entry.data) for place, (_, entry) in enumerate(new, last + 1)),
    )
    directory = [
        (row_id, numbers[entry.kind], day, len(entry.data), place)
        for place, (row_id, entry) in enumerate(new, last + 1)
    ]
    connection.executemany("INSERT INTO entries VALUES (?, ?, ?, ?, ?)", sorted(directory))


def delete_entries(connection: sqlite3.Connection, ids: Iterable[int]) -> None:
    """Delete rows."""
    for chunk, marks in _chunks(ids):
        places = f"SELECT place FROM entries WHERE id IN {marks}"
        connection.execute(f"DELETE FROM payloads WHERE place IN ({places})", chunk)
        connection.execute(f"DELETE FROM entries WHERE id IN {marks}", chunk)


def touch_entries(connection: sqlite3.Connection, ids: Iterable[int], day: int) -> None:
    """Write down that rows were used on ``day``; only those change that were last used before."""
    for chunk, marks in _chunks(ids):
        update = f"UPDATE entries SET used = ? WHERE used < ? AND id IN {marks}"
        connection.execute(update, [day, day, *chunk])


def replace_files(connection: sqlite3.Connection, rows: Iterable[FileRow]) -> None:
    """Write rows of files, in place of older ones."""
    connection.executemany("INSERT OR REPLACE INTO files VALUES (?, ?, ?)", sorted(rows))


def _checksum(kind: Kind, key: bytes, payload: bytes) -> bytes:
    return sha256(stamp(kind) + key + payload).digest()[:_CHECK_BYTES]


def _select(
    connection: sqlite3.Connection, query: str, ids: Iterable[int]
) -> Iterator[tuple[Any, ...]]:
    for chunk, marks in _chunks(ids):
        yield from connection.execute(query + marks, chunk).fetchall()


def _chunks(ids: Iterable[int]) -> Iterator[tuple[Sequence[int], str]]:
    """Yield portions of ``ids`` with the marks that stand for them in a statement."""
    rest = iter(sorted(ids))
    while chunk := list(islice(rest, _CHUNK)):
        yield chunk, f"({','.join('?' * len(chunk))})"
