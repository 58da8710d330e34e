"""The tools that come with the package, but for those of a project (rules D-86 to D-89, P15, X-10)."""

from datetime import UTC, datetime
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from aggregate import ToolRegistry, standard_tools
from aggregate.agents.tools import add_date_tools, state_store

NOW = datetime(2025, 9, 30, 18, 30, tzinfo=UTC)
TOOLS = ToolRegistry()
add_date_tools(TOOLS, now=lambda: NOW)

CALLS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("getDateRangeTimestamps", {"year": 2024, "month": 1}, {"after_unix": 1704067200, "before_unix": 1706745599}),
    ("getDateRangeTimestamps", {"year": 2025, "month": 9}, {"after_unix": 1756684800, "before_unix": 1759276799}),
    ("getDateRangeTimestamps", {"year": 2024}, {"start_date": "2024-01-01", "end_date": "2024-12-31"}),
    ("getDateRangeTimestamps", {"year": 2024, "month": 2, "day": 29}, {"before_unix": 1709251199}),
    ("dateToUnixTimestamp", {"date": "September 1, 2025"}, {"unix_timestamp": 1756684800}),
    ("dateToUnixTimestamp", {"date": "September 30, 2025"}, {"unix_timestamp": 1759190400}),
    ("dateToUnixTimestamp", {"date": "30th of Sept. 2025"}, {"unix_timestamp": 1759190400}),
    ("dateToUnixTimestamp", {"date": "2025-09-30"}, {"unix_timestamp": 1759190400}),
    ("dateToUnixTimestamp", {"date": "2025-09-30T00:00:00+02:00"}, {"unix_timestamp": 1759183200}),
    ("getCurrentDate", {}, {"date": "2025-09-30", "weekday": "Tuesday", "unix_timestamp": 1759257000}),
    ("getCurrentDateTime", {}, {"date": "2025-09-30", "time": "18:30:00"}),
    ("calculateTimestamp", {"amount": -30}, {"unix_timestamp": 1756665000}),
    ("getRelativeTimestamp", {"amount": 1, "unit": "month", "base": "2024-01-31"}, {"iso": "2024-02-29T00:00:00+00:00"}),
    ("getRelativeTimestamp", {"amount": -1, "unit": "years", "base": "2024-02-29"}, {"iso": "2023-02-28T00:00:00+00:00"}),
    ("getDateTimeHoursAgo", {"hours": 24}, {"after_unix": 1759170600, "before_unix": 1759257000}),
    ("validateTimestamp", {"timestamp": 1759190400}, {"valid": True, "iso": "2025-09-30T00:00:00+00:00"}),
    ("validateTimestamp", {"timestamp": 1759190400000},
     {"valid": False, "reason": "not a time in the years 1 to 9999; are these milliseconds?"}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "arguments", "expected"), CALLS)
def test_what_the_tools_give(
    name: str, arguments: dict[str, Any], expected: dict[str, Any]
) -> None:
    """Both spellings work; ranges hold their whole last day (D-86, D-87, D-88, X-10)."""
    result = TOOLS.run(name, arguments)
    assert result["success"]
    assert {key: result[key] for key in expected} == expected


MISTAKES = [
    ("dateToUnixTimestamp", {"date": "the day after"}, "is not a date"),
    ("dateToUnixTimestamp", {"date": "February 30, 2025"}, "is not a date"),
    ("dateToUnixTimestamp", {"date": "999999999999"}, "is not a date"),
    ("getDateRangeTimestamps", {"year": 2024, "month": 13}, "no such date"),
    ("getDateRangeTimestamps", {"year": 2024, "day": 3}, "a day needs its month"),
    ("getRelativeTimestamp", {"amount": 1, "unit": "parsecs"}, "unknown unit"),
    ("getRelativeTimestamp", {"amount": 10**9, "unit": "years"}, "outside of the years"),
    ("getDateTimeHoursAgo", {"hours": 10**12}, "outside of the years"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "arguments", "error"), MISTAKES)
def test_mistakes_say_what_to_do(name: str, arguments: dict[str, Any], error: str) -> None:
    """A wrong date is a failed result that may be tried again."""
    result = TOOLS.run(name, arguments)
    assert (result["success"], result["retry"]) == (False, True)
    assert error in result["error"]


@settings(deadline=None)
@given(st.integers(1970, 2200), st.integers(1, 12))
def test_months_tile_the_year(year: int, month: int) -> None:
    """A month's range ends one second before the next begins (X-10)."""
    following = {"year": year + month // 12, "month": month % 12 + 1}
    this, after = (
        TOOLS.run("getDateRangeTimestamps", one)
        for one in ({"year": year, "month": month}, following)
    )
    assert this["before_unix"] + 1 == after["after_unix"]


def state_tools(folder: Path) -> ToolRegistry:
    return standard_tools(state_dir=folder, permissions="read, write")


def test_values_are_saved_loaded_and_listed(tmp_path: Path) -> None:
    """A value comes back under its key; nothing is made on disk before something is saved."""
    made = state_tools(tmp_path / "state")
    assert made.run("listStateKeys", {}) == {"success": True, "keys": [], "count": 0}
    nothing = {"success": True, "found": False, "key": "a", "value": None}
    assert made.run("loadState", {"key": "a"}) == nothing
    assert not (tmp_path / "state").exists()
    saved = made.run("saveState", {"key": "b", "value": {"n": [1, None]}})
    assert saved == {"success": True, "key": "b"}
    made.run("saveState", {"key": "a", "value": "é"})
    assert made.run("loadState", {"key": "b"})["value"] == {"n": [1, None]}
    assert state_tools(tmp_path / "state").run("listStateKeys", {})["keys"] == ["a", "b"]


def test_saving_needs_its_permission(tmp_path: Path) -> None:
    """With the default permissions a goal can read saved state only."""
    made = standard_tools(state_dir=tmp_path)
    assert "needs the permission write" in made.run("saveState", {"key": "a", "value": 1})["error"]


def test_a_damaged_store_is_a_failed_result(tmp_path: Path) -> None:
    """No traceback reaches anyone."""
    (tmp_path / "state.db").write_bytes(b"not a database" * 100)
    result = state_tools(tmp_path).run("listStateKeys", {})
    assert result["success"] is False
    assert "the saved state cannot be used" in result["error"]


@pytest.mark.parametrize("key", ["", "  ", "k" * 201])
def test_keys_are_bounded(tmp_path: Path, key: str) -> None:
    """An empty or endless key is refused."""
    error = state_tools(tmp_path).run("saveState", {"key": key, "value": 1})["error"]
    assert "a key has 1 to 200 characters" in error


def runs(*rows: tuple[int, int, str]) -> list[dict[str, Any]]:
    return [{"id": number, "timestamp": when, "name": name} for number, when, name in rows]


def test_series_are_merged_by_id(tmp_path: Path) -> None:
    """One record for each id, the newest wins; counts say what was added (D-86)."""
    made = state_tools(tmp_path)
    for items, counts in (
        (runs((1, 100, "old"), (2, 200, "b")), (2, 0, 2)),
        (runs((1, 150, "new"), (2, 50, "stale"), (3, 300, "c")), (1, 2, 3)),
    ):
        merged = made.run("mergeTimeseriesState", {"key": "runs", "items": items})
        assert (merged["added"], merged["duplicates"], merged["total_count"]) == counts
    found = made.run("queryTimeseriesState", {"key": "runs", "start": 0, "end": 1000})
    assert [one["name"] for one in found["items"]] == ["new", "b", "c"]


def _coverage(made: ToolRegistry, start: int, end: int, key: str = "runs") -> str:
    query = {"key": key, "start": start, "end": end}
    return str(made.run("queryTimeseriesState", query)["coverage"])


def test_the_coverage_of_a_range(tmp_path: Path) -> None:
    """Full, partial or none, by the times that merged records covered; gaps are none until a call covers them (D-86)."""
    made = state_tools(tmp_path)
    made.run("mergeTimeseriesState", {"key": "runs", "items": runs((1, 100, "a"), (2, 300, "b"))})
    assert [_coverage(made, 100, 300), _coverage(made, 150, 250)] == ["full", "full"]
    assert [_coverage(made, 50, 150), _coverage(made, 250, 400)] == ["partial", "partial"]
    assert [_coverage(made, 301, 400), _coverage(made, 1, 2, "none")] == ["none", "none"]
    made.run("mergeTimeseriesState", {"key": "runs", "items": runs((3, 500, "c"))})
    assert _coverage(made, 100, 500) == "partial"
    between = {"key": "runs", "items": runs((2, 300, "b"), (3, 500, "c"))}
    assert made.run("mergeTimeseriesState", between)["total_count"] == 3
    assert _coverage(made, 100, 500) == "full"


def test_records_without_id_or_time_are_mistakes(tmp_path: Path) -> None:
    """The result names what is missing, and the series stays as it was."""
    made = state_tools(tmp_path)
    made.run("mergeTimeseriesState", {"key": "runs", "items": runs((1, 100, "a"))})
    for items in ([{"timestamp": 1}], [{"id": 2}], ["text"]):
        assert made.run("mergeTimeseriesState", {"key": "runs", "items": items})["success"] is False
    assert made.run("queryTimeseriesState", {"key": "runs", "start": 0, "end": 999})["count"] == 1


def test_merges_of_many_threads_lose_nothing(tmp_path: Path) -> None:
    """Each merge is one transaction."""
    store = state_store(tmp_path)

    def add(number: int) -> None:
        store.change("all", lambda old: [*(old or []), number])

    threads = [Thread(target=add, args=(number,)) for number in range(12)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert sorted(store.load("all")[1]) == list(range(12))
