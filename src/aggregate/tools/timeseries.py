"""Records that grow over time: merged without doubles, asked by range with the coverage known (rule 1.7)."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, Final, TypeAlias
from zoneinfo import ZoneInfo

from aggregate.errors import ToolError
from aggregate.tools.date_text import parse_moment

FIELDS: Final = ("timestamp", "start_date", "date", "created_at", "updated_at", "time")
"""Where a record's time is looked for when no field is named."""
_UTC: Final = ZoneInfo("UTC")
Record: TypeAlias = Mapping[str, Any]
TimeSpan: TypeAlias = tuple[float, float]


class Coverage(StrEnum):
    """How much of a range the stored records are known to cover."""

    FULL = "full"
    PARTIAL = "partial"
    NONE = "none"


def moment_of(value: object) -> float:
    """Return Unix seconds of a number or a date's text.

    Raises:
        ToolError: It is none.
    """
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, str):
        return parse_moment(value, _UTC)[0].timestamp()
    raise ToolError(f"{value!r:.60} is no time: give Unix seconds or an ISO date")


def time_of(record: Record, field: str = "") -> float:
    """Return a record's time, from ``field`` or the first of ``FIELDS`` that it has.

    Raises:
        ToolError: It has none.
    """
    name = field or next((one for one in FIELDS if one in record), "")
    if name not in record:
        raise ToolError(f"a record has no time: name its field with timestamp_field (it has {', '.join(record)})")
    return moment_of(record[name])


def merge_records(
    old: Iterable[Record], new: Iterable[Any], *, id_field: str = "id", time_field: str = ""
) -> tuple[list[Record], int, int]:
    """Return all records by time, how many ids are new, and how many were there already.

    Of two records with one id the one with the newer time stays; at the same time the one that came later.

    Raises:
        ToolError: A record has no id or no time.
    """
    records: dict[Any, Record] = {one[id_field]: one for one in old}
    added = duplicates = 0
    for one in new:
        key = one.get(id_field) if isinstance(one, Mapping) else None
        if key is None or isinstance(key, list | dict):
            raise ToolError(f'a record has no "{id_field}": name the field of its id with id_field')
        known = records.get(key)
        added, duplicates = (added + 1, duplicates) if known is None else (added, duplicates + 1)
        if known is None or time_of(one, time_field) >= time_of(known, time_field):
            records[key] = one
    in_order = sorted(records.values(), key=lambda one: (time_of(one, time_field), str(one[id_field])))
    return in_order, added, duplicates


def join_spans(spans: Iterable[TimeSpan]) -> list[TimeSpan]:
    """Return spans in order, those that touch or overlap made one; seconds are whole, so 1-2 and 3-4 touch."""
    result: list[TimeSpan] = []
    for start, end in sorted(spans):
        if result and start <= result[-1][1] + 1:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        else:
            result.append((start, end))
    return result


def coverage(spans: Iterable[TimeSpan], start: float, end: float) -> Coverage:
    """Return how much of ``start`` to ``end`` the spans cover."""
    touching = [span for span in join_spans(spans) if span[0] <= end and span[1] >= start]
    if not touching:
        return Coverage.NONE
    whole = touching[0][0] <= start and touching[0][1] >= end
    return Coverage.FULL if whole else Coverage.PARTIAL
