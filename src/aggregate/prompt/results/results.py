"""What sub-agents and steps gave, merged to one value with its provenance, as a prompt folds it in."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from aggregate.base.values import DataReference


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


@dataclass(frozen=True, slots=True)
class AggregatedResult:
    """The results of a group as one value (rules O-10, O-50)."""

    variable_name: str
    strategy: MergeStrategy = MergeStrategy.CONCAT
    value: Any = None  # the merged value; ``None`` while the group is open and for an unknown name
    errors: tuple[str, ...] = ()  # one sentence for each failed run
    # What a reader should know: outputs that could not be merged, empty outputs, keys with several values.
    warnings: tuple[str, ...] = ()
    completed_at: datetime | None = None  # when the group became final
    count: int = 0  # results so far, failed ones included
    status: GroupStatus = GroupStatus.EMPTY
    # For ``concat``: the label of each item of the value, ``""`` where it has none.
    labels: tuple[str, ...] = ()
    failed: int = 0  # how many of the results are failures
    # Where all errors and warnings are, whole, when those above are shortened.
    notes: DataReference | None = None


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
    """What the user reads of a chain of results (rule X-6)."""

    summary: str
    source: AnswerSource
    success: bool  # ``False`` when no result was usable
    warnings: tuple[str, ...] = ()  # failed steps, blank results, a count that was not met
    # All results in order; long lists are shortened when the whole is large (rule D-74).
    detailed_results: tuple[Any, ...] = ()
    whole: DataReference | None = None  # where the whole text is, when ``summary`` only tells of it
    # Where all warnings are, whole, when those above are shortened.
    notes: DataReference | None = None
    missing: str = ""  # what a check found the answer to lack, ``""`` for nothing
