"""Date and time tools (rules D-86 to D-88, X-10)."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from aggregate import ToolRegistry
from aggregate.agents.tools import add_date_tools

NOW = datetime(2025, 9, 30, 18, 30, tzinfo=UTC)
TOOLS = ToolRegistry()
add_date_tools(TOOLS, now=lambda: NOW)

CALLS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("getDateRangeTimestamps", {"year": 2024, "month": 1}, {"after_unix": 1704067200, "before_unix": 1706745599}),
    ("getDateRangeTimestamps", {"year": 2025, "month": 9}, {"after_unix": 1756684800, "before_unix": 1759276799}),
    ("getDateRangeTimestamps", {"year": 2024}, {"start_date": "2024-01-01", "end_date": "2024-12-31"}),
    ("getDateRangeTimestamps", {"year": 2024, "month": 2, "day": 29}, {"before_unix": 1709251199}),
    ("getDateRangeTimestamps", {"year": 2025, "month": 3, "day": 30, "timezone": "Europe/Berlin"},
     {"after_unix": 1743289200, "before_unix": 1743371999}),
    ("dateToUnixTimestamp", {"date": "September 1, 2025"}, {"unix_timestamp": 1756684800}),
    ("dateToUnixTimestamp", {"date": "September 30, 2025"}, {"unix_timestamp": 1759190400}),
    ("dateToUnixTimestamp", {"date": "September 30, 2025", "end_of_day": True}, {"unix_timestamp": 1759276799}),
    ("dateToUnixTimestamp", {"date": "30th of Sept. 2025"}, {"unix_timestamp": 1759190400}),
    ("dateToUnixTimestamp", {"date": "2025-09-30"}, {"unix_timestamp": 1759190400}),
    ("dateToUnixTimestamp", {"date": "2025-09-30T00:00:00+02:00"}, {"unix_timestamp": 1759183200}),
    ("getCurrentDate", {}, {"date": "2025-09-30", "weekday": "Tuesday", "unix_timestamp": 1759257000}),
    ("getCurrentDateTime", {"timezone": "Asia/Tokyo"}, {"date": "2025-10-01", "unix_timestamp": 1759257000}),
    ("calculateTimestamp", {"amount": -30}, {"unix_timestamp": 1756665000}),
    ("getRelativeTimestamp", {"amount": 1, "unit": "month", "base": "2024-01-31"}, {"iso": "2024-02-29T00:00:00+00:00"}),
    ("getRelativeTimestamp", {"amount": -1, "unit": "years", "base": "2024-02-29"}, {"iso": "2023-02-28T00:00:00+00:00"}),
    ("getDateTimeHoursAgo", {"hours": 24}, {"after_unix": 1759170600, "before_unix": 1759257000}),
    ("validateTimestamp", {"timestamp": 1759190400}, {"valid": True, "iso": "2025-09-30T00:00:00+00:00"}),
    ("validateTimestamp", {"timestamp": 1759190400000},
     {"valid": False, "reason": "no second of the years 1 to 9999; as milliseconds it is 2025-09-30T00:00:00+00:00"}),
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
    ("dateToUnixTimestamp", {"date": "the day after"}, "is no date"),
    ("dateToUnixTimestamp", {"date": "February 30, 2025"}, "is no date"),
    ("dateToUnixTimestamp", {"date": "999999999999"}, "is no date"),
    ("dateToUnixTimestamp", {"date": "2025-09-01", "timezone": "Mars/Base"}, 'there is no time zone "Mars/Base"'),
    ("dateToUnixTimestamp", {"date": "2025-09-01", "timezone": "../../etc/passwd"}, "there is no time zone"),
    ("getDateRangeTimestamps", {"year": 2024, "month": 13}, "there is no such date"),
    ("getDateRangeTimestamps", {"year": 2024, "day": 3}, "a day needs its month"),
    ("getRelativeTimestamp", {"amount": 1, "unit": "parsecs"}, "there is no unit"),
    ("getRelativeTimestamp", {"amount": 10**9, "unit": "years"}, "lead out of the years"),
    ("getDateTimeHoursAgo", {"hours": 10**12}, "lead out of the years"),
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
