"""Results of sub-agents with their producers, and their text in prompts."""

import re
from collections.abc import Iterator, Mapping, ValuesView
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, Final, NamedTuple

from aggregate.base.json_forms import json_text
from aggregate.base.values import DataReference, Value, escape_surrogates, unawaited


class MergeStrategy(StrEnum):
    CONCAT = "concat"
    JSON = "json"
    MERGE = "merge"
    FIRST = "first"
    LAST = "last"
    CUSTOM = "custom"


class GroupStatus(StrEnum):
    EMPTY = "empty"
    PENDING = "pending"
    PARTIAL = "partial"
    COMPLETE = "complete"
    FAILED = "failed"

    @property
    def final(self) -> bool:
        return self not in (GroupStatus.PENDING, GroupStatus.PARTIAL)


class ProducedText(NamedTuple):
    """A text with the name of its producer."""

    producer: str
    text: str


@dataclass(frozen=True, slots=True)
class AggregatedResult:
    """The outputs of a group of sub-agents, merged into one value (rules O-10, O-50)."""

    variable_name: str
    strategy: MergeStrategy = MergeStrategy.CONCAT
    value: Any = None  # the merged value; ``None`` for an open group or an unknown name
    errors: tuple[str, ...] = ()  # one sentence for each failed run
    warnings: tuple[str, ...] = ()  # outputs that are empty or not mergeable, repeated keys
    completed_at: datetime | None = None  # when the group became final
    count: int = 0  # results so far, failed ones included
    status: GroupStatus = GroupStatus.EMPTY
    labels: tuple[str, ...] = ()  # of the items of a ``concat`` value
    failed: int = 0  # number of failed results
    items: tuple[ProducedText, ...] = ()  # the merged texts, if a producer returned several


class AnswerKind(StrEnum):
    SUBTASKS = "subtasks"
    PYTHON = "python"
    AI = "ai"
    TEXT = "text"
    COUNT = "count"
    VALUE = "value"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class AnswerSource:
    index: int  # 1-based, 0 where none was usable
    kind: AnswerKind
    reason: str


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer that was chosen from the results of several steps (rule X-6)."""

    summary: str
    source: AnswerSource
    success: bool  # ``False`` when no result was usable
    warnings: tuple[str, ...] = ()  # failed steps, blank results, a count that was not met
    detailed_results: tuple[Any, ...] = ()  # all results in order
    whole: DataReference | None = None  # the whole text, if ``summary`` is shorter
    missing: str = ""  # parts that a check did not find in the answer


# A result, the results of a session by name, an answer, or a compiled report.
Results = AggregatedResult | Answer | Mapping[str, Any]
_BREAK: Final = r"\n\r\v\f\x1c-\x1e\x85\u2028\u2029"
# A line's break, and its words up to a colon; labels are shorter.
_LINE: Final = re.compile(rf"([{_BREAK}])([^:{_BREAK}]{{1,300}}):")


def flatten_results(results: object) -> Iterator[Results]:
    """Yield single results, answers and compiled reports, in order.

    A mapping with only ``AggregatedResult`` values yields these; any other is a compiled report. Any other value
    becomes an unnamed result, so that every input gives a prompt.
    """
    for item in results if isinstance(results, list | tuple | ValuesView) else [results]:
        if isinstance(item, AggregatedResult | Answer):
            yield item
        elif not isinstance(item, Mapping):
            yield _unnamed(item)
        elif all(isinstance(value, AggregatedResult) for value in item.values()):
            yield from item.values()
        else:
            yield item


def _unnamed(value: Value) -> AggregatedResult:
    done = AggregatedResult("Result", MergeStrategy.FIRST, count=1, status=GroupStatus.COMPLETE)
    reason = unawaited(value)
    return replace(done, errors=(reason,), failed=1) if reason else replace(done, value=value)


def result_text(result: AggregatedResult, *, labels: bool = True) -> str:
    r"""Render a merged value as text.

    The strategy ``concat`` adds the producers' ``labels`` (rule O-3). A line that looks like a label is escaped by
    ``\``, so no output can forge another output's label.
    """
    if result.value is None:
        return ""
    if result.strategy is not MergeStrategy.CONCAT or not issubclass(type(result.value), list):
        return value_text(result.value)
    texts = [value_text(item) for item in result.value]
    is_labelled = labels and len(result.labels) == len(texts)
    known = {_beginning(name) for name in result.labels if name} if is_labelled else set()
    if not known:
        return "\n\n".join(texts)

    def escaped(match: re.Match[str]) -> str:
        line_break, words = match.groups()
        return f"{line_break}\\{words}:" if _beginning(words) in known else match.group()

    items: list[str] = []
    for name, text in zip(map(escape_surrogates, result.labels), texts, strict=True):
        # The first line of an item with a label stands behind that label.
        body = _LINE.sub(escaped, text if name else f"\n{text}")
        items.append(f"{name}: {body}" if name else body[1:])
    return "\n\n".join(items)


def _beginning(label: str) -> str:
    words = label.strip().partition(":")[0]
    return "".join(filter(str.isalnum, words)).casefold() or words


def value_text(value: Value, *, indent: int | None = 2) -> str:
    """Return a text unchanged, and any other value as JSON."""
    return escape_surrogates(value) if type(value) is str else json_text(value, indent=indent)
