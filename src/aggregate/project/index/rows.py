"""Read, write and delete rows of the index, with checksums.

The version of a kind of entries is a hash of the code that computes their payloads.
"""

import os
import sys
import time
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, partial
from hashlib import sha256
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from struct import Struct
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    import sqlite3

_PACKAGE = Path(__file__).parents[2]
_SOURCES = (".py", ".scm", ".json", ".toml", ".txt", ".gitattributes")
_BINARIES = (".so", ".pyd", ".dylib")
TOKEN_CODE: Final = ("base.errors", "base.tokens")  # modules hashed into the version of counts
# Counting libraries, if installed. Our code has the vocabulary's hash.
TOKEN_LIBRARIES: Final = ("re2", "tiktoken", "toktok")
_DAY_NS: Final = 86_400_000_000_000  # use is recorded by the day, to write rarely when reading
_CHUNK: Final = 1_000  # keys of one statement; more than some hundreds bring nothing
_CHECK_BYTES: Final = 16
_LEADS: Final = Struct(">q24x")  # the first 64 of a key's 256 bits
_USED_KIND: Final = (
    "INSERT INTO kinds (name, version, used) VALUES (?, ?, ?)"
    " ON CONFLICT DO UPDATE SET used = max(used, excluded.used) RETURNING number"
)
_TARGET: Final = 0.9  # share of the limit after trimming, to spare the next runs a trim
_MOST_ROWS: Final = 5_000  # deleted per transaction; others write in between
_PAGES: Final = 2_000  # returned to the file system at once
_SECONDS: Final = 1.0  # the rest is left to the next run
_STEPS: Final = 100_000  # SQLite instructions between checks of the time
# Delete first rows of outdated versions of a kind, then the least recently used ones.
_NEXT: Final = (
    # In storage order, so that whole pages become free.
    "SELECT id FROM entries WHERE kind IN (SELECT number FROM kinds old WHERE EXISTS (SELECT 1 FROM kinds new"
    " WHERE new.name = old.name AND new.used > old.used)) ORDER BY place LIMIT ?",
    "SELECT id FROM entries WHERE used <= (SELECT min(used) FROM entries) ORDER BY place LIMIT ?",
)


class Kind(NamedTuple):
    name: str
    version: str


@cache
def code_version(modules: tuple[str, ...], *, installed: tuple[str, ...] = ()) -> str:
    # The interpreter's minor version implies its Unicode tables.
    digest = sha256(f"{sys.implementation.cache_tag}".encode())
    try:
        for module in modules:
            digest.update(_source_digest(module))
        for name in installed:
            digest.update(_installed_identity(name).encode())
    except (OSError, ImportError, ValueError):
        return ""
    return digest.hexdigest()[:32]


@cache
def token_version() -> str:
    """Return the version of token counts: of our code, and of the counting libraries if installed."""
    installed = tuple(name for name in TOKEN_LIBRARIES if find_spec(name))
    return code_version(TOKEN_CODE, installed=installed)


@cache
def _source_digest(module: str) -> bytes:
    base = _PACKAGE.joinpath(*module.split("."))
    files = [base.with_name(f"{base.name}.py")]
    if base.is_dir():
        files = sorted(path for path in base.rglob("*") if path.name.endswith(_SOURCES))
    digest = sha256()
    for path in files:
        data = path.read_bytes()
        digest.update(f"{path.relative_to(_PACKAGE).as_posix()}\0{len(data)}\0".encode())
        digest.update(data)
    return digest.digest()


@cache
def _installed_identity(name: str) -> str:
    """Return a package's version, with its binaries' size and time."""
    spec = find_spec(name)
    if spec is None or not spec.origin:
        raise ImportError(name)
    origin = Path(spec.origin)
    folder = origin.parent if spec.submodule_search_locations else None
    site = str((folder or origin).parent)
    parts = [entry for entry in _distributions(site) if entry.startswith(f"{name}-")]
    binaries = sorted(os.scandir(folder), key=lambda entry: entry.name) if folder else [origin]
    for entry in binaries:
        if entry.name.endswith(_BINARIES):
            info = entry.stat()
            parts.append(f"{entry.name}:{info.st_size}:{info.st_mtime_ns}")
    if not parts:
        raise ImportError(name)
    return "\0".join((name, *parts))


@cache
def _distributions(site: str) -> tuple[str, ...]:
    return tuple(
        sorted(entry.name for entry in os.scandir(site) if entry.name.endswith(".dist-info"))
    )


class Seal(NamedTuple):
    """Makes checksums and keys of one kind of entries differ from those of other kinds."""

    salt: bytes
    mask: int

    @classmethod
    @cache
    def of(cls, kind: Kind) -> "Seal":
        salt = sha256(f"{kind.name}\0{kind.version}".encode()).digest()
        return cls(salt, int.from_bytes(salt[:8], "big", signed=True))

    def ids(self, keys: Iterable[bytes]) -> list[int]:
        mask = self.mask
        return [lead ^ mask for (lead,) in _LEADS.iter_unpack(b"".join(keys))]

    def close(self, key: bytes, payload: bytes) -> bytes:
        return sha256(self.salt + key + payload).digest()[:_CHECK_BYTES] + payload

    def rows(self, payloads: Mapping[bytes, bytes]) -> dict[int, bytes]:
        """Return payloads with checksums by id; many at once take a third of the time."""
        sealed = map(self.close, payloads.keys(), payloads.values())
        return dict(zip(self.ids(payloads), sealed, strict=True))

    def open(self, key: bytes, data: bytes) -> bytes | None:
        check = sha256(self.salt + key)
        # Without copying: a question opens megabytes.
        check.update(memoryview(data)[_CHECK_BYTES:])
        return data[_CHECK_BYTES:] if data.startswith(check.digest()[:_CHECK_BYTES]) else None


@dataclass(slots=True)
class PendingWrites:
    rows: dict[Kind, dict[bytes, bytes]] = field(default_factory=dict)  # payloads by key
    used: "array[int]" = field(default_factory=lambda: array("q"))  # ids of rows
    damaged: set[int] = field(default_factory=set)
    hits: int = 0
    misses: int = 0
    size: int = 0


def select_rows(connection: "sqlite3.Connection", ids: Iterable[int]) -> dict[int, object]:
    query = "SELECT e.id, p.data FROM entries e JOIN payloads p USING (place) WHERE e.id IN "
    rows: dict[int, object] = {}
    for chunk, marks in _chunks(ids):
        rows.update(connection.execute(query + marks, chunk))
    return rows


def delete_rows(connection: "sqlite3.Connection", ids: Iterable[int]) -> None:
    for chunk, marks in _chunks(ids):
        payloads = f"SELECT place FROM entries WHERE id IN {marks}"
        connection.execute(f"DELETE FROM payloads WHERE place IN ({payloads})", chunk)
        connection.execute(f"DELETE FROM entries WHERE id IN {marks}", chunk)


def write_changes(
    connection: "sqlite3.Connection",
    changes: PendingWrites,
    sealed: Mapping[Kind, Mapping[int, bytes]],
    now_ns: int,
) -> None:
    day = now_ns // _DAY_NS
    delete_rows(connection, changes.damaged)
    is_new = connection.execute("SELECT 1 FROM entries LIMIT 1").fetchone() is None
    for kind, rows in sealed.items():
        number = connection.execute(_USED_KIND, (*kind, day)).fetchone()[0]
        if not is_new:
            delete_rows(connection, rows)
        first = (connection.execute("SELECT max(place) FROM payloads").fetchone()[0] or 0) + 1
        payloads = enumerate(rows.values(), first)
        connection.executemany("INSERT INTO payloads VALUES (?, ?)", payloads)
        entries = sorted((row_id, number, day, index) for index, row_id in enumerate(rows, first))
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


def in_transaction(
    connection: "sqlite3.Connection", change: Callable[["sqlite3.Connection"], None]
) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        change(connection)
        connection.execute("COMMIT")
    except BaseException:
        import sqlite3  # loaded already by the owner of the connection

        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise


def trim(connection: "sqlite3.Connection", limit: int) -> None:
    if _bytes(connection) <= limit:
        return
    end = time.monotonic() + _SECONDS
    # A scan of a damaged file could loop forever.
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
    """Return the rows to delete from a too large index.

    Their number follows from the average size of a row.
    """
    free = _pragma(connection, "freelist_count") * _pragma(connection, "page_size")
    used = _bytes(connection) - free
    surplus = used - limit * _TARGET
    if surplus <= 0:
        return []
    rows = connection.execute("SELECT count(*) FROM entries").fetchone()[0]
    count = max(1, min(int(surplus * rows / used), _MOST_ROWS))
    for query in _NEXT:
        ids = [row[0] for row in connection.execute(query, (count,))]
        if ids:
            return ids
    return []


def _bytes(connection: "sqlite3.Connection") -> int:
    return _pragma(connection, "page_count") * _pragma(connection, "page_size")


def _pragma(connection: "sqlite3.Connection", name: str) -> int:
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])
