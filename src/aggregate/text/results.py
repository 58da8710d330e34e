"""Aggregated results as text: what a reader of a prompt or a terminal sees."""

import json
from dataclasses import asdict, is_dataclass
from datetime import date, time

from aggregate.models.group import MergeStrategy
from aggregate.models.plain import Value
from aggregate.models.result import AggregatedResult


def result_text(result: AggregatedResult, *, labels: bool = True) -> str:
    """Render the value of ``result``; open and unknown groups give ``""``.

    Args:
        result: What a group became.
        labels: Write ``label: `` before each item of a ``concat`` that has a label (rule 2.4).
    """
    if result.value is None:
        return ""
    if result.strategy is not MergeStrategy.CONCAT or not isinstance(result.value, list):
        return value_text(result.value)
    names = result.labels if labels and len(result.labels) == len(result.value) else ("",) * len(result.value)
    items = zip(names, map(value_text, result.value), strict=True)
    return "\n\n".join(f"{name}: {text}" if name else text for name, text in items)


def value_text(value: Value, *, indent: int | None = 2) -> str:
    """Return text as it is and anything else as JSON; the same value gives the same text in every process."""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, indent=indent, ensure_ascii=False, default=_plain)
    except (TypeError, ValueError, RecursionError):
        return f"<{type(value).__name__} that JSON cannot hold>"


def _plain(value: Value) -> Value:
    """Stand in for what JSON does not know, without addresses or hash order."""
    if isinstance(value, set | frozenset):
        return sorted(value, key=repr)
    if isinstance(value, date | time):
        return value.isoformat()
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", errors="replace")
    return f"<{type(value).__name__}>"
