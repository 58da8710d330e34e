"""Dates as people and machines write them."""

import re
from datetime import UTC, date, datetime, time
from typing import Final
from zoneinfo import ZoneInfo

from aggregate.base.errors import ToolError

MONTHS: Final = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_MONTH: Final = r"(?P<month>[a-z]+)\.?"
_DAY: Final = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR: Final = r"(?:\s*,)?\s+(?P<year>\d{4})"
_NAME_FIRST: Final = re.compile(rf"{_MONTH}\s+{_DAY}{_YEAR}")
_DAY_FIRST: Final = re.compile(rf"{_DAY}\s+(?:of\s+)?{_MONTH}{_YEAR}")
_UNIX: Final = re.compile(r"-?\d{9,12}")
DAY: Final = 86_400


def zone(name: str) -> ZoneInfo:
    """Return a time zone by its name, ``UTC`` or ``Europe/Berlin``.

    Raises:
        ToolError: There is none.
    """
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise ToolError(
            f'there is no time zone "{name}": give one such as UTC or Europe/Berlin'
        ) from None


def month_number(text: str) -> int | None:
    """Return 1 to 12 for a month's name or its first three letters or more, else ``None``."""
    word = text.lower().rstrip(".")
    if len(word) < 3:
        return None
    return next((number for number, name in enumerate(MONTHS, 1) if name.startswith(word)), None)


def parse_moment(text: str, where: ZoneInfo) -> tuple[datetime, bool]:
    """Return the moment that ``text`` names, and whether it names a whole day.

    Args:
        text: ISO 8601, ``September 1, 2025``, ``1 Sep 2025``, or seconds of Unix time.
        where: The zone of a text that names none.

    Raises:
        ToolError: It names none, or a day that does not exist.
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
            f'"{text:.60}" is no date: {error!s:.100}; write 2025-09-30 or September 30, 2025'
        ) from None
    return moment if moment.tzinfo else moment.replace(tzinfo=where), False


def _date_with_month_name(text: str) -> date | None:
    match = _NAME_FIRST.fullmatch(text) or _DAY_FIRST.fullmatch(text)
    month = month_number(match["month"]) if match else None
    if match is None or month is None:
        return None
    return date(int(match["year"]), month, int(match["day"]))
