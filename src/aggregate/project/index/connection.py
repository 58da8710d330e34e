"""The index's file as one process uses it: opened on first use, replaced or given up where it fails, and told of."""

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

from aggregate.base.disk import CACHE_VARIABLE
from aggregate.base.errors import OutputError
from aggregate.project.index.database import (
    DamagedError,
    UnusableError,
    create_database,
    disk_bytes,
    error_code,
    in_transaction,
    open_database,
    put_aside,
    remove_leftovers,
)

_Answer = TypeVar("_Answer")
_GARBAGE: Final = (TypeError, ValueError, OverflowError)
"""What values lead to that no undamaged index holds; also a message of SQLite that quotes such a value."""
_TROUBLE: Final = (OSError, sqlite3.Error, DamagedError, UnusableError, *_GARBAGE)
_BUSY: Final = (
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_PROTOCOL,
    sqlite3.SQLITE_INTERRUPT,
)
"""Others write for longer than we wait, or trimming takes longer than it may: nothing is wrong."""
_FAILING: Final = (
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_AUTH,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_NOLFS,
    sqlite3.SQLITE_TOOBIG,
)
"""The system refuses: the file itself may be whole. Any other error means that it is not."""
_TRIES: Final = 3
"""Of a write: it is made again where the index was replaced, or deleted by others, meanwhile."""
_ROOM_BYTES: Final = 100_000_000
"""Where the file system has more than that, it is not full."""
_inherited: Final[list[sqlite3.Connection]] = []
"""Connections of the process that this one was forked from: to close one here would end the locks of that one."""


class IndexConnection:
    """The connection to one index; not safe for two threads at the same moment.

    Attributes:
        warning: Why the index was replaced or is not used, one sentence; ``""`` while all is well.
    """

    def __init__(self, path: Path | None) -> None:
        """Take the index at ``path``, or none at all."""
        self.path = path
        self.warning = ""
        self._connection: sqlite3.Connection | None = None
        self._inode = 0
        self._process = 0
        self._is_damaged = False
        self._is_given_up = path is None
        self._is_unwritable = False

    def read(self, query: Callable[[sqlite3.Connection], _Answer]) -> _Answer | None:
        """Return the answer to ``query``, or ``None`` where there is no index that can be read."""
        try:
            connection = self._opened()
            return None if connection is None else query(connection)
        except _TROUBLE as error:
            if _may_pass(error):
                self.close()
            else:
                self._fail(error)
            return None

    def write(self, change: Callable[[sqlite3.Connection], None], *, create: bool = True) -> bool:
        """Make a change in one transaction, and return whether it was made.

        A damaged index is replaced by a new one before, or if it turns out to be damaged. Where others write for longer
        than a second the change is given up.

        Args:
            change: What to do.
            create: Whether to make an index if there is none, and to warn if it cannot be written.
        """
        for tries_left in reversed(range(_TRIES)):
            try:
                connection = self._writable(create=create)
                if connection is not None:
                    in_transaction(connection, change)
            except _TROUBLE as error:
                if _may_pass(error) and tries_left:
                    self.close()
                    continue
                self._fail(error, is_writing=True, is_told=create)
                if self._connection is not None or self._is_given_up or self._is_unwritable:
                    return False
            else:
                return connection is not None
        return False

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        connection, self._connection = self._connection, None
        if connection is not None and self._process != os.getpid():
            _inherited.append(connection)
        elif connection is not None:
            with suppress(sqlite3.Error):
                connection.close()

    def _opened(self) -> sqlite3.Connection | None:
        if self.path is None or self._is_given_up or self._is_damaged:
            return None
        if self._process != os.getpid():
            self.close()
        if self._connection is None:
            self._inode = 0
            with suppress(FileNotFoundError):
                self._inode = self.path.lstat().st_ino
                self._process = os.getpid()
                self._connection = open_database(self.path)
        return self._connection

    def _writable(self, *, create: bool) -> sqlite3.Connection | None:
        if self.path is None or self._is_given_up or self._is_unwritable:
            return None
        if self._is_damaged:
            put_aside(self.path, inode=self._inode)
            self._is_damaged = False
        if self._connection is not None and not self._is_in_place():
            self.close()
        connection = self._opened()
        if connection is None and create:
            create_database(self.path)
            connection = self._opened()
        return connection

    def _is_in_place(self) -> bool:
        """Tell whether the file that is open is still the index, and nobody has deleted or replaced it."""
        try:
            return self.path is not None and self.path.lstat().st_ino == self._inode
        except OSError:
            return False

    def _fail(self, error: Exception, *, is_writing: bool = False, is_told: bool = True) -> None:
        """Note what an error means for the index; what cannot be written may still be read."""
        code = error_code(error)
        if code in _BUSY:
            return
        is_gone = self._inode and not self._is_in_place()
        self.close()
        if is_gone:
            return  # it was deleted or replaced at this moment
        if isinstance(error, OSError | UnusableError) or self._is_refused(code):
            if is_writing and not is_told:
                return
            self._is_unwritable = is_writing
            self._is_given_up = not is_writing
            remedy = (
                'try "aggregate cache clear"'
                if isinstance(error, UnusableError)
                else f"set {CACHE_VARIABLE} to another folder"
            )
            self._warn(f"{_reason(error)}, so nothing is kept for the next run: {remedy}")
        else:
            self._is_damaged = True
            reason = str(error) if isinstance(error, DamagedError) else f"{self.path} was damaged"
            self._warn(f"{reason}: it is made anew")

    def _is_refused(self, code: int | None) -> bool:
        """Tell whether the system refuses; a damaged file can claim to have no room where there is much."""
        if code == sqlite3.SQLITE_FULL and self.path is not None:
            with suppress(OSError):
                return shutil.disk_usage(self.path.parent).free < _ROOM_BYTES
            return True
        return code in _FAILING

    def _warn(self, sentence: str) -> None:
        self.warning = self.warning or f"the index {sentence}"


def _may_pass(error: Exception) -> bool:
    """Tell whether an error may come from files that others delete or replace at this moment."""
    passing = (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN)
    return isinstance(error, FileNotFoundError) or error_code(error) in passing


def _reason(error: Exception) -> str:
    if isinstance(error, OSError):
        return f"{error.filename or ''} cannot be used: {error.strerror or error}".strip()
    if isinstance(error, sqlite3.Error):
        return f"cannot be written: {error}"
    return str(error)


class IndexReport(NamedTuple):
    """The index in figures.

    Attributes:
        path: Its file, which need not be there.
        bytes: On the disk, its log included.
        entries: Results that are kept, and files whose content is known.
        hits: How often a result was asked for and there, in all runs since it was made.
        misses: How often it had to be computed.
        limit: The most bytes that it may have.
    """

    path: Path
    bytes: int
    entries: int
    hits: int
    misses: int
    limit: int


def read_report(path: Path, limit: int) -> tuple[IndexReport, str]:
    """Return the figures of the index at ``path``, and one sentence on why it cannot be used, ``""`` if it can."""
    file = IndexConnection(path)
    figures = file.read(_figures) or (0, 0, 0)
    file.close()
    return IndexReport(path, disk_bytes(path), *figures, limit), file.warning


def clear_index(path: Path) -> bool:
    """Delete the index at ``path``, in whatever state it is, and return whether there was one.

    Raises:
        OutputError: It cannot be deleted.
    """
    is_there = path.parent.exists()
    try:
        put_aside(path)
        remove_leftovers(path.parent, older_than=0)
    except UnusableError as error:
        raise OutputError(f"{error}: delete it yourself") from None
    except OSError as error:
        raise OutputError(f"cannot delete {path.parent}: {error.strerror or error}") from error
    return is_there


def _figures(connection: sqlite3.Connection) -> tuple[int, int, int]:
    query = "SELECT (SELECT count(*) FROM entries) + (SELECT count(*) FROM files)"
    entries = int(connection.execute(query).fetchone()[0])
    counters = {"hits": 0, "misses": 0}
    with suppress(TypeError, ValueError):  # a damaged page can hold anything
        counters |= {
            name: int(value) for name, value in connection.execute("SELECT * FROM counters")
        }
    return entries, counters["hits"], counters["misses"]
