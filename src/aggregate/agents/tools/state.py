"""Values saved by key in SQLite, and tools for them (D-86)."""

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, TypeAlias

from aggregate.agents.tools.dates import parse_moment
from aggregate.agents.tools.registry import ToolRegistry
from aggregate.agents.tools.tool import Permission, make_tool
from aggregate.base.disk.databases import (
    guard_connection,
    has_triggers,
    is_plain_table,
    private_database,
)
from aggregate.base.errors import OutputError, StateError, ToolError

MOST_KEY: Final = 200
MOST_BYTES: Final = 16_000_000
BUSY_SECONDS: Final = 10.0  # of a call, and of waiting for other writers
# Usual fields of a record's time
FIELDS: Final = ("timestamp", "start_date", "date", "created_at", "updated_at", "time")
_TABLE: Final = "CREATE TABLE IF NOT EXISTS state (key TEXT PRIMARY KEY, value TEXT NOT NULL, updated_at TEXT NOT NULL)"
Record: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class StateStore:
    """Saved values by key; several threads and processes may use the file at once."""

    path: Path

    def load(self, key: str) -> tuple[bool, Any]:
        if not self.path.exists():
            return False, None
        with self._connection() as connection:
            return _read(connection, key)

    def keys(self) -> list[str]:
        if not self.path.exists():
            return []
        with self._connection() as connection:
            return [row[0] for row in connection.execute("SELECT key FROM state ORDER BY key")]

    def save(self, key: str, value: Any) -> None:  # noqa: ANN401 - what JSON holds
        self.change(key, lambda _: value)

    def change(self, key: str, change: Callable[[Any], Any]) -> Any:  # noqa: ANN401 - what JSON holds
        """Replace a saved value by ``change(value)`` in one transaction; return the new value."""
        if not key.strip() or len(key) > MOST_KEY:
            raise ToolError(f"a key has 1 to {MOST_KEY} characters, not {len(key)}")
        with self._connection() as connection:
            connection.execute("BEGIN IMMEDIATE")
            value = change(_read(connection, key)[1])
            try:
                text = json.dumps(value)
            except (TypeError, ValueError, RecursionError) as error:
                raise ToolError(f'the value of "{key}" cannot be saved as JSON: {error}') from None
            if len(text) > MOST_BYTES:
                raise ToolError(
                    f'the value of "{key}" has {len(text):,} bytes, the limit is {MOST_BYTES:,}'
                )
            row = key, text, datetime.now(UTC).isoformat()
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


def state_store(state_dir: str | Path) -> StateStore:
    return StateStore(Path(state_dir) / "state.db")


def add_state_tools(registry: ToolRegistry, store: StateStore) -> None:
    """Register the tools; saving needs the ``write`` permission."""
    tools = _StateTools(store)
    for function in (tools.loadState, tools.listStateKeys, tools.queryTimeseriesState):
        registry.add(make_tool(function, permissions=Permission.READ))
    for writing in (tools.saveState, tools.mergeTimeseriesState):
        registry.add(make_tool(writing, permissions=Permission.WRITE, idempotent=True))


@dataclass(frozen=True, slots=True)
class _StateTools:
    """The tools for saved values (D-80); models see their names, docstrings and signatures."""

    store: StateStore

    def saveState(self, key: str, value: Any) -> dict[str, Any]:  # noqa: ANN401, N802 - any JSON
        """Save a value under a key for later goals.

        Args:
            key: A short name.
            value: Any JSON.
        """
        self.store.save(key, value)
        return {"success": True, "key": key}

    def loadState(self, key: str) -> dict[str, Any]:  # noqa: N802
        """Load the value that an earlier goal saved under a key.

        Args:
            key: A key of listStateKeys.
        """
        exists, value = self.store.load(key)
        return {"success": True, "found": exists, "key": key, "value": value}

    def listStateKeys(self) -> dict[str, Any]:  # noqa: N802
        """List the keys of all saved values."""
        keys = self.store.keys()
        return {"success": True, "keys": keys, "count": len(keys)}

    def mergeTimeseriesState(self, key: str, items: list[Any]) -> dict[str, Any]:  # noqa: N802
        """Merge records into a saved series: one for each id, the newest wins.

        Args:
            key: The series.
            items: The records, each with an id, and with a date or timestamp.
        """
        counts = {"added": 0, "duplicates": 0}
        series = self.store.change(key, lambda old: _merged(_series(key, old), items, counts))
        return {"success": True, **counts, "total_count": len(series["items"])}

    def queryTimeseriesState(self, key: str, start: str | int, end: str | int) -> dict[str, Any]:  # noqa: N802
        """Get the records of a saved series between two times, and whether they are complete.

        Args:
            key: The series.
            start: Unix seconds or a date, inclusive.
            end: Unix seconds or a date, inclusive.
        """
        first, last = _moment_of(start), _moment_of(end)
        if first > last:
            raise ToolError("start is after end: swap them")
        series = _series(key, self.store.load(key)[1])
        items = [record for record in series["items"] if first <= _time_of(record) <= last]
        coverage = "none"
        for covered_from, covered_to in _joined(series["covered"]):
            if covered_from <= first and last <= covered_to:
                coverage = "full"
            elif covered_from <= last and first <= covered_to:
                coverage = "partial"
        return {"success": True, "coverage": coverage, "items": items, "count": len(items)}


def _series(key: str, value: Any) -> dict[str, Any]:  # noqa: ANN401 - what was saved
    """Return a saved series: its records, and the spans of time that merged records covered."""
    if value is None:
        return {"items": [], "covered": []}
    if not isinstance(value, dict) or not {"items", "covered"} <= value.keys():
        raise StateError(f'the saved value of "{key}" is not a series: use another key')
    return value


def _merged(
    series: Mapping[str, Any], items: Sequence[Any], counts: dict[str, int]
) -> dict[str, Any]:
    """Merge records into a series, and count them."""
    records: dict[Any, Record] = {record["id"]: record for record in series["items"]}
    for record in items:
        identity = record.get("id") if isinstance(record, Mapping) else None
        if identity is None or isinstance(identity, list | dict):
            raise ToolError("a record has no id")
        older = records.get(identity)
        if older is None or _time_of(record) >= _time_of(older):
            records[identity] = record
        counts["added" if older is None else "duplicates"] += 1
    times = [_time_of(record) for record in items]
    covered = [*series["covered"], [min(times), max(times)]] if times else series["covered"]
    in_order = sorted(records.values(), key=lambda item: (_time_of(item), str(item["id"])))
    return {"items": in_order, "covered": _joined(covered)}


def _joined(spans: Sequence[list[float]]) -> list[list[float]]:
    """Join spans of time that touch."""
    joined: list[list[float]] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1] + 1:
            joined[-1][1] = max(end, joined[-1][1])
        else:
            joined.append([start, end])
    return joined


def _time_of(record: Record) -> float:
    for name in FIELDS:
        if name in record:
            return _moment_of(record[name])
    raise ToolError(f"a record has no time: it needs a field such as {FIELDS[0]} or {FIELDS[2]}")


def _moment_of(value: object) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, str):
        return parse_moment(value).timestamp()
    raise ToolError(f"{value!r:.60} is not a time: give Unix seconds or an ISO date")
