"""Saved state: values by key in one SQLite file, for later goals (rule D-86)."""

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from aggregate.base.disk import guard_connection, has_triggers, is_plain_table, private_database
from aggregate.base.errors import OutputError, StateError, ToolError

MOST_KEY: Final = 200
MOST_BYTES: Final = 16_000_000
BUSY_SECONDS: Final = 10.0
"""How long others may write meanwhile, and how long one call may take."""
_TABLE: Final = "CREATE TABLE IF NOT EXISTS state (key TEXT PRIMARY KEY, value TEXT NOT NULL, updated_at TEXT NOT NULL)"


@dataclass(frozen=True, slots=True)
class StateStore:
    """The store; safe for several threads and processes, since each call opens the file for itself.

    Attributes:
        path: The SQLite file; made at the first write.
        now: The clock for ``updated_at``.
    """

    path: Path
    now: Callable[[], datetime] = lambda: datetime.now(UTC)

    def save(self, key: str, value: Any) -> None:  # noqa: ANN401 - what JSON holds
        """Store ``value`` under ``key``, in place of what was there.

        Raises:
            StateError: The file cannot be used.
            ToolError: The key is empty or too long, or JSON cannot hold the value.
        """
        self.change(key, lambda _: value)

    def load(self, key: str) -> tuple[bool, Any]:
        """Return whether ``key`` is there, and its value.

        Raises:
            StateError: The file or the value cannot be read.
        """
        if not self.path.exists():
            return False, None
        with self._connection() as connection:
            return _read(connection, key)

    def keys(self) -> list[str]:
        """Return all keys, sorted.

        Raises:
            StateError: The file cannot be read.
        """
        if not self.path.exists():
            return []
        with self._connection() as connection:
            return [row[0] for row in connection.execute("SELECT key FROM state ORDER BY key")]

    def change(self, key: str, change: Callable[[Any], Any]) -> Any:  # noqa: ANN401 - what JSON holds
        """Replace the value of ``key`` by ``change(value)`` in one transaction, and return the new one.

        ``change`` is given ``None`` where there is no value.

        Raises:
            StateError: The file cannot be used.
            ToolError: The key is empty or too long, or JSON cannot hold the value.
        """
        if not key.strip() or len(key) > MOST_KEY:
            raise ToolError(f"a key has 1 to {MOST_KEY} characters, not {len(key)}")
        with self._connection() as connection:
            connection.execute("BEGIN IMMEDIATE")
            value = change(_read(connection, key)[1])
            row = (key, _encoded(key, value), self.now().isoformat())
            connection.execute("INSERT OR REPLACE INTO state VALUES (?, ?, ?)", row)
            connection.execute("COMMIT")
            return value

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        connection = None
        try:
            private_database(self.path)
            connection = sqlite3.connect(self.path, timeout=BUSY_SECONDS, isolation_level=None)
            guard_connection(connection, seconds=BUSY_SECONDS)
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=NORMAL")
            connection.execute(_TABLE)
            if not is_plain_table(connection, "state") or has_triggers(connection):
                raise StateError(
                    f"{self.path}: was not made by this program: move it away or delete it"
                )
            yield connection
        except (sqlite3.Error, OSError, OutputError) as error:
            raise StateError(f"{self.path}: the saved state cannot be used: {error}") from error
        finally:
            if connection is not None:
                connection.close()


def _read(connection: sqlite3.Connection, key: str) -> tuple[bool, Any]:
    row = connection.execute("SELECT value FROM state WHERE key = ?", (key,)).fetchone()
    if row is None:
        return False, None
    try:
        return True, json.loads(row[0])
    except (ValueError, RecursionError):
        raise StateError(f'the saved value of "{key}" is damaged: save it again') from None


def _encoded(key: str, value: Any) -> str:  # noqa: ANN401 - what JSON holds
    try:
        text = json.dumps(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise ToolError(f'the value of "{key}" cannot be saved as JSON: {error}') from None
    if len(text) > MOST_BYTES:
        raise ToolError(f'the value of "{key}" has {len(text):,} bytes, the most is {MOST_BYTES:,}')
    return text
