"""The records of a project's goals, by number, each in an SQLite file that one process at a time has open."""

import json
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import isfinite
from pathlib import Path
from threading import Lock
from typing import Any, Final

from aggregate.agents.goals.goal_record import NO_MEMORY, GoalRecord, Unfinished, check_entry
from aggregate.base.disk import (
    create_private,
    guard_connection,
    private_database,
    private_folder,
    state_folder,
    without_links,
)
from aggregate.base.errors import OutputError, StateError

_VERSION: Final = "1"
"""Of the form of the file."""
_TABLES: Final = (
    "CREATE TABLE IF NOT EXISTS goal (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS entries (key TEXT PRIMARY KEY, digest TEXT NOT NULL, tool TEXT NOT NULL,"
    " arguments TEXT NOT NULL, entry TEXT)",
)
_ANOTHER: Final = (
    "it was recorded with other tools, other files, or by another version: begin the goal anew"
)


@dataclass(slots=True)
class RecordedGoal(GoalRecord):
    """A goal's record.

    Attributes:
        path: The file.
        repeat: Whether a call that was running when the process ended may be made once more.
        started: When the goal was begun.
        spent: Seconds that it had taken at the last entry.
        steps: How many steps its plan may have: the question for them says so.
        broken: Why it cannot be used any more, ``""`` where it can.
    """

    path: Path
    connection: sqlite3.Connection
    repeat: bool = False
    started: datetime = field(default_factory=lambda: datetime.now(UTC))
    spent: float = 0.0
    steps: int = 0
    broken: str = ""
    _lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        known = self._facts()
        if known.get("version") != _VERSION:
            raise ValueError("another version of aggregate has recorded it")
        self.started = datetime.fromisoformat(known.get("started", self.started.isoformat()))
        self.spent = float(known.get("spent", 0.0))
        if self.started.tzinfo is None or not isfinite(self.spent) or self.spent < 0:
            raise ValueError("its times are damaged")
        self.steps = int(known.get("steps", 0))

    @property
    def goal(self) -> str:
        """The goal."""
        return self._facts().get("goal", "")

    @property
    def ended(self) -> bool:
        """Whether it has come to its end."""
        return "ended" in self._facts()

    @property
    def begun(self) -> bool:
        """Whether anything was asked or called; that nothing was saved by earlier goals is no such thing."""
        query = "SELECT 1 FROM entries WHERE entry IS NOT ? LIMIT 1"
        with self._writing() as connection:
            return connection.execute(query, (json.dumps(NO_MEMORY),)).fetchone() is not None

    def describe(self, goal: str, *, steps: int) -> None:
        """Keep what a new goal is."""
        self.steps = steps
        self._note(version=_VERSION, goal=goal, steps=str(steps), started=self.started.isoformat())

    def end(self) -> None:
        """Delete the record of a goal that has come to its end: nothing is left to go on with."""
        self._note(ended="yes")  # where the file cannot be deleted, or the process ends before
        self.close()
        _delete_record(self.path)

    def unfinished(self) -> list[Unfinished]:
        """Return the calls that were running when the process ended."""
        query = "SELECT key, tool, arguments FROM entries WHERE entry IS NULL ORDER BY key"
        with self._writing() as connection:
            return [Unfinished(*_texts(row)) for row in connection.execute(query)]

    def recall(self, key: str, digest: str) -> Mapping[str, Any] | None:
        """Return the entry under ``key``, ``None`` where there is none.

        Raises:
            StateError: It belongs to something else, or the file cannot be read; then nothing more can be recalled.
        """
        with self._writing() as connection:
            row = connection.execute(
                "SELECT digest, entry FROM entries WHERE key = ?", (key,)
            ).fetchone()
            if row is None:
                return None
            if row[0] != digest:
                self.broken = f"{self.path}: the record does not fit at {key}: {_ANOTHER}"
                raise StateError(self.broken)
            return None if row[1] is None else check_entry(key, json.loads(row[1]))

    def begin(self, key: str, digest: str, *, tool: str, arguments: str) -> bool:
        """Keep that a call begins; return whether it had begun before and may not be repeated."""
        with self._writing() as connection:
            statement = "INSERT OR IGNORE INTO entries VALUES (?, ?, ?, ?, NULL)"
            is_new = connection.execute(statement, (key, digest, tool, arguments)).rowcount == 1
            return not is_new and not self.repeat

    def finish(self, key: str, digest: str, entry: Mapping[str, Any], *, seconds: float) -> None:
        """Keep an entry, and how many seconds the goal has taken."""
        with self._writing() as connection:
            connection.execute("BEGIN")
            connection.execute(
                "INSERT INTO entries VALUES (?, ?, '', '', ?)"
                " ON CONFLICT (key) DO UPDATE SET entry = excluded.entry",
                (key, digest, json.dumps(entry)),
            )
            connection.execute(
                "INSERT OR REPLACE INTO goal VALUES ('spent', ?)", (repr(float(seconds)),)
            )
            connection.execute("COMMIT")

    def check(self) -> None:
        """Raise ``StateError`` if the record did not fit, or could not be used."""
        if self.broken:
            raise StateError(self.broken)

    def close(self) -> None:
        """Let other processes open it."""
        self.connection.close()

    def _facts(self) -> dict[str, str]:
        with self._writing() as connection:
            rows = connection.execute("SELECT name, value FROM goal").fetchall()
            return dict(_texts(row) for row in rows)

    def _note(self, **facts: str) -> None:
        with self._writing() as connection:
            connection.executemany("INSERT OR REPLACE INTO goal VALUES (?, ?)", facts.items())

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """Give the connection to one thread at a time; what goes wrong ends the use of the record.

        Raises:
            StateError: The file cannot be used.
        """
        with self._lock:
            if self.broken:
                raise StateError(self.broken)
            try:
                yield self.connection
            except (sqlite3.Error, ValueError, RecursionError) as error:
                self.broken = _unusable(self.path, error)
                raise StateError(self.broken) from error


def _texts(row: Sequence[object]) -> list[str]:
    texts = [column for column in row if isinstance(column, str)]
    if len(texts) != len(row):
        raise ValueError("a row of it is damaged")
    return texts


def _unusable(path: Path, error: Exception) -> str:
    # What SQLite says, such as that the disk is full, is no reason to begin the goal anew.
    advice = "" if isinstance(error, sqlite3.Error) else ": begin the goal anew"
    return f"{path}: the record of the goal cannot be used: {error}{advice}"


def _delete_record(path: Path) -> None:
    """Delete a record with the files that SQLite keeps beside it; what another process has open may stay."""
    for suffix in ("-wal", "-shm", ""):
        with suppress(OSError):
            path.with_name(path.name + suffix).unlink(missing_ok=True)


def _open_record(path: Path, *, repeat: bool = False) -> RecordedGoal:
    """Open a record, which is made where there is none; it is locked until it is closed or the process ends.

    Raises:
        StateError: Another process has it open, or it cannot be used.
    """
    connection = None
    try:
        private_database(path)
        connection = sqlite3.connect(path, timeout=0, isolation_level=None, check_same_thread=False)
        guard_connection(connection, seconds=None)
        connection.execute("PRAGMA locking_mode=EXCLUSIVE")
        connection.execute("PRAGMA journal_mode=WAL")
        # A call that is not to be repeated must be known to have begun, whatever happens to the machine.
        connection.execute("PRAGMA synchronous=FULL")
        for table in _TABLES:
            connection.execute(table)
        connection.execute("INSERT OR IGNORE INTO goal VALUES ('version', ?)", (_VERSION,))
        return RecordedGoal(path, connection, repeat)
    except (sqlite3.Error, OSError, OutputError, ValueError, StateError) as error:
        if connection is not None:
            connection.close()
        if isinstance(error, StateError):
            raise
        if getattr(error, "sqlite_errorname", "") == "SQLITE_BUSY":
            raise StateError(f"{path}: another process works on this goal") from error
        raise StateError(_unusable(path, error)) from error


FOLDER: Final = "goals"
KEPT: Final = 10
"""Records, all of goals that were interrupted: an older one is hardly gone on with."""
_SUFFIX: Final = ".sqlite"
_TRIES: Final = 50
"""How many other processes may take the next number first."""


@dataclass(frozen=True, slots=True)
class GoalNote:
    """A goal that has not come to its end.

    Attributes:
        number: Of its record.
        goal: Its text.
    """

    number: int
    goal: str


def records_folder(project: Path) -> Path:
    """Return the folder of the records of goals for the project at ``project``; nothing is made."""
    return state_folder(project) / FOLDER


def new_record(folder: Path, goal: str, *, steps: int) -> tuple[int, RecordedGoal]:
    """Make the record of a new goal under the next free number; the oldest ones are deleted.

    Raises:
        StateError: It cannot be made.
    """
    try:
        private_folder(without_links(folder))
        number = _take_number(folder)
    except (OSError, OutputError) as error:
        raise StateError(f"{folder}: the goal cannot be recorded: {error}") from error
    record = _open_record(_path(folder, number))
    record.describe(goal, steps=steps)
    _forget_old(folder)
    return number, record


def recorded(folder: Path, number: int, *, repeat: bool = False) -> RecordedGoal:
    """Open the record of goal ``number``.

    Raises:
        StateError: There is none, another process works on it, or it cannot be used.
    """
    path = _path(folder, number)
    if not path.is_file():
        notes = "; ".join(f"{n.number}, {n.goal[:60]}" for n in unfinished_goals(folder)[:5])
        there_are = f": there are {notes}" if notes else ""
        raise StateError(f"there is no goal {number} to go on with{there_are}")
    record = _open_record(path, repeat=repeat)
    if not record.goal:
        record.close()
        raise StateError(f"goal {number} was ended before it had begun: begin it anew")
    return record


def unfinished_goals(folder: Path) -> list[GoalNote]:
    """Return the goals that have not come to their end and that no process works on, the newest first."""
    notes = []
    for number in sorted(_numbers(folder), reverse=True):
        try:
            record = _open_record(_path(folder, number))
        except StateError:  # another process works on it, or it is damaged
            continue
        try:
            if record.begun and not record.ended:
                notes.append(GoalNote(number, record.goal))
        finally:
            record.close()
    return notes


def _numbers(folder: Path) -> list[int]:
    names = [path.stem for path in folder.glob(f"*{_SUFFIX}")] if folder.is_dir() else []
    return [int(name) for name in names if name.isdecimal()]


def _path(folder: Path, number: int) -> Path:
    return folder / f"{number:06}{_SUFFIX}"


def _take_number(folder: Path) -> int:
    """Make the file of the next free number, so that no other process takes it.

    Raises:
        OSError: It cannot be made.
    """
    number = max(_numbers(folder), default=0)
    for _ in range(_TRIES):
        number += 1
        try:
            os.close(create_private(_path(folder, number)))
        except FileExistsError:  # another process was faster
            continue
        return number
    raise OSError(f"{_TRIES} other goals were begun at the same moment")


def _forget_old(folder: Path) -> None:
    """Delete the oldest records where there are too many, but for those that a process works on."""
    for number in sorted(_numbers(folder), reverse=True)[KEPT:]:
        try:
            _open_record(_path(folder, number)).close()
        except StateError:
            continue
        _delete_record(_path(folder, number))
