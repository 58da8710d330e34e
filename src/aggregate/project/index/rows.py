"""Rows of the index, keyed, checked, read and written in few statements; among them the states of files (rule I-4)."""

import os
import stat
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import islice
from struct import Struct
from typing import TYPE_CHECKING, Final, NamedTuple

from aggregate.project.index.kinds import Kind

if TYPE_CHECKING:
    import sqlite3

_DAY_NS: Final = 86_400_000_000_000  # Use is written down by the day, so that reading seldom writes
_CHUNK: Final = 1_000  # Keys of one statement: from some hundreds on it no longer matters
_CHECK_BYTES: Final = 16
_LEADS: Final = Struct(">q24x")  # The first 64 of a key's 256 bits

_USED_KIND: Final = (
    "INSERT INTO kinds (name, version, used) VALUES (?, ?, ?)"
    " ON CONFLICT DO UPDATE SET used = max(used, excluded.used) RETURNING number"
)


class Seal(NamedTuple):
    """What tells the rows of one kind from those of others: what is summed before them, and a mask of their keys."""

    salt: bytes
    mask: int

    @classmethod
    def of(cls, kind: Kind) -> "Seal":
        salt = sha256(f"{kind.name}\0{kind.version}".encode()).digest()
        return cls(salt, int.from_bytes(salt[:8], "big", signed=True))

    def ids(self, keys: Iterable[bytes]) -> list[int]:
        mask = self.mask
        return [lead ^ mask for (lead,) in _LEADS.iter_unpack(b"".join(keys))]

    def close(self, key: bytes, payload: bytes) -> bytes:
        return sha256(self.salt + key + payload).digest()[:_CHECK_BYTES] + payload

    def open(self, key: bytes, data: bytes) -> bytes | None:
        check = sha256(self.salt + key)
        # A question opens megabytes, so no copy of them is made for the check.
        check.update(memoryview(data)[_CHECK_BYTES:])
        return data[_CHECK_BYTES:] if data.startswith(check.digest()[:_CHECK_BYTES]) else None


@dataclass(slots=True)
class Changes:
    rows: dict[Kind, dict[int, bytes]] = field(default_factory=dict)
    used: "array[int]" = field(default_factory=lambda: array("q"))
    damaged: set[int] = field(default_factory=set)
    hits: int = 0
    misses: int = 0
    size: int = 0


def select_rows(connection: "sqlite3.Connection", ids: Iterable[int]) -> dict[int, bytes]:
    query = "SELECT e.id, p.data FROM entries e JOIN payloads p USING (place) WHERE e.id IN "
    rows: dict[int, bytes] = {}
    for chunk, marks in _chunks(ids):
        rows.update(connection.execute(query + marks, chunk))
    return rows


def delete_rows(connection: "sqlite3.Connection", ids: Iterable[int]) -> None:
    for chunk, marks in _chunks(ids):
        places = f"SELECT place FROM entries WHERE id IN {marks}"
        connection.execute(f"DELETE FROM payloads WHERE place IN ({places})", chunk)
        connection.execute(f"DELETE FROM entries WHERE id IN {marks}", chunk)


def write_changes(connection: "sqlite3.Connection", changes: Changes, now_ns: int) -> None:
    day = now_ns // _DAY_NS
    delete_rows(connection, changes.damaged)
    for kind, rows in changes.rows.items():
        number = connection.execute(_USED_KIND, (*kind, day)).fetchone()[0]
        delete_rows(connection, rows)
        first = (connection.execute("SELECT max(place) FROM payloads").fetchone()[0] or 0) + 1
        payloads = enumerate(rows.values(), first)
        connection.executemany("INSERT INTO payloads VALUES (?, ?)", payloads)
        entries = sorted((row_id, number, day, place) for place, row_id in enumerate(rows, first))
        connection.executemany("INSERT INTO entries VALUES (?, ?, ?, ?)", entries)
    for chunk, marks in _chunks(changes.used):
        update = f"UPDATE entries SET used = ? WHERE used < ? AND id IN {marks}"
        connection.execute(update, [day, day, *chunk])
    connection.executemany(
        "INSERT INTO counters VALUES (?, ?) ON CONFLICT DO UPDATE SET value = value + excluded.value",
        (("hits", changes.hits), ("misses", changes.misses)),
    )


def _chunks(ids: Iterable[int]) -> Iterator[tuple[Sequence[int], str]]:
    rest = iter(sorted(ids))
    while chunk := list(islice(rest, _CHUNK)):
        yield chunk, f"({','.join('?' * len(chunk))})"


# A file that was changed so shortly before it was read may change again without a new time: clocks of file systems
# tick in steps of up to two seconds.
RACY_NS: Final = 2_000_000_000
_SEEN: Final = Struct("<q")
_DESCRIBED: Final = 5  # The first fields of a state, by which a file is known again


class FileState(NamedTuple):
    device: int
    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int  # when content or description was changed last; no program can set it
    seen_ns: int  # when it was looked at, not later than that
    content_hash: bytes | None = None  # SHA-256 of the content, ``None`` if it has to be read

    @property
    def is_settled(self) -> bool:
        """Whether its times would show a later change: it was not changed shortly before it was seen."""
        return max(self.mtime_ns, self.ctime_ns) <= self.seen_ns - RACY_NS

    def still_holds(self, now: "FileState") -> bool:
        """Tell whether the file, as it is ``now``, surely holds what it held when this was seen (rule I-4)."""
        return self.is_settled and self[:_DESCRIBED] == now[:_DESCRIBED]


def file_state(info: os.stat_result, *, seen_ns: int) -> FileState:
    """Return the state of an open file.

    Args:
        info: From its descriptor, before the content is read.
        seen_ns: Unix time in nanoseconds from before ``info`` was asked for. A later change of the content then shows
            in the file's times, or falls into the two seconds in which no state is recorded.
    """
    return FileState(
        info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns, seen_ns
    )


def look_at(path: str, *, seen_ns: int) -> FileState | None:
    try:
        info = os.stat(path)  # noqa: PTH116 - a str is not made a Path: this runs for each file
    except (OSError, ValueError):
        return None
    return file_state(info, seen_ns=seen_ns) if stat.S_ISREG(info.st_mode) else None


def describe(states: Sequence[FileState | None], *, settled: bool = False) -> bytes:
    """Return what files are known again by, ``b""`` where one is none, or not ``settled`` and that is asked for."""
    parts: list[bytes] = []
    for state in states:
        if state is None or (settled and not state.is_settled):
            return b""
        parts.append(b"%d %d %d %d %d\n" % state[:_DESCRIBED])
    return b"".join(parts)


def state_key(state: FileState) -> bytes:
    return sha256(b"%d %d" % (state.device, state.inode)).digest()


def state_row(states: Sequence[FileState], kept: bytes) -> bytes | None:
    """Return a row that keeps something of files while they are as seen; nothing where times prove nothing."""
    described = describe(states, settled=True)
    return described and described + _SEEN.pack(max(state.seen_ns for state in states)) + kept


def kept_of(row: bytes | None, states: Sequence[FileState | None], *, now_ns: int) -> bytes | None:
    """Return what a row keeps if its files are unchanged and the clock has not run backwards, else ``None``."""
    described = describe(states)
    if row is None or not described or not row.startswith(described):
        return None
    (seen_ns,) = _SEEN.unpack_from(row, len(described))
    return row[len(described) + _SEEN.size :] if seen_ns <= now_ns else None
