"""What a goal has asked and called so far, kept in an SQLite file so that another process can go on with it.

A goal does the same again where it is given the same answers and results. So each answer of the model and each result
of a tool is recorded under the place where it was asked for; a goal that is begun again is given what is recorded, and
asks and calls from there on. A project's records have numbers, and one process at a time has one open.
"""

import hashlib
import json
import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from math import isfinite
from pathlib import Path
from threading import Lock
from typing import Any, Final

from aggregate.base.disk.databases import guard_connection, private_database
from aggregate.base.disk.reading import without_links
from aggregate.base.disk.writing import create_private, private_folder, state_folder
from aggregate.base.errors import OutputError, StateError

# The entry of the saved values that the goal began with, where nothing was saved
NO_MEMORY: Final[Mapping[str, Any]] = {"memory": {}}
# Records, all of goals that were interrupted: an older one is hardly gone on with
KEPT: Final = 10
# Of the form of the file
_VERSION: Final = "1"
_TABLES: Final = (
    "CREATE TABLE IF NOT EXISTS goal (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS entries (key TEXT PRIMARY KEY, digest TEXT NOT NULL, tool TEXT NOT NULL,"
    " arguments TEXT NOT NULL, entry TEXT)",
)
_SUFFIX: Final = ".sqlite"
# How many other processes may take the next number first
_TRIES: Final = 50


def digest_of(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A call that was running when its process ended: nobody knows whether it was done; arguments are JSON."""

    key: str
    tool: str
    arguments: str


class RecordedGoal:
    """A goal's record in a file, which is made where there is none; locked until closed or the process ends."""

    def __init__(self, path: Path, *, repeat: bool = False) -> None:
        self.path = path
        self.started = datetime.now(UTC)
        self.spent = 0.0
        self._repeat = repeat
        self._broken = ""
        self._lock = Lock()
        try:
            private_database(path)
            self.connection = sqlite3.connect(
                path, timeout=0, isolation_level=None, check_same_thread=False
            )
        except (sqlite3.Error, OSError, OutputError) as error:
            raise StateError(self._unusable(error)) from error
        try:
            with self._writing() as connection:
                self._prepare(connection)
        except StateError as error:
            self.connection.close()
            if getattr(error.__cause__, "sqlite_errorname", "") == "SQLITE_BUSY":
                raise StateError(f"{path}: another process works on this goal") from error
            raise

    def _prepare(self, connection: sqlite3.Connection) -> None:
        guard_connection(connection, seconds=None)
        connection.execute("PRAGMA locking_mode=EXCLUSIVE")
        connection.execute("PRAGMA journal_mode=WAL")
        # A call that is not to be repeated must be known to have begun, whatever happens to the machine.
        connection.execute("PRAGMA synchronous=FULL")
        for table in _TABLES:
            connection.execute(table)
        connection.execute("INSERT OR IGNORE INTO goal VALUES ('version', ?)", (_VERSION,))
        known = dict(connection.execute("SELECT name, value FROM goal"))
        if known["version"] != _VERSION:
            raise ValueError("another version of aggregate has recorded it")
        self.goal = str(known.get("goal", ""))
        self.steps = int(known.get("steps", 0))
        self.ended = "ended" in known
        self.started = datetime.fromisoformat(known.get("started", self.started.isoformat()))
        self.spent = float(known.get("spent", 0.0))
        if self.started.tzinfo is None or not isfinite(self.spent) or self.spent < 0:
            raise ValueError("its times are damaged")

    @property
    def begun(self) -> bool:
        """Whether anything was asked or called; that nothing was saved by earlier goals is no such thing."""
        query = "SELECT 1 FROM entries WHERE entry IS NOT ? LIMIT 1"
        with self._writing() as connection:
            return connection.execute(query, (json.dumps(NO_MEMORY),)).fetchone() is not None

    def describe(self, goal: str, *, steps: int) -> None:
        self.goal, self.steps = goal, steps
        self._note(goal=goal, steps=str(steps), started=self.started.isoformat())

    def end(self) -> None:
        """Delete the record of a goal that has come to its end: nothing is left to go on with."""
        self._note(ended="yes")  # where the file cannot be deleted, or the process ends before
        self.close()
        _delete_record(self.path)

    def unfinished(self) -> list[Unfinished]:
        query = "SELECT key, tool, arguments FROM entries WHERE entry IS NULL ORDER BY key"
        with self._writing() as connection:
            return [Unfinished(*map(str, row)) for row in connection.execute(query)]

    def recall(self, key: str, digest: str) -> Mapping[str, Any] | None:
        """Return the entry under ``key``, ``None`` where there is none; it must be of what has this digest."""
        query = "SELECT digest, entry FROM entries WHERE key = ?"
        with self._writing() as connection:
            row = connection.execute(query, (key,)).fetchone()
            if row is None or (row[0] == digest and row[1] is None):
                return None
            if row[0] != digest:
                raise ValueError(
                    f"at {key} it was recorded with other tools, other files, or by another version"
                )
            entry = json.loads(row[1])
            if not isinstance(entry, dict):
                raise TypeError(f"its entry at {key} is damaged")
            return entry

    def begin(self, key: str, digest: str, *, tool: str, arguments: str) -> bool:
        """Keep that a call begins; return whether it had begun before and may not be repeated."""
        statement = "INSERT OR IGNORE INTO entries VALUES (?, ?, ?, ?, NULL)"
        with self._writing() as connection:
            is_new = connection.execute(statement, (key, digest, tool, arguments)).rowcount == 1
            return not is_new and not self._repeat

    def finish(self, key: str, digest: str, entry: Mapping[str, Any], *, seconds: float) -> None:
        with self._writing() as connection:
            connection.execute("BEGIN")
            connection.execute(
                "INSERT INTO entries VALUES (?, ?, '', '', ?)"
                " ON CONFLICT (key) DO UPDATE SET entry = excluded.entry",
                (key, digest, json.dumps(entry)),
            )
            spent = "INSERT OR REPLACE INTO goal VALUES ('spent', ?)"
            connection.execute(spent, (repr(float(seconds)),))
            connection.execute("COMMIT")

    def check(self) -> None:
        """Raise ``StateError`` if the record did not fit, or could not be used: what the goal gave is worth nothing."""
        if self._broken:
            raise StateError(self._broken)

    def close(self) -> None:
        self.connection.close()

    def _note(self, **facts: str) -> None:
        with self._writing() as connection:
            connection.executemany("INSERT OR REPLACE INTO goal VALUES (?, ?)", facts.items())

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """Give the connection to one thread at a time; what goes wrong ends the use of the record."""
        with self._lock:
            self.check()
            try:
                yield self.connection
            except (sqlite3.Error, ValueError, TypeError, RecursionError) as error:
                self._broken = self._unusable(error)
                raise StateError(self._broken) from error

    def _unusable(self, error: Exception) -> str:
        # What SQLite says, such as that the disk is full, is no reason to begin the goal anew.
        from_disk = isinstance(error, sqlite3.Error | OSError | OutputError)
        advice = "" if from_disk else ": begin the goal anew"
        return f"{self.path}: the record of the goal cannot be used: {error}{advice}"


def _delete_record(path: Path) -> None:
    for suffix in ("-wal", "-shm", ""):
        with suppress(OSError):
            path.with_name(path.name + suffix).unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class GoalNote:
    number: int
    goal: str


def records_folder(project: Path) -> Path:
    return state_folder(project) / "goals"


def new_record(folder: Path, goal: str, *, steps: int) -> tuple[int, RecordedGoal]:
    """Make the record of a new goal under the next free number; the oldest ones are deleted."""
    try:
        private_folder(without_links(folder))
        first = max(_numbers(folder), default=0) + 1
        for number in range(first, first + _TRIES):
            with suppress(FileExistsError):  # another process was faster
                os.close(create_private(_path(folder, number)))
                break
        else:
            raise OSError(f"{_TRIES} other goals were begun at the same moment")
    except (OSError, OutputError) as error:
        raise StateError(f"{folder}: the goal cannot be recorded: {error}") from error
    record = RecordedGoal(_path(folder, number))
    record.describe(goal, steps=steps)
    for old in _numbers(folder)[KEPT:]:
        with suppress(StateError):  # a process works on it
            RecordedGoal(_path(folder, old)).close()
            _delete_record(_path(folder, old))
    return number, record


def recorded(folder: Path, number: int, *, repeat: bool = False) -> RecordedGoal:
    """Open the record of goal ``number``; with ``repeat`` a call that was running may be made once more."""
    path = _path(folder, number)
    if not path.is_file():
        notes = "; ".join(f"{n.number}, {n.goal[:60]}" for n in unfinished_goals(folder)[:5])
        there_are = f": there are {notes}" if notes else ""
        raise StateError(f"there is no goal {number} to go on with{there_are}")
    record = RecordedGoal(path, repeat=repeat)
    if not record.goal:
        record.close()
        raise StateError(f"goal {number} was ended before it had begun: begin it anew")
    return record


def unfinished_goals(folder: Path) -> list[GoalNote]:
    """Return the goals that have not come to their end and that no process works on, the newest first."""
    notes = []
    for number in _numbers(folder):
        # Another process works on it, or it is damaged
        with suppress(StateError), closing(RecordedGoal(_path(folder, number))) as record:
            if record.begun and not record.ended:
                notes.append(GoalNote(number, record.goal))
    return notes


def _numbers(folder: Path) -> list[int]:
    names = [path.stem for path in folder.glob(f"*{_SUFFIX}")] if folder.is_dir() else []
    return sorted((int(name) for name in names if name.isdecimal()), reverse=True)


def _path(folder: Path, number: int) -> Path:
    return folder / f"{number:06}{_SUFFIX}"
