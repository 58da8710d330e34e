"""The index as other packages use it, its location, and the recorded states of files."""

import atexit
import os
import re
import stat
import time
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from struct import Struct
from threading import RLock
from typing import TYPE_CHECKING, Final, NamedTuple, Self

from aggregate.base.disk.witnesses import State, described, is_settled, note
from aggregate.base.disk.writing import cache_folder
from aggregate.base.errors import ConfigError
from aggregate.project.index.rows import Kind, PendingWrites, Seal, select_rows, trim, write_changes

if TYPE_CHECKING:
    from aggregate.project.index.database import IndexFile

LIMIT_VARIABLE: Final = "AGGREGATE_CACHE_LIMIT"  # size on the disk
DEFAULT_LIMIT: Final = "1GB"
# In the cache folder, for the index alone: moved and removed as a whole.
INDEX_FOLDER: Final = "aggregate-index"
INDEX_FILE: Final = "index.sqlite"
_SIZE: Final = re.compile(r"(\d{1,15}(?:\.\d{1,9})?)\s*([kmgt]?)(i?)b?", re.IGNORECASE | re.ASCII)
_POWERS: Final = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
_PENDING_BYTES: Final = 16_000_000  # unwritten data; beyond, it is written before ``flush``
_MOST_BYTES: Final = 8_000_000  # of one entry
_PORTION: Final = 1_000  # rows per check, which holds them twice in memory
_ROW_BYTES: Final = 250  # memory of a pending row besides its data
_UNCHANGED: Final = Kind("unchanged", "2")  # data of files, valid while they are unchanged
_SEEN: Final = Struct("<qI")  # time of observation of a group, and size of its marks
_MARK: Final = b"%d %d %d %d %d "


def index_path() -> Path | None:
    folder = cache_folder()
    return folder / INDEX_FOLDER / INDEX_FILE if folder else None


def byte_limit() -> int:
    text = os.environ.get(LIMIT_VARIABLE, "").strip() or DEFAULT_LIMIT
    size = _SIZE.fullmatch(text)
    if size is None:
        raise ConfigError(
            f'{LIMIT_VARIABLE} is "{text}", which is not a size: use bytes, or a number with a unit such as 500MB or 2g'
        )
    number, unit, binary = size.groups()
    return int(float(number) * (1024 if binary else 1000) ** _POWERS[unit.lower()])


def look_at(path: str) -> State | None:
    """Return the present state of a regular file."""
    try:
        info = os.stat(path)  # noqa: PTH116 - no Path is built: runs for each file
    except (OSError, ValueError):
        return None
    return described(info) if stat.S_ISREG(info.st_mode) else None


def settled_mark(state: State | None, name: str = "", *, seen_ns: int) -> bytes:
    """Return a file's state at ``seen_ns`` as bytes (a mark).

    Returns ``b""`` if the file is missing or was changed just before: then its times may not show the next change.
    """
    return _mark(state, name) if state and is_settled(state, seen_ns) else b""


def _mark(state: State | None, name: str) -> bytes:
    # Names have no zero byte, which separates the marks of a group.
    return _MARK % state + name.encode(errors="surrogatepass") if state else b""


class GroupLook(NamedTuple):
    """Present states (marks) of a group's files, and stored data.

    Attributes:
        marks: Current mark of each file, ``b""`` if missing.
        kept: Data stored for the group.
        places: Index of each file in that data, ``-1`` if new or perhaps changed.
    """

    marks: list[bytes]
    kept: bytes = b""
    places: Sequence[int] = ()


def look_again(row: bytes | None, marks: list[bytes], *, now_ns: int) -> GroupLook:
    """Compare a group's present states with its stored row.

    A clock that ran backwards invalidates the row.
    """
    seen_ns, size = _SEEN.unpack_from(row) if row else (0, 0)
    if row is None or seen_ns > now_ns:
        return GroupLook(marks)
    start = _SEEN.size
    old_marks, data = row[start : start + size], row[start + size :]
    if old_marks == b"\0".join(marks) and all(marks):
        return GroupLook(marks, data, range(len(marks)))
    indices = {mark: index for index, mark in enumerate(old_marks.split(b"\0")) if mark}
    return GroupLook(marks, data, [indices.get(mark, -1) for mark in marks])


def open_index(*, use: bool = True, verify: bool = False) -> "Index":
    limit, path = byte_limit(), index_path()  # which report mistakes
    return Index(path if use and limit else None, limit=limit, verify=verify)


def user_index() -> "Index":
    return _index_at(index_path(), byte_limit())


@cache
def _index_at(path: Path | None, limit: int) -> "Index":
    index = Index(path if limit else None, limit=limit)
    atexit.register(index.flush)
    return index


class Index:
    """A thread-safe cache of results by content hash and kind.

    The hash is that of a file's content, the kind that of the result. One per process; a forked process opens its own
    connection. Nothing is created or written before ``flush``, unless much data is pending. A damaged file costs time,
    but never causes a wrong result or an error.
    """

    def __init__(
        self,
        path: Path | None,
        *,
        limit: int,
        verify: bool = False,
        now: Callable[[], int] = time.time_ns,
    ) -> None:
        self._path = path
        self.is_used = path is not None
        self._limit = limit
        self._verify = verify
        self.now_ns = now  # the time recorded with states of files that are read afterwards
        self._changes = PendingWrites()
        self._lock = RLock()
        self._opened: IndexFile | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.flush()

    @property
    def warning(self) -> str:
        return self._opened.warning if self._opened else ""

    def look_at_groups(
        self, groups: Sequence[tuple[bytes, Sequence[tuple[str, str]]]]
    ) -> list[GroupLook]:
        """Return the stored data of groups of files.

        The data are valid as far as the files are unchanged. Each group has a key, and folder and name of its files.
        """
        seen_ns = self.now_ns()
        note(path for _, files in groups for path, _ in files)
        keys = [key for key, _ in groups]
        rows = [None] * len(keys) if self._verify else self.get_many(_UNCHANGED, keys)
        looks: list[GroupLook] = []
        for row, (_, files) in zip(rows, groups, strict=True):
            marks = [_mark(look_at(path), name) for path, name in files]
            looks.append(look_again(row, marks, now_ns=seen_ns))
        return looks

    def remember_group(self, key: bytes, marks: Sequence[bytes], kept: bytes) -> None:
        """Store data about a group of files.

        The data are valid as long as no file of the group changes.
        """
        described = b"\0".join(marks)
        head = _SEEN.pack(self.now_ns(), len(described))
        self.put_many(_UNCHANGED, [(key, head + described + kept)])

    def get_many(self, kind: Kind, keys: Sequence[bytes]) -> list[bytes | None]:
        results: list[bytes | None] = []
        with self._lock:
            if self._file is None or not kind.version:
                return [None] * len(keys)
            for start in range(0, len(keys), _PORTION):
                results += self._get_portion(self._file, kind, keys[start : start + _PORTION])
        return results

    def put_many(self, kind: Kind, rows: Iterable[tuple[bytes, bytes]]) -> None:
        """Store results by SHA-256 keys at the next ``flush``.

        Very large results are skipped. Never pass a file's text: the index stores no files (rule I-5).
        """
        if not self.is_used or not kind.version:
            return
        with self._lock:
            waiting = self._changes.rows.setdefault(kind, {})
            for key, payload in rows:
                if len(payload) <= _MOST_BYTES:
                    waiting[key] = payload
                    self._changes.size += len(payload) + _ROW_BYTES
            if self._changes.size > _PENDING_BYTES:
                self._write()

    def flush(self) -> None:
        """Write all pending changes in one transaction.

        Also deletes old rows beyond the size limit. Call it after the prompt. Changes that cannot be written are
        dropped: silently if another process writes for more than a second, else with a ``warning``.
        """
        with self._lock:
            if self._write() and self._file:
                self._file.read(lambda connection: trim(connection, self._limit))

    def close(self) -> None:
        with self._lock:
            self._changes = PendingWrites()
            if self._opened:
                self._opened.close()

    @property
    def _file(self) -> "IndexFile | None":
        if self._opened is None and self._path is not None:
            # SQLite takes 6 ms to load and is not always needed.
            from aggregate.project.index.database import IndexFile

            self._opened = IndexFile(self._path)
        return self._opened

    def _get_portion(
        self, file: "IndexFile", kind: Kind, keys: Sequence[bytes]
    ) -> list[bytes | None]:
        seal = Seal.of(kind)
        ids = seal.ids(keys)
        rows = file.read(lambda connection: select_rows(connection, ids)) or {}
        changes = self._changes
        waiting = changes.rows.get(kind, {})
        results: list[bytes | None] = []
        for key, row_id in zip(keys, ids, strict=True):
            payload = waiting.get(key)
            if payload is None and (data := rows.get(row_id)) is not None:
                payload = seal.open(key, data) if isinstance(data, bytes) else None
                if payload is None:
                    changes.damaged.add(row_id)
            results.append(payload)
        hits = len(keys) - results.count(None)
        changes.hits += hits
        changes.misses += len(keys) - hits
        changes.used.extend(rows)
        return results

    def _write(self) -> bool:
        changes, self._changes = self._changes, PendingWrites()
        if not (changes.rows or changes.hits or changes.misses) or self._file is None:
            return False
        # Before the transaction, which lets no other process write.
        sealed = {kind: Seal.of(kind).rows(payloads) for kind, payloads in changes.rows.items()}
        return self._file.write(
            lambda connection: write_changes(connection, changes, sealed, self.now_ns()),
            create=bool(sealed),
        )
