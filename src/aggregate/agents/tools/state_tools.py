"""State tools: what a goal may remember for later ones (rule D-86)."""

from collections.abc import Callable
from typing import Any

from aggregate.agents.tools.registry import ToolRegistry
from aggregate.agents.tools.state_store import StateStore
from aggregate.agents.tools.timeseries import (
    Record,
    coverage,
    join_spans,
    merge_records,
    moment_of,
    time_of,
)
from aggregate.agents.tools.tool import Permission, make_tool
from aggregate.base.errors import StateError, ToolError


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
            records, counts["added"], counts["duplicates"] = merge_records(
                series["items"], items, id_field=id_field, time_field=timestamp_field
            )
            spans = [
                *map(tuple, series["covered"]),
                *_covered(items, timestamp_field, covered_from, covered_to),
            ]
            return {
                "items": records,
                "covered": join_spans(spans),
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
        first, last = moment_of(start), moment_of(end)
        if first > last:
            raise ToolError("start is after end: exchange them")
        series = _series(key, store.load(key)[1])
        field = series["timestamp_field"]
        items = [record for record in series["items"] if first <= time_of(record, field) <= last]
        return {
            "success": True,
            "coverage": coverage(map(tuple, series["covered"]), first, last),
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
    times = [time_of(record, field) for record in items]
    if not times and (start is None or end is None):
        return []
    first = min(times) if start is None else moment_of(start)
    last = max(times) if end is None else moment_of(end)
    return [(first, last)]
