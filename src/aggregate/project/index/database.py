"""Create, check, open and remove the index's SQLite file.

The folder is created and removed as a whole: SQLite keeps a log beside the file and would apply an orphaned log to a
new file. So a new index is created under another name and renamed, and an old one is renamed before its removal;
processes with an open index continue with it.
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
_BUSY_SECONDS: Final = 1.0  # wait of a write for another process; reads never wait
_APPLICATION: Final = 0x41474958  # ``AGIX``, identifies our files in the header
_SCHEMA_VERSION: Final = 2
# Several views of a few kilobytes fit a page; with SQLite's default 4,096 a third of the file was empty.
_PAGE_BYTES: Final = 16_384
# Attempts to write, and to move a new index into place: other processes do so concurrently.
_TRIES: Final = 5
_HEADER_BYTES: Final = 100
_OPEN_TO_OTHERS: Final = 0o077
_LEFTOVER_SECONDS: Final = 3600  # age of a temporary folder left by a kill
# Harmless: others write for longer than we wait, or trimming takes too long.
_BUSY: Final = (
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_PROTOCOL,
    sqlite3.SQLITE_INTERRUPT,
)
# Refused by the system; the file may be intact. Other errors mean damage.
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
# Temporary: others may be deleting or replacing the files.
_TRANSIENT: Final = (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN)
# Connections inherited over fork: closing one here would release the parent's locks.
_inherited: Final[list[sqlite3.Connection]] = []
_SCHEMA: Final = (
    # Small rows for keys and use, to touch few pages. Payloads are stored in the order of writing, which is that of
    # reading a project.
    "CREATE TABLE entries (id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, used INTEGER NOT NULL,"
    " place INTEGER NOT NULL)",
    "CREATE TABLE payloads (place INTEGER PRIMARY KEY, data BLOB NOT NULL)",
    "CREATE TABLE kinds (number INTEGER PRIMARY KEY, name TEXT NOT NULL, version TEXT NOT NULL,"
    " used INTEGER NOT NULL, UNIQUE (name, version))",
    "CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID",
)


class DamagedError(Exception):
    """The index file is damaged or of an earlier release, and can be rebuilt."""


class UnusableError(Exception):
    """The path of the index contains something else, which must not be replaced."""


# The last three come from impossible values in a damaged index, also in messages of SQLite.
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
    """An index file in one process; not thread-safe."""

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
            self._handle_error(error)
            return None

    def write(self, change: Callable[[sqlite3.Connection], None], *, create: bool = True) -> bool:
        """Change the index in one transaction; rebuild a damaged index. Return whether it succeeded."""
        for tries_left in reversed(range(_TRIES)):
            try:
                connection = self._writable(create=create)
                if connection is not None:
                    in_transaction(connection, change)
            except _TROUBLE as error:
                if not self._handle_error(error, is_reported=create, tries_left=tries_left):
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

    def _handle_error(
        self, error: Exception, *, is_reported: bool = True, tries_left: int = 1
    ) -> bool:
        """Remember an error of SQLite; return whether another attempt may succeed."""
        code: int | None = getattr(error, "sqlite_errorcode", None)
        code = None if code is None else code & 0xFF  # the primary one
        if code in _BUSY:
            return False
        is_gone = self._is_gone()
        self.close()
        if is_gone or isinstance(error, FileNotFoundError) or (code in _TRANSIENT and tries_left):
            return True
        if not isinstance(error, OSError | UnusableError) and code not in _REFUSED:
            self._is_damaged = True
            reason = str(error) if isinstance(error, DamagedError) else f"{self.path} was damaged"
            self._warn(f"{reason}: the index is rebuilt")
            return True
        self._is_given_up = is_reported
        if isinstance(error, OSError):
            reason = f"{error.filename or ''} cannot be used: {error.strerror or error}".strip()
        else:
            reason = f"cannot be written: {error}" if code else str(error)
        remedy = f"set {CACHE_VARIABLE} to another folder"
        if isinstance(error, UnusableError):
            remedy = 'try "aggregate cache clear"'
        if is_reported:
            self._warn(f"{reason}, so nothing is cached for the next run: {remedy}")
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
    """Return the number of entries, size and hits of an index, and a problem, ``""`` for none."""
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
    """Rename the folder of an index and delete it.

    After the renaming no process opens a part of the folder.
    """
    folder = path.parent
    aside = temporary_name(folder.parent, folder.name)
    try:
        if not stat.S_ISDIR(folder.lstat().st_mode):
            raise UnusableError(f"{folder} is not a folder")
        if inode is None or path.lstat().st_ino == inode:
            folder.rename(aside)
    except FileNotFoundError:
        return
    _remove_tree(aside)


def _open_database(path: Path) -> sqlite3.Connection:
    _check_owner(path)
    if path.stat().st_size < _HEADER_BYTES:
        raise DamagedError(f"{path} was damaged")
    # Read the header through SQLite: closing the file here would release the locks of this process's other
    # connections, and the next close would delete their log (https://www.sqlite.org/howtocorrupt.html, 2.2).
    connection = sqlite3.connect(
        f"{path.as_uri()}?mode=rw",
        uri=True,
        timeout=_BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,  # the index is used by one thread at a time
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
        # Never wait for the disk: entries lost or torn by a power cut fail their checksum and count as misses.
        connection.execute("PRAGMA synchronous=OFF")
        schema = {row[0] for row in connection.execute("SELECT sql FROM sqlite_master") if row[0]}
        if schema != set(_SCHEMA):
            raise DamagedError(f"{path} was damaged")
    except BaseException:
        connection.close()
        raise
    return connection


def _check_owner(path: Path) -> None:
    """Raise an error unless the index is private to this user."""
    kinds = ((path.parent, stat.S_ISDIR, "folder"), (path, stat.S_ISREG, "regular file"))
    for target, is_kind, kind in kinds:
        info = target.lstat()
        if not is_kind(info.st_mode):
            raise UnusableError(f"{target} is not a {kind}")
        if os.name == "posix" and info.st_uid != os.geteuid():
            raise UnusableError(f"{target} belongs to another user")
        if os.name == "posix" and info.st_mode & _OPEN_TO_OTHERS:
            raise DamagedError(f"{target} was open to other users")


def _create_database(path: Path) -> None:
    """Create an empty index, unless another process has just created one."""
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
    for leftover in folder.parent.glob(f".{folder.name}-*{TEMPORARY_SUFFIX}"):
        with suppress(OSError):
            if time.time() - leftover.lstat().st_mtime >= older_than:
                _remove_tree(leftover)


def _remove_tree(folder: Path) -> None:
    import shutil  # takes 3 ms, rarely needed

    shutil.rmtree(folder, ignore_errors=True)


def _write_schema(path: Path) -> None:
    os.close(create_private(path))
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        connection.execute(f"PRAGMA page_size={_PAGE_BYTES}")
        connection.execute("PRAGMA auto_vacuum=INCREMENTAL")  # to shrink it to a lower limit
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
