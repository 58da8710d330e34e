"""``metadata.json``: a track's status and times, changed in place."""

import json
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from enum import StrEnum


class TrackStatus(StrEnum):
    """The Conductor's words for how far a track is."""

    NEW = "new"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    CANCELLED = "cancelled"


_SPACE = re.compile(r"[\s,]*")
_COLON = re.compile(r"\s*:\s*")


def set_values(text: str, values: Mapping[str, str]) -> str:
    """Return a JSON object's text with top-level values replaced; every other byte stays, missing keys stay missing.

    Raises:
        ValueError: The text is no JSON object.
    """
    for key, start, end in reversed(list(_values(text))):
        if key in values:
            text = text[:start] + json.dumps(values[key], ensure_ascii=False) + text[end:]
    return text


def _values(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield each top-level key with the offsets of its value."""
    if not isinstance(json.loads(text), dict):
        raise ValueError("it is no JSON object")
    decoder = json.JSONDecoder()
    position = _after(_SPACE, text, text.index("{") + 1)
    while text[position] != "}":
        key, position = decoder.raw_decode(text, position)
        start = _after(_COLON, text, position)
        _, end = decoder.raw_decode(text, start)
        yield key, start, end
        position = _after(_SPACE, text, end)


def _after(pattern: re.Pattern[str], text: str, position: int) -> int:
    match = pattern.match(text, position)
    return match.end() if match else position


def timestamp(time: datetime) -> str:
    """Return a time as the Conductor writes it: ISO 8601 in UTC with ``Z``."""
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
