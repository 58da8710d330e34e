"""The index as the rest of the program sees it, and where it lies (rules I-1 and I-2)."""

import atexit
import os
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Final, Self

from aggregate.base.disk import CACHE_VARIABLE, cache_folder
from aggregate.base.errors import ConfigError
from aggregate.project.index.entries import (
    ROW_BYTES,
    Changes,
    Seal,
    select_entries,
    select_files,
    write_changes,
)
from aggregate.project.index.file_states import (
    FileState,
    describe_files,
    file_row,
    group_id,
    group_row,
    kept_of,
    look_at,
)
from aggregate.project.index.kinds import Kind

if TYPE_CHECKING:
    from aggregate.project.index.connection import IndexConnection


LIMIT_VARIABLE: Final = "AGGREGATE_CACHE_LIMIT"
"""The environment variable with the most bytes that the index may have on the disk."""
DEFAULT_LIMIT: Final = "1GB"
INDEX_FOLDER: Final = "aggregate-index"
"""Below the cache folder, and for the index alone: it is moved and removed as a whole."""
INDEX_FILE: Final = "index.sqlite"
_SIZE: Final = re.compile(r"(\d{1,15}(?:\.\d{1,9})?)\s*([kmgt]?)(i?)b?", re.IGNORECASE | re.ASCII)
_POWERS: Final = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}


def index_path() -> Path | None:
    """Return the path of the index; nothing is made. ``None`` where the user has no home folder.

    Raises:
        ConfigError: ``AGGREGATE_CACHE_DIR`` is a relative path.
    """
    folder = cache_folder()
    return folder / INDEX_FOLDER / INDEX_FILE if folder else None


def check_variable() -> None:
    """Make sure that the environment names a usable place, if it names one.

    Raises:
        ConfigError: ``AGGREGATE_CACHE_DIR`` is a relative path.
    """
    if os.environ.get(CACHE_VARIABLE):
        cache_folder()


def byte_limit() -> int:
    """Return the most bytes that the index may have.

    Raises:
        ConfigError: ``AGGREGATE_CACHE_LIMIT`` is no size.
    """
    text = os.environ.get(LIMIT_VARIABLE, "").strip() or DEFAULT_LIMIT
    size = _SIZE.fullmatch(text)
    if size is None:
        raise ConfigError(
            f'{LIMIT_VARIABLE} is "{text}", which is no size: write bytes, or a number with a unit such as 500MB or 2g'
        )
    number, unit, binary = size.groups()
    return int(float(number) * (1024 if binary else 1000) ** _POWERS[unit.lower()])


_PENDING_BYTES: Final = 16_000_000
"""What is held back until ``flush``; a project with more is written in portions, so that memory stays bounded."""
_MOST_BYTES: Final = 8_000_000
"""Of one entry."""
_PORTION: Final = 1_000
"""Rows that are in memory twice while they are checked."""


def open_index(*, use: bool = True, verify: bool = False) -> "Index":
    """Return the user's index, as the environment says where it lies; nothing is opened or made yet.

    Args:
        use: Whether there is to be one.
        verify: Whether files have to be read to be known.

    Raises:
        ConfigError: A variable of the environment is malformed.
    """
    limit = byte_limit()
    check_variable()
    return Index(index_path if use and limit else None, limit=limit, verify=verify)


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
        """Take the index at ``path``.

        Args:
            path: The SQLite file, in a folder of its own, or a function that finds it on first use; ``None`` for an
                index that keeps nothing.
            limit: The most bytes that it may have on the disk.
            verify: Whether no file is taken as unchanged, so that all are read.
            now: The clock, in nanoseconds of Unix time.
        """
        self._find_path = path if callable(path) else lambda: path
        self._limit = limit
        self._verify = verify
        self._now = now
        self._changes = Changes()
        self._lock = RLock()

    @cached_property
    def _file(self) -> "IndexConnection":
        # SQLite takes 6 ms to load: files in full whose tokens nobody asks for do without.
        from aggregate.project.index.connection import IndexConnection

        return IndexConnection(self._find_path())

    def __enter__(self) -> Self:
        """Return the index, which is flushed where the ``with`` ends."""
        return self

    def __exit__(self, *_: object) -> None:
        """Write what was put, also where an error or an interruption ends the work: the next run goes on there."""
        self.flush()

    @property
    def warning(self) -> str:
        """Why the index was replaced or is not used, in one sentence; ``""`` while all is well."""
        return self._file.warning if "_file" in self.__dict__ else ""

    @property
    def is_used(self) -> bool:
        """Whether it keeps anything at all."""
        return self._file.path is not None

    def known(self, paths: Sequence[str]) -> list[FileState | None]:
        """Look at files and return the state of each, with the hash of its content if it is known to be unchanged.

        Where there is no regular file it is ``None``. Ask for some thousand at a time: each takes about 400 bytes.
        """
        seen_ns = self._now()
        find = self._find_files if self.is_used and not self._verify else lambda _: {}
        states: list[FileState | None] = []
        for start in range(0, len(paths), _PORTION):
            states += look_at(paths[start : start + _PORTION], find, seen_ns=seen_ns)
        return states

    def remember(self, state: FileState, content_hash: bytes) -> None:
        """Note the SHA-256 of what was read from a file.

        Args:
            state: From ``file_state`` with the descriptor that was read from, or from ``known`` if that describes the
                descriptor just as well. A file that was changed just before is not noted.
            content_hash: The 32 bytes.
        """
        if self.is_used and (row := file_row(state, content_hash)):
            with self._lock:
                self._changes.files[row[0]] = row[1]
                self._count_waiting(len(row[1]))

    def look_at_groups(self, groups: Sequence[tuple[bytes, Sequence[str]]]) -> list[bytes | None]:
        """Look at groups of files; return what was kept of each, if all of its files are known to be unchanged.

        Args:
            groups: Of each the SHA-256 that names it, and its files' paths.
        """
        now_ns = self._now()
        rows: Mapping[int, bytes] = {}
        if self.is_used and not self._verify:
            rows = self._find_files([group_id(key) for key, _ in groups])
        return [
            kept_of(row, key, describe_files(paths), now_ns=now_ns)
            if (row := rows.get(group_id(key)))
            else None
            for key, paths in groups
        ]

    def remember_group(self, key: bytes, states: Sequence[FileState], kept: bytes) -> None:
        """Keep something of a group of files for as long as these are unchanged, unless one was changed just before.

        Args:
            key: As ``look_at_groups`` takes it.
            states: Of its files, in order, from before they were read.
            kept: What to keep.
        """
        if self.is_used and (row := group_row(key, states, kept)):
            with self._lock:
                self._changes.files[group_id(key)] = row
                self._count_waiting(len(row))

    def get_many(self, kind: Kind, keys: Sequence[bytes]) -> list[bytes | None]:
        """Return what is kept of ``kind`` under each key, a SHA-256; ``None`` where there is nothing."""
        if not self.is_used or not kind.version:
            return [None] * len(keys)
        results: list[bytes | None] = []
        with self._lock:
            for start in range(0, len(keys), _PORTION):
                results += self._get_portion(kind, keys[start : start + _PORTION])
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
                if len(payload) <= _MOST_BYTES:
                    data = seal.close(key, payload)
                    self._changes.rows_of(kind)[seal.ids([key])[0]] = data
                    self._count_waiting(len(data))

    def derived(self, content_hash: bytes, kind: Kind, compute: Callable[[], bytes]) -> bytes:
        """Return what is kept of ``kind`` for a content, else what ``compute`` returns, which is kept."""
        return self.derived_many([content_hash], kind, lambda _: [compute()])[0]

    def derived_many(
        self,
        content_hashes: Sequence[bytes],
        kind: Kind,
        compute: Callable[[Sequence[int]], Iterable[bytes]],
    ) -> list[bytes]:
        """Return what is kept of ``kind`` for each content; what is missing is computed and kept.

        Args:
            content_hashes: SHA-256 of each content.
            kind: What to return.
            compute: Given the positions of contents that are missing, each content once, it returns theirs in order.
        """
        results = self.get_many(kind, content_hashes)
        missing: dict[bytes, int] = {}
        for position, result in enumerate(results):
            if result is None:
                missing.setdefault(content_hashes[position], position)
        computed = (
            dict(zip(missing, compute(list(missing.values())), strict=True)) if missing else {}
        )
        self.put_many(kind, computed.items())
        return [
            computed[content_hash] if result is None else result
            for content_hash, result in zip(content_hashes, results, strict=True)
        ]

    def flush(self) -> None:
        """Write what was put, noted and counted, in one transaction, and keep to the limit; call it behind the prompt.

        What cannot be written is forgotten: where others write for more than a second without a word, else with one
        ``warning``.
        """
        with self._lock:
            if self._write():
                from aggregate.project.index.trimming import (
                    trim,  # behind the prompt, and with SQLite
                )

                self._file.read(lambda connection: trim(connection, self._limit))

    def close(self) -> None:
        """Close the file; what was not flushed is forgotten."""
        with self._lock:
            self._changes = Changes()
            if "_file" in self.__dict__:
                self._file.close()

    def _find_files(self, ids: Sequence[int]) -> Mapping[int, bytes]:
        with self._lock:
            rows = self._file.read(lambda connection: select_files(connection, ids)) or {}
            waiting = self._changes.files
            return rows | {key: waiting[key] for key in waiting.keys() & ids} if waiting else rows

    def _get_portion(self, kind: Kind, keys: Sequence[bytes]) -> list[bytes | None]:
        seal = Seal.of(kind)
        ids = seal.ids(keys)
        rows = self._file.read(lambda connection: select_entries(connection, ids)) or {}
        changes = self._changes
        if waiting := changes.rows_of(kind):
            rows |= {key: waiting[key] for key in waiting.keys() & ids}
        results: list[bytes | None] = []
        for key, row_id in zip(keys, ids, strict=True):
            data = rows.get(row_id)
            payload = None if data is None else seal.open(key, data)
            results.append(payload)
            if payload is None and data is not None:
                changes.damaged.add(row_id)
        hits = len(keys) - results.count(None)
        changes.hits += hits
        changes.misses += len(keys) - hits
        changes.used.extend(rows)
        return results

    def _count_waiting(self, size: int) -> None:
        self._changes.size += size + ROW_BYTES
        if self._changes.size > _PENDING_BYTES:
            self._write()

    def _write(self) -> bool:
        changes, self._changes = self._changes, Changes()
        has_rows = changes.has_rows
        return (has_rows or changes.hits or changes.misses) > 0 and self._file.write(
            lambda connection: write_changes(connection, changes, self._now()), create=has_rows
        )


def user_index() -> Index:
    """Return the user's index; what is not flushed before is written when the process ends.

    Raises:
        ConfigError: A variable of the environment is malformed.
    """
    return _index_at(index_path(), byte_limit())


@cache
def _index_at(path: Path | None, limit: int) -> Index:
    index = Index(path if limit else None, limit=limit)
    atexit.register(index.flush)
    return index
