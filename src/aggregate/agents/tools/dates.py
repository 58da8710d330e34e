"""Tools for dates and timestamps (rules D-86 to D-88).

A range includes its whole last day: its end is one second before the next day (rule X-10).
"""

import re
from calendar import monthrange
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

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
EARLIEST, LATEST = -62_135_596_800, 253_402_300_799  # Unix times of the years 1 to 9999


def parse_moment(text: str, where: ZoneInfo) -> tuple[datetime, bool]:
    """Parse a date or time.

    Return the moment, and whether the text is a date without a time. Formats are ISO 8601, ``September 1, 2025``,
    ``1 Sep 2025``, and seconds of Unix time. A time without a zone is taken in ``where``.
    """
    plain = " ".join(text.split())
    try:
        if _UNIX.fullmatch(plain):
            return datetime.fromtimestamp(int(plain), UTC), False
        if day := _date_with_month_name(plain.lower()):
            return datetime.combine(day, time(), where), True
        if len(plain) <= len("2025-09-30"):
            return datetime.combine(date.fromisoformat(plain), time(), where), True
        moment = datetime.fromisoformat(plain)
    except (ValueError, OverflowError, OSError) as error:
        raise ToolError(
            f'"{text:.60}" is not a date: {error!s:.100}; write 2025-09-30 or September 30, 2025'
        ) from None
    return moment if moment.tzinfo else moment.replace(tzinfo=where), False


def _date_with_month_name(text: str) -> date | None:
    match = _NAME_FIRST.fullmatch(text) or _DAY_FIRST.fullmatch(text)
    for month, name in enumerate(MONTHS, 1):
        if match and name.startswith(match["month"]):
            return date(int(match["year"]), month, int(match["day"]))
    return None


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise ToolError(
            f'unknown time zone "{name}": use one such as UTC or Europe/Berlin'
        ) from None


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

    def dateToUnixTimestamp(  # noqa: N802
        self, date: str, end_of_day: bool = False, timezone: str = "UTC"
    ) -> dict[str, Any]:
        """Convert one date or moment to a Unix timestamp.

        Args:
            date: September 1, 2025, or 2025-09-01, or 2025-09-01T18:30:00Z.
            end_of_day: Give the last second of that day instead of its first.
            timezone: Where the day is, such as Europe/Berlin.
        """
        moment, whole_day = parse_moment(date, _zone(timezone))
        if end_of_day:
            midnight = datetime.combine(moment.date(), time(), moment.tzinfo)
            moment = midnight + timedelta(days=1, seconds=-1)
        return {"success": True, **_moment(moment), "whole_day": whole_day}

    def getDateRangeTimestamps(  # noqa: N802
        self, year: int, month: int | None = None, day: int | None = None, timezone: str = "UTC"
    ) -> dict[str, Any]:
        """Convert a whole year, month or day to the Unix timestamps of its start and end, both inclusive.

        Args:
            year: The year, such as 2025.
            month: 1 to 12; without it the whole year.
            day: 1 to 31; without it the whole month.
            timezone: Where the days are, such as Europe/Berlin.
        """
        where = _zone(timezone)
        if day is not None and month is None:
            raise ToolError("a day needs its month: give month as well")
        try:
            first = date(year, month or 1, day or 1)
            last = date(year, month or 12, day or monthrange(year, month or 12)[1])
        except ValueError as error:
            raise ToolError(f"no such date: {error}") from None
        start = datetime.combine(first, time(), where)
        end = datetime.combine(last, time(23, 59, 59), where)
        days = {"start_date": first.isoformat(), "end_date": last.isoformat()}
        return {"success": True, **_ends(start, end), **days}

    def validateTimestamp(self, timestamp: int) -> dict[str, Any]:  # noqa: N802
        """Check a Unix timestamp and say which moment it is.

        Args:
            timestamp: Seconds since 1970; milliseconds are recognised and reported.
        """
        if not EARLIEST <= timestamp <= LATEST:
            milliseconds = EARLIEST * 1000 <= timestamp <= LATEST * 1000
            advice = f"; as milliseconds it is {_iso(timestamp // 1000)}" if milliseconds else ""
            reason = f"not a time in the years 1 to 9999{advice}"
            return {"success": True, "valid": False, "reason": reason}
        return {"success": True, "valid": True, "iso": _iso(timestamp), "unix_timestamp": timestamp}

    def getCurrentDateTime(self, timezone: str = "UTC") -> dict[str, Any]:  # noqa: N802
        """Give the current date, time and Unix timestamp.

        Args:
            timezone: Where, such as Europe/Berlin.
        """
        moment = self._now().astimezone(_zone(timezone))
        parts = {
            "date": f"{moment:%Y-%m-%d}",
            "time": f"{moment:%H:%M:%S}",
            "weekday": f"{moment:%A}",
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
        is_now = base.strip().lower() == "now"
        start = self._now() if is_now else parse_moment(base, ZoneInfo("UTC"))[0]
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


def _iso(timestamp: int) -> str:
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=timestamp)).isoformat()
