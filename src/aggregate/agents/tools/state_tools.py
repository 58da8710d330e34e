"""State tools: what a goal may remember for later ones, values and records that grow over time (rule D-86)."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeAlias
from zoneinfo import ZoneInfo

from aggregate.agents.tools.dates import parse_moment
from aggregate.agents.tools.registry import ToolRegistry
from aggregate.agents.tools.state_store import StateStore
from aggregate.agents.tools.tool import Permission, make_tool
from aggregate.base.errors import StateError, ToolError

FIELDS: Final = ("timestamp", "start_date", "date", "created_at", "updated_at", "time")
"""Where a record's time is looked for when no field is named."""
_UTC: Final = ZoneInfo("UTC")
Record: TypeAlias = Mapping[str, Any]
TimeSpan: TypeAlias = tuple[float, float]


def _moment_of(value: object) -> float:
    """Return Unix seconds of a number or a date's text."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, str):
        return parse_moment(value, _UTC)[0].timestamp()
    raise ToolError(f"{value!r:.60} is no time: give Unix seconds or an ISO date")


def _time_of(record: Record, field: str = "") -> float:
    """Return a record's time, from ``field`` or the first of ``FIELDS`` that it has."""
    name = field or next((usual for usual in FIELDS if usual in record), "")
    if name not in record:
        raise ToolError(
            f"a record has no time: name its field with timestamp_field (it has {', '.join(record)})"
        )
    return _moment_of(record[name])


def _merge_records(
    old: Iterable[Record], new: Iterable[Any], *, id_field: str = "id", time_field: str = ""
) -> tuple[list[Record], int, int]:
    """Return all records by time, how many ids are new, and how many were there already.

    Of two records with one id the one with the newer time stays; at the same time the one that came later.
    """
    records: dict[Any, Record] = {record[id_field]: record for record in old}
    added = duplicates = 0
    for record in new:
        key = record.get(id_field) if isinstance(record, Mapping) else None
        if key is None or isinstance(key, list | dict):
            raise ToolError(f'a record has no "{id_field}": name the field of its id with id_field')
        known = records.get(key)
        if known is None:
            added += 1
        else:
            duplicates += 1
        if known is None or _time_of(record, time_field) >= _time_of(known, time_field):
            records[key] = record
    by_time = sorted(
        records.values(), key=lambda record: (_time_of(record, time_field), str(record[id_field]))
    )
    return by_time, added, duplicates


def _join_spans(spans: Iterable[TimeSpan]) -> list[TimeSpan]:
    """Return spans in order, those that touch or overlap made one; seconds are whole, so 1-2 and 3-4 touch."""
    result: list[TimeSpan] = []
    for start, end in sorted(spans):
        if result and start <= result[-1][1] + 1:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        else:
            result.append((start, end))
    return result


def _coverage(spans: Iterable[TimeSpan], start: float, end: float) -> str:
    """Return how much of ``start`` to ``end`` the spans cover: ``full``, ``partial`` or ``none``."""
    touching = [
        (first, last) for first, last in _join_spans(spans) if first <= end and last >= start
    ]
    if not touching:
        return "none"
    first, last = touching[0]
    return "full" if first <= start and last >= end else "partial"


def add_state_tools(registry: ToolRegistry, store: StateStore) -> None:
    """Register the tools that save and load state in ``store``; those that save need the permission to write."""
    save, load, keys = _value_tools(store)
    for function in (load, keys, _query_tool(store)):
        registry.add(make_tool(function))
    for function in (save, _merge_tool(store)):
        # The same value under the same key, and records merged by their ids: twice is as once.
        registry.add(make_tool(function, permissions=Permission.WRITE, idempotent=True))


def _value_tools(store: StateStore) -> tuple[Callable[..., dict[str, Any]], ...]:
    def saveState(key: str, value: Any) -> dict[str, Any]:  # noqa: ANN401, N802 - any JSON; tools are camelCase
        """Save a value under a key for later goals.

        Args:
            key: A short name that says what it is.
            value: What to remember.
        """
        store.save(key, value)
        return {"success": True, "key": key}

    def loadState(key: str) -> dict[str, Any]:  # noqa: N802 - tools are camelCase (D-80)
        """Load the value that an earlier goal saved under a key.

        Args:
            key: One of the keys that listStateKeys gives.
        """
        exists, value = store.load(key)
        return {"success": True, "found": exists, "key": key, "value": value}

    def listStateKeys() -> dict[str, Any]:  # noqa: N802 - tools are camelCase (D-80)
        """List the keys of all saved values."""
        keys = store.keys()
        return {"success": True, "keys": keys, "count": len(keys)}

    return saveState, loadState, listStateKeys


def _merge_tool(store: StateStore) -> Callable[..., dict[str, Any]]:
    def mergeTimeseriesState(  # noqa: N802 - tools are camelCase (D-80)
        key: str,
        items: list[Any],
        id_field: str = "id",
        timestamp_field: str = "",
        covered_from: str | int | None = None,
        covered_to: str | int | None = None,
    ) -> dict[str, Any]:
        """Merge records into a saved series: one for each id, the newest wins.

        Args:
            key: The series.
            items: The records.
            id_field: Where a record's id is.
            timestamp_field: Where its time is; found by itself under the usual names.
            covered_from: From when on the records are complete; by default the first record.
            covered_to: Until when; by default the last record.
        """
        counts = {"added": 0, "duplicates": 0}

        def change(old: Any) -> dict[str, Any]:  # noqa: ANN401 - what was saved
            series = _series(key, old)
            records, counts["added"], counts["duplicates"] = _merge_records(
                series["items"], items, id_field=id_field, time_field=timestamp_field
            )
            spans = [
                *map(tuple, series["covered"]),
                *_covered(items, timestamp_field, covered_from, covered_to),
            ]
            return {
                "items": records,
                "covered": _join_spans(spans),
                "timestamp_field": timestamp_field,
            }

        series = store.change(key, change)
        return {"success": True, **counts, "total_count": len(series["items"])}

    return mergeTimeseriesState


def _query_tool(store: StateStore) -> Callable[..., dict[str, Any]]:
    def queryTimeseriesState(  # noqa: N802 - tools are camelCase (D-80)
        key: str, start: str | int, end: str | int
    ) -> dict[str, Any]:
        """Get the records of a saved series between two times, and whether they are all there.

        Args:
            key: The series.
            start: Unix seconds or a date, inclusive.
            end: Unix seconds or a date, inclusive.
        """
        first, last = _moment_of(start), _moment_of(end)
        if first > last:
            raise ToolError("start is after end: exchange them")
        series = _series(key, store.load(key)[1])
        field = series["timestamp_field"]
        items = [record for record in series["items"] if first <= _time_of(record, field) <= last]
        return {
            "success": True,
            "coverage": _coverage(map(tuple, series["covered"]), first, last),
            "items": items,
            "count": len(items),
        }

    return queryTimeseriesState


def _series(key: str, value: Any) -> dict[str, Any]:  # noqa: ANN401 - what was saved
    if value is None:
        return {"items": [], "covered": [], "timestamp_field": ""}
    if not isinstance(value, dict) or not {"items", "covered", "timestamp_field"} <= value.keys():
        raise StateError(f'"{key}" is saved, but it is no series: take another key')
    return value


def _covered(
    items: list[Record], field: str, start: str | int | None, end: str | int | None
) -> list[tuple[float, float]]:
    times = [_time_of(record, field) for record in items]
    if not times and (start is None or end is None):
        return []
    first = min(times) if start is None else _moment_of(start)
    last = max(times) if end is None else _moment_of(end)
    return [(first, last)]
