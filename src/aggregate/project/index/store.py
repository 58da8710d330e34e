"""The index as the rest of the program sees it, where it lies, and how it keeps to its limit (rules I-1 to I-3)."""

import atexit
import os
import re
import time
from collections.abc import Callable, Iterable, Sequence
from functools import cache, cached_property, partial
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Final, Self

from aggregate.base.disk.writing import CACHE_VARIABLE, cache_folder
from aggregate.base.errors import ConfigError
from aggregate.project.index.database import in_transaction
from aggregate.project.index.kinds import Kind
from aggregate.project.index.rows import (
    Changes,
    FileState,
    Seal,
    delete_rows,
    kept_of,
    look_at,
    select_rows,
    state_key,
    state_row,
    write_changes,
)

if TYPE_CHECKING:
    import sqlite3

    from aggregate.project.index.database import IndexFile

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


# The environment variable with the most bytes that the index may have on the disk.
LIMIT_VARIABLE: Final = "AGGREGATE_CACHE_LIMIT"
DEFAULT_LIMIT: Final = "1GB"
# Below the cache folder, and for the index alone: it is moved and removed as a whole.
INDEX_FOLDER: Final = "aggregate-index"
INDEX_FILE: Final = "index.sqlite"
_SIZE: Final = re.compile(r"(\d{1,15}(?:\.\d{1,9})?)\s*([kmgt]?)(i?)b?", re.IGNORECASE | re.ASCII)
_POWERS: Final = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
# What is held back until ``flush``; a project with more is written in portions, so that memory stays bounded.
_PENDING_BYTES: Final = 16_000_000
_MOST_BYTES: Final = 8_000_000  # Of one entry
_PORTION: Final = 1_000  # Rows that are in memory twice while they are checked
_ROW_BYTES: Final = 250  # What a row that waits takes in memory besides its data
_UNCHANGED: Final = Kind("unchanged", "1")  # What is kept of files as long as these are unchanged


def index_path() -> Path | None:
    folder = cache_folder()
    return folder / INDEX_FOLDER / INDEX_FILE if folder else None


def byte_limit() -> int:
    text = os.environ.get(LIMIT_VARIABLE, "").strip() or DEFAULT_LIMIT
    size = _SIZE.fullmatch(text)
    if size is None:
        raise ConfigError(
            f'{LIMIT_VARIABLE} is "{text}", which is no size: write bytes, or a number with a unit such as 500MB or 2g'
        )
    number, unit, binary = size.groups()
    return int(float(number) * (1024 if binary else 1000) ** _POWERS[unit.lower()])


def open_index(*, use: bool = True, verify: bool = False) -> "Index":
    limit = byte_limit()
    if os.environ.get(CACHE_VARIABLE):
        index_path()  # only to tell of a place that cannot be: finding the usual one waits until it is needed
    return Index(index_path if use and limit else None, limit=limit, verify=verify)


def user_index() -> "Index":
    return _index_at(index_path(), byte_limit())


@cache
def _index_at(path: Path | None, limit: int) -> "Index":
    index = Index(path if limit else None, limit=limit)
    atexit.register(index.flush)
    return index


class Index:
    """What was computed from files' contents, by content hash and kind; safe for several threads.

    One per process; a process that is forked opens the file for itself. Nothing is made or written before ``flush``,
    unless more waits than memory should hold. Whatever is wrong with the file costs time, never a wrong result and
    never an error.
    """

    def __init__(
        self,
        path: Path | Callable[[], Path | None] | None,
        *,
        limit: int,
        verify: bool = False,
        now: Callable[[], int] = time.time_ns,
    ) -> None:
        self._find_path = path if callable(path) else lambda: path
        self._limit = limit
        self._verify = verify
        self._now = now
        self._changes = Changes()
        self._lock = RLock()

    @cached_property
    def _file(self) -> "IndexFile | None":
        path = self._find_path()
        if path is None:
            return None
        # SQLite takes 6 ms to load: files in full whose tokens nobody asks for do without.
        from aggregate.project.index.database import IndexFile

        return IndexFile(path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.flush()

    @property
    def warning(self) -> str:
        file = self.__dict__.get("_file")
        return file.warning if file else ""

    @property
    def is_used(self) -> bool:
        return self._file is not None

    def known(self, paths: Sequence[str]) -> list[FileState | None]:
        """Look at files and return the state of each, with the hash of its content if it is known to be unchanged."""
        seen_ns = self._now()
        states = [look_at(path, seen_ns=seen_ns) for path in paths]
        files = [state for state in states if state]
        hashes = iter(self._unchanged([(state_key(state), [state]) for state in files], seen_ns))
        return [state and state._replace(content_hash=next(hashes)) for state in states]

    def remember(self, state: FileState, content_hash: bytes) -> None:
        self.remember_group(state_key(state), [state], content_hash)

    def look_at_groups(self, groups: Sequence[tuple[bytes, Sequence[str]]]) -> list[bytes | None]:
        """Look at groups of files; return what was kept of each, if all of its files are known to be unchanged."""
        seen_ns = self._now()
        return self._unchanged(
            [(key, [look_at(path, seen_ns=seen_ns) for path in paths]) for key, paths in groups],
            seen_ns,
        )

    def remember_group(self, key: bytes, states: Sequence[FileState], kept: bytes) -> None:
        """Keep something of a group of files for as long as these are unchanged, unless one was changed just before."""
        if row := state_row(states, kept):
            self.put_many(_UNCHANGED, [(key, row)])

    def get_many(self, kind: Kind, keys: Sequence[bytes]) -> list[bytes | None]:
        if self._file is None or not kind.version:
            return [None] * len(keys)
        results: list[bytes | None] = []
        with self._lock:
            for start in range(0, len(keys), _PORTION):
                results += self._get_portion(self._file, kind, keys[start : start + _PORTION])
        return results

    def put_many(self, kind: Kind, rows: Iterable[tuple[bytes, bytes]]) -> None:
        """Keep each payload under its key, a SHA-256, from the next ``flush`` on; very large ones are not kept.

        What equals a file's text is not to be put: the index holds no files (rule I-5).
        """
        if not self.is_used or not kind.version:
            return
        seal = Seal.of(kind)
        with self._lock:
            for key, payload in rows:
                if len(payload) > _MOST_BYTES:
                    continue
                data = seal.close(key, payload)
                self._changes.rows.setdefault(kind, {})[seal.ids([key])[0]] = data
                self._changes.size += len(data) + _ROW_BYTES
                if self._changes.size > _PENDING_BYTES:
                    self._write()

    def flush(self) -> None:
        """Write what was put, noted and counted, in one transaction, and keep to the limit; call it behind the prompt.

        What cannot be written is forgotten: where others write for more than a second without a word, else with one
        ``warning``.
        """
        with self._lock:
            if self._write() and self._file:
                # Behind the prompt, and with SQLite.

                self._file.read(lambda connection: trim(connection, self._limit))

    def close(self) -> None:
        with self._lock:
            self._changes = Changes()
            if file := self.__dict__.get("_file"):
                file.close()

    def _unchanged(
        self, groups: Sequence[tuple[bytes, Sequence[FileState | None]]], now_ns: int
    ) -> list[bytes | None]:
        if self._verify:
            return [None] * len(groups)
        rows = self.get_many(_UNCHANGED, [key for key, _ in groups])
        pairs = zip(rows, groups, strict=True)
        return [kept_of(row, states, now_ns=now_ns) for row, (_, states) in pairs]

    def _get_portion(
        self, file: "IndexFile", kind: Kind, keys: Sequence[bytes]
    ) -> list[bytes | None]:
        seal = Seal.of(kind)
        ids = seal.ids(keys)
        rows = file.read(lambda connection: select_rows(connection, ids)) or {}
        changes = self._changes
        if waiting := changes.rows.get(kind):
            rows |= {key: waiting[key] for key in waiting.keys() & ids}
        results: list[bytes | None] = []
        for key, row_id in zip(keys, ids, strict=True):
            data = rows.get(row_id)
            payload = seal.open(key, data) if isinstance(data, bytes) else None
            results.append(payload)
            if payload is None and data is not None:
                changes.damaged.add(row_id)
        hits = len(keys) - results.count(None)
        changes.hits += hits
        changes.misses += len(keys) - hits
        changes.used.extend(rows)
        return results

    def _write(self) -> bool:
        changes, self._changes = self._changes, Changes()
        if self._file is None or not (changes.rows or changes.hits or changes.misses):
            return False
        return self._file.write(
            lambda connection: write_changes(connection, changes, self._now()),
            create=bool(changes.rows),
        )
