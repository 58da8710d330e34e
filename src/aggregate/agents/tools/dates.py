"""Tools for dates and timestamps, all in UTC (rules D-86 to D-88).

A range includes its whole last day: its end is one second before the next day (rule X-10).
"""

import re
from calendar import monthrange
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final

from aggregate.agents.tools.registry import ToolRegistry
from aggregate.base.errors import ToolError

_MONTHS: Final = """
january february march april may june july august september october november december
"""
MONTHS: Final = _MONTHS.split()
_MONTH: Final = r"(?P<month>[a-z]{3,})\.?"
_DAY: Final = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR: Final = r"(?:\s*,)?\s+(?P<year>\d{4})"
_NAME_FIRST: Final = re.compile(rf"{_MONTH}\s+{_DAY}{_YEAR}")
_DAY_FIRST: Final = re.compile(rf"{_DAY}\s+(?:of\s+)?{_MONTH}{_YEAR}")
_UNIX: Final = re.compile(r"-?\d{9,12}")
DAY: Final = 86_400
UNITS: Final = {"second": 1, "minute": 60, "hour": 3600, "day": DAY, "week": 7 * DAY}
MONTHS_OF_UNIT: Final = {"month": 1, "year": 12}


def parse_moment(text: str) -> datetime:
    """Parse a date or time.

    Formats are ISO 8601, ``September 1, 2025``, ``1 Sep 2025``, and seconds of Unix time. A time without a zone is UTC.
    """
    plain = " ".join(text.split())
    match = _NAME_FIRST.fullmatch(plain.lower()) or _DAY_FIRST.fullmatch(plain.lower())
    try:
        if _UNIX.fullmatch(plain):
            return datetime.fromtimestamp(int(plain), UTC)
        for month, name in enumerate(MONTHS, 1):
            if match and name.startswith(match["month"]):
                return datetime(int(match["year"]), month, int(match["day"]), tzinfo=UTC)
        moment = datetime.fromisoformat(plain)
    except (ValueError, OverflowError, OSError) as error:
        raise ToolError(
            f'"{text:.60}" is not a date: {error!s:.100}; write 2025-09-30 or September 30, 2025'
        ) from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def add_date_tools(
    registry: ToolRegistry, *, now: Callable[[], datetime] = lambda: datetime.now(UTC)
) -> None:
    """Register the tools for dates and times, with their aliases."""
    registry.add_methods(_DateTools(now))
    registry.alias("getCurrentDate", "getCurrentDateTime")
    registry.alias("calculateTimestamp", "getRelativeTimestamp")


class _DateTools:
    """The tools for dates (D-80); models see their names, docstrings and signatures."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now

    def dateToUnixTimestamp(self, date: str) -> dict[str, Any]:  # noqa: N802
        """Convert one date or moment to a Unix timestamp.

        Args:
            date: September 1, 2025, or 2025-09-01, or 2025-09-01T18:30:00Z.
        """
        return {"success": True, **_moment(parse_moment(date))}

    def getDateRangeTimestamps(  # noqa: N802
        self, year: int, month: int | None = None, day: int | None = None
    ) -> dict[str, Any]:
        """Convert a whole year, month or day to the Unix timestamps of its start and end, both inclusive.

        Args:
            year: The year, such as 2025.
            month: 1 to 12; without it the whole year.
            day: 1 to 31; without it the whole month.
        """
        if day is not None and month is None:
            raise ToolError("a day needs its month: give month as well")
        try:
            first = date(year, month or 1, day or 1)
            last = date(year, month or 12, day or monthrange(year, month or 12)[1])
        except ValueError as error:
            raise ToolError(f"no such date: {error}") from None
        start = datetime.combine(first, time(), UTC)
        end = datetime.combine(last, time(23, 59, 59), UTC)
        days = {"start_date": first.isoformat(), "end_date": last.isoformat()}
        return {"success": True, **_ends(start, end), **days}

    def validateTimestamp(self, timestamp: int) -> dict[str, Any]:  # noqa: N802
        """Check a Unix timestamp and say which moment it is.

        Args:
            timestamp: Seconds since 1970.
        """
        try:
            moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=timestamp)
        except OverflowError:
            reason = "not a time in the years 1 to 9999; are these milliseconds?"
            return {"success": True, "valid": False, "reason": reason}
        return {"success": True, "valid": True, **_moment(moment)}

    def getCurrentDateTime(self) -> dict[str, Any]:  # noqa: N802
        """Give the current date, time and Unix timestamp."""
        moment = self._now().astimezone(UTC)
        parts = {
            "date": moment.date().isoformat(),
            "time": moment.strftime("%H:%M:%S"),
            "weekday": moment.strftime("%A"),
        }
        return {"success": True, **_moment(moment), **parts}

    def getRelativeTimestamp(  # noqa: N802
        self, amount: int, unit: str = "days", base: str = "now"
    ) -> dict[str, Any]:
        """Calculate the Unix timestamp some time before or after a moment.

        Args:
            amount: How many units; negative is before.
            unit: seconds, minutes, hours, days, weeks, months or years.
            base: The moment to count from: now, or a date.
        """
        start = self._now() if base.strip().lower() == "now" else parse_moment(base)
        return {"success": True, **_moment(_moved(start, amount, unit))}

    def getDateTimeHoursAgo(self, hours: int) -> dict[str, Any]:  # noqa: N802
        """Give the range from some hours ago until now as Unix timestamps.

        Args:
            hours: How many hours ago.
        """
        end = self._now()
        start = _moved(end, -hours, "hours")
        return {"success": True, **_ends(start, end), **_moment(start)}


def _moved(moment: datetime, amount: int, unit: str) -> datetime:
    name = unit.strip().lower().removesuffix("s")
    if name not in UNITS and name not in MONTHS_OF_UNIT:
        raise ToolError(
            f'unknown unit "{unit}": use seconds, minutes, hours, days, weeks, months or years'
        )
    try:
        if name in UNITS:
            return moment + timedelta(seconds=amount * UNITS[name])
        months = moment.year * 12 + moment.month - 1 + amount * MONTHS_OF_UNIT[name]
        year, month = months // 12, months % 12 + 1
        last_day = monthrange(year, month)[1]
        return moment.replace(year=year, month=month, day=min(moment.day, last_day))
    except (OverflowError, ValueError) as error:
        raise ToolError(
            f"{amount} {unit} lead to a date outside of the years 1 to 9999: {error}"
        ) from None


def _ends(start: datetime, end: datetime) -> dict[str, int]:
    return {"after_unix": int(start.timestamp()), "before_unix": int(end.timestamp())}


def _moment(moment: datetime) -> dict[str, Any]:
    return {"unix_timestamp": int(moment.timestamp()), "iso": moment.isoformat()}
