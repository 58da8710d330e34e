"""What sub-agents, steps and tools gave: their groups and runs, and the merged values with their provenance."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from aggregate.base.values.values import DataReference


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


class RunStatus(StrEnum):
    """Where one sub-agent's run stands."""

    PENDING = "pending"
    SUCCESS = "success"
    ERROR = "error"
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"


class FailurePolicy(StrEnum):
    """What a failed run does to its group: it is listed, it is not listed, or it ends the group."""

    REPORT = "report"
    SKIP = "skip"
    FAIL = "fail"


class MergeOrder(StrEnum):
    """The order in which results are merged: as the runs were spawned, or as they ended (for races)."""

    SPAWN = "spawn"
    COMPLETION = "completion"


# A Python callable, a Python expression or lambda as text, or a JavaScript function as text.
CustomFunction = Callable[[list[Any]], Any] | str


@dataclass(frozen=True, slots=True)
class RunRecord:
    run_id: str  # unique within its session
    session_key: str  # the parent session
    variable_name: str | None = None  # the group, ``None`` for a run that is not collected
    label: str | None = None
    status: RunStatus = RunStatus.PENDING
    output: Any = None  # ``None`` unless it succeeded
    error: str | None = None  # ``None`` while it is pending and where it succeeded
    completed_at: datetime | None = None
    sequence: int = 0  # its place among the session's ended runs, from 1; 0 while it is pending

    @property
    def name(self) -> str:
        return self.label or self.run_id


@dataclass(frozen=True, slots=True)
class Group:
    variable_name: str
    strategy: MergeStrategy = MergeStrategy.CONCAT
    custom_function: CustomFunction | None = None
    order: MergeOrder = MergeOrder.SPAWN
    on_error: FailurePolicy = FailurePolicy.REPORT
    status: GroupStatus = GroupStatus.PENDING
    spawned: int = 0
    ended: int = 0  # failed runs included
    opened: int = 1  # how often: a spawn into a complete group opens it again
    completed_at: datetime | None = None  # ``None`` while it is open
    last_sequence: int = 0  # of the run that made it final, 0 while it is open; later ends are late
    closed: bool = False  # no run may be spawned into it any more


@dataclass(frozen=True, slots=True)
class LabelledOutput:
    """One output on its way into a merge."""

    output: Any = None  # any value; ignored where ``error`` is set
    label: str | None = None  # the name that the user gave it; the key in a ``json`` merge
    run_id: str = ""  # names it in warnings where it has no label
    error: str | None = None  # why there is no output, or ``None``

    @property
    def name(self) -> str:
        return self.label or self.run_id


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


@dataclass(frozen=True, slots=True)
class CompilationContext:
    """What a result compiler is told beside the results (rule R-3)."""

    user_prompt: str
    tools_executed: list[str]  # names of the tools, in the order in which they ran
    timestamp: datetime  # when the analysis ran; a naive time is taken as UTC
    analysis_type: str = "ai_orchestrated"


@dataclass(frozen=True, slots=True)
class SpawnRequest:
    task: object  # a text for an agent that the host runs, or a callable for the session's executor
    label: str | None = None
    variable_name: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)  # the host's own, passed through
