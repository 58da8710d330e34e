"""Records that grow over time: merged without doubles, asked by range with the coverage known (rule D-86)."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, Final, TypeAlias
from zoneinfo import ZoneInfo

from aggregate.agents.tools.date_text import parse_moment
from aggregate.base.errors import ToolError

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
    name = field or next((usual for usual in FIELDS if usual in record), "")
    if name not in record:
        raise ToolError(
            f"a record has no time: name its field with timestamp_field (it has {', '.join(record)})"
        )
    return moment_of(record[name])


def merge_records(
    old: Iterable[Record], new: Iterable[Any], *, id_field: str = "id", time_field: str = ""
) -> tuple[list[Record], int, int]:
    """Return all records by time, how many ids are new, and how many were there already.

    Of two records with one id the one with the newer time stays; at the same time the one that came later.

    Raises:
        ToolError: A record has no id or no time.
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
        if known is None or time_of(record, time_field) >= time_of(known, time_field):
            records[key] = record
    by_time = sorted(
        records.values(), key=lambda record: (time_of(record, time_field), str(record[id_field]))
    )
    return by_time, added, duplicates


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
    touching = [
        (first, last) for first, last in join_spans(spans) if first <= end and last >= start
    ]
    if not touching:
        return Coverage.NONE
    first, last = touching[0]
    return Coverage.FULL if first <= start and last >= end else Coverage.PARTIAL
