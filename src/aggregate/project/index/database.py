"""The file of the index: made whole, opened only if it is ours and undamaged, put aside as a whole, or given up.

The folder around the file is the unit: SQLite keeps a log and its index beside the file, and a log that is left without
its file would be taken for that of the next one. So a new index is made under another name and renamed, and an old one
is renamed before it is removed; whoever has it open goes on with what it has.
"""

import os
import sqlite3
import stat
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

from aggregate.base.disk.databases import guard_connection
from aggregate.base.disk.writing import (
    CACHE_VARIABLE,
    TEMPORARY_SUFFIX,
    create_private,
    private_folder,
    temporary_name,
)
from aggregate.base.errors import OutputError
from aggregate.project.index.rows import in_transaction

_Answer = TypeVar("_Answer")
_BUSY_SECONDS: Final = 1.0  # How long a write waits for another process's. Reads wait for nobody.
# ``AGIX``, in the file's header: what tells our index from another program's database.
_APPLICATION: Final = 0x41474958
_SCHEMA_VERSION: Final = 2
# Views of a few kilobytes lie several to a page; with SQLite's own 4,096 a third of the file was empty.
_PAGE_BYTES: Final = 16_384
# Of a write, and of moving a new index to its place: other processes make and remove theirs at the same moment.
_TRIES: Final = 5
_HEADER_BYTES: Final = 100
_OPEN_TO_OTHERS: Final = 0o077
# After which a folder that was being made, or removed, is one that a kill has left.
_LEFTOVER_SECONDS: Final = 3600
# Others write for longer than we wait, or trimming takes longer than it may: nothing is wrong.
_BUSY: Final = (
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_PROTOCOL,
    sqlite3.SQLITE_INTERRUPT,
)
# The system refuses: the file itself may be whole. Any other error means that it is not.
_REFUSED: Final = (
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_AUTH,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_NOLFS,
)
# Others may be deleting or replacing the file and those beside it at this moment.
_PASSING: Final = (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN)
# Connections of the process that this one was forked from: to close one here would end the locks of that one.
_inherited: Final[list[sqlite3.Connection]] = []

_SCHEMA: Final = (
    # Small rows, so that finding entries and what was used last touches few pages; the bytes lie in the order in which
    # they were written, as those of one project were and will be read.
    "CREATE TABLE entries (id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, used INTEGER NOT NULL,"
    " place INTEGER NOT NULL)",
    "CREATE TABLE payloads (place INTEGER PRIMARY KEY, data BLOB NOT NULL)",
    "CREATE TABLE kinds (number INTEGER PRIMARY KEY, name TEXT NOT NULL, version TEXT NOT NULL,"
    " used INTEGER NOT NULL, UNIQUE (name, version))",
    "CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID",
)


class DamagedError(Exception):
    """The file is no index any more, or one of an earlier release: it can be put aside. The message is the reason."""


class UnusableError(Exception):
    """There is something that is not ours to replace. The message is the reason."""


# The last three come from values that no undamaged index holds; also from a message of SQLite that quotes such a value.
_TROUBLE: Final = (
    OSError,
    sqlite3.Error,
    DamagedError,
    UnusableError,
    TypeError,
    ValueError,
    OverflowError,
)


class IndexFile:
    """The file as one process uses it; not safe for two threads at the same moment."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.warning = ""
        self._connection: sqlite3.Connection | None = None
        self._inode = 0
        self._process = 0
        self._is_damaged = False
        self._is_given_up = False

    def read(self, query: Callable[[sqlite3.Connection], _Answer]) -> _Answer | None:
        try:
            connection = None if self._is_damaged else self._opened()
            return None if connection is None else query(connection)
        except _TROUBLE as error:
            self._can_try_again(error)
            return None

    def write(self, change: Callable[[sqlite3.Connection], None], *, create: bool = True) -> bool:
        """Make a change in one transaction, and return whether it was made; a damaged index is replaced."""
        for tries_left in reversed(range(_TRIES)):
            try:
                connection = self._writable(create=create)
                if connection is not None:
                    in_transaction(connection, change)
            except _TROUBLE as error:
                if not self._can_try_again(error, is_told=create, tries_left=tries_left):
                    return False
            else:
                return connection is not None
        return False

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None and self._process != os.getpid():
            _inherited.append(connection)
        elif connection is not None:
            with suppress(sqlite3.Error):
                connection.close()

    def _opened(self) -> sqlite3.Connection | None:
        if self._process != os.getpid():
            self.close()
        if self._connection is None and not self._is_given_up:
            self._inode = 0
            with suppress(FileNotFoundError):
                self._inode = self.path.lstat().st_ino
                self._process = os.getpid()
                self._connection = _open_database(self.path)
        return self._connection

    def _writable(self, *, create: bool) -> sqlite3.Connection | None:
        if self._is_damaged:
            put_aside(self.path, inode=self._inode)
            self._is_damaged = False
        if self._connection is not None and self._is_gone():
            self.close()
        connection = self._opened()
        if connection is None and create and not self._is_given_up:
            _create_database(self.path)
            connection = self._opened()
        return connection

    def _is_gone(self) -> bool:
        try:
            return self._inode not in (0, self.path.lstat().st_ino)
        except OSError:
            return self._inode != 0

    def _can_try_again(
        self, error: Exception, *, is_told: bool = True, tries_left: int = 1
    ) -> bool:
        """Note what an error means for the index, and tell whether another try may do better."""
        code: int | None = getattr(error, "sqlite_errorcode", None)
        code = None if code is None else code & 0xFF  # the primary one
        if code in _BUSY:
            return False
        is_gone = self._is_gone()
        self.close()
        if is_gone or isinstance(error, FileNotFoundError) or (code in _PASSING and tries_left):
            return True
        if not isinstance(error, OSError | UnusableError) and code not in _REFUSED:
            self._is_damaged = True
            reason = str(error) if isinstance(error, DamagedError) else f"{self.path} was damaged"
            self._warn(f"{reason}: it is made anew")
            return True
        self._is_given_up = is_told
        if isinstance(error, OSError):
            reason = f"{error.filename or ''} cannot be used: {error.strerror or error}".strip()
        else:
            reason = f"cannot be written: {error}" if code else str(error)
        remedy = f"set {CACHE_VARIABLE} to another folder"
        if isinstance(error, UnusableError):
            remedy = 'try "aggregate cache clear"'
        if is_told:
            self._warn(f"{reason}, so nothing is kept for the next run: {remedy}")
        return False

    def _warn(self, sentence: str) -> None:
        self.warning = self.warning or f"the index {sentence}"


class IndexReport(NamedTuple):
    path: Path
    bytes: int
    entries: int
    hits: int
    misses: int
    limit: int


def read_report(path: Path, limit: int) -> tuple[IndexReport, str]:
    """Return the figures of the index at ``path``, and one sentence on why it cannot be used, ``""`` if it can."""
    file = IndexFile(path)
    figures = file.read(_figures) or (0, 0, 0)
    file.close()
    on_disk = 0
    for suffix in ("", "-wal", "-shm"):
        with suppress(OSError):
            on_disk += path.with_name(path.name + suffix).lstat().st_size
    return IndexReport(path, on_disk, *figures, limit), file.warning


def _figures(connection: sqlite3.Connection) -> tuple[int, int, int]:
    entries = int(connection.execute("SELECT count(*) FROM entries").fetchone()[0])
    counters = dict(connection.execute("SELECT * FROM counters"))
    return entries, int(counters.get("hits", 0)), int(counters.get("misses", 0))


def clear_index(path: Path) -> bool:
    is_there = path.parent.exists()
    try:
        put_aside(path)
        _remove_leftovers(path.parent, older_than=0)
    except UnusableError as error:
        raise OutputError(f"{error}: delete it yourself") from None
    except OSError as error:
        raise OutputError(f"cannot delete {path.parent}: {error.strerror or error}") from error
    return is_there


def put_aside(path: Path, *, inode: int | None = None) -> None:
    """Remove the folder of the index at ``path``, in one step for whoever looks; without one nothing happens."""
    folder = path.parent
    aside = temporary_name(folder.parent, folder.name)
    try:
        if not stat.S_ISDIR(folder.lstat().st_mode):
            raise UnusableError(f"{folder} is no folder")
        if inode is None or path.lstat().st_ino == inode:
            folder.rename(aside)
    except FileNotFoundError:
        return
    _remove_tree(aside)


def _open_database(path: Path) -> sqlite3.Connection:
    _check_place(path)
    if path.stat().st_size < _HEADER_BYTES:
        raise DamagedError(f"{path} was damaged")
    # Its header is asked of SQLite: to open and close the file here would end the locks of every other connection that
    # this process has to it, and who closes next would delete the log that those write to
    # (https://www.sqlite.org/howtocorrupt.html, 2.2).
    connection = sqlite3.connect(
        f"{path.as_uri()}?mode=rw",
        uri=True,
        timeout=_BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,  # the index lets one thread at a time use it
    )
    try:
        guard_connection(connection, seconds=None)
        application, version = (
            connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("application_id", "user_version")
        )
        if application != _APPLICATION:
            raise UnusableError(f"{path} is not an index of this program")
        if version > _SCHEMA_VERSION:
            raise UnusableError(f"{path} is of a later release of this program")
        if version < _SCHEMA_VERSION:
            raise DamagedError(f"{path} was of an earlier release")
        # The disk is never waited for: what a power cut takes or tears is a miss, by the checksum of each entry.
        connection.execute("PRAGMA synchronous=OFF")
        schema = {row[0] for row in connection.execute("SELECT sql FROM sqlite_master") if row[0]}
        if schema != set(_SCHEMA):
            raise DamagedError(f"{path} was damaged")
    except BaseException:
        connection.close()
        raise
    return connection


def _check_place(path: Path) -> None:
    """Make sure that folder and file are the user's alone: a project may have brought them, or a neighbour."""
    kinds = ((path.parent, stat.S_ISDIR, "folder"), (path, stat.S_ISREG, "regular file"))
    for place, is_kind, kind in kinds:
        info = place.lstat()
        if not is_kind(info.st_mode):
            raise UnusableError(f"{place} is no {kind}")
        if os.name == "posix" and info.st_uid != os.geteuid():
            raise UnusableError(f"{place} belongs to another user")
        if os.name == "posix" and info.st_mode & _OPEN_TO_OTHERS:
            raise DamagedError(f"{place} was open to other users")


def _create_database(path: Path) -> None:
    """Make an empty index at ``path``, or leave the one that another process has made meanwhile."""
    folder = path.parent
    private_folder(folder.parent)
    _remove_leftovers(folder, older_than=_LEFTOVER_SECONDS)
    temporary = temporary_name(folder.parent, folder.name)
    private_folder(temporary)
    try:
        _write_schema(temporary / path.name)
        for _ in range(_TRIES):
            if not os.path.lexists(path):
                put_aside(path)  # a log without its database
            with suppress(OSError):
                temporary.rename(folder)
                return
            if path.exists():  # another process's
                return
        raise UnusableError(f"{folder} cannot be replaced")
    finally:
        _remove_tree(temporary)


def _remove_leftovers(folder: Path, *, older_than: float) -> None:
    """Remove what a kill has left of folders like ``folder``; those younger than so many seconds may be at work."""
    for leftover in folder.parent.glob(f".{folder.name}-*{TEMPORARY_SUFFIX}"):
        with suppress(OSError):
            if time.time() - leftover.lstat().st_mtime >= older_than:
                _remove_tree(leftover)


def _remove_tree(folder: Path) -> None:
    import shutil  # 3 ms, and seldom needed

    shutil.rmtree(folder, ignore_errors=True)


def _write_schema(path: Path) -> None:
    os.close(create_private(path))
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        connection.execute(f"PRAGMA page_size={_PAGE_BYTES}")
        connection.execute("PRAGMA auto_vacuum=INCREMENTAL")  # so that a lower limit can shrink it
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=OFF")
        connection.execute("BEGIN")
        for statement in _SCHEMA:
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id={_APPLICATION}")
        connection.execute(f"PRAGMA user_version={_SCHEMA_VERSION}")
        connection.execute("COMMIT")
    finally:
        connection.close()
