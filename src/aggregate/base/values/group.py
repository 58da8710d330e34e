"""Aggregation groups: sub-agents whose results flow into one variable, and the runs that belong to them."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any


class MergeStrategy(StrEnum):
    """How the results of a group become one value."""

    CONCAT = "concat"
    JSON = "json"
    MERGE = "merge"
    FIRST = "first"
    LAST = "last"
    CUSTOM = "custom"


class GroupStatus(StrEnum):
    """Where a group stands; ``EMPTY`` is what an unknown name reads as."""

    EMPTY = "empty"
    PENDING = "pending"
    PARTIAL = "partial"
    COMPLETE = "complete"
    FAILED = "failed"

    @property
    def final(self) -> bool:
        """Whether a reader gets a value: the group is over, or there never was one."""
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


CustomFunction = Callable[[list[Any]], Any] | str
"""A Python callable, a Python expression or lambda as text, or a JavaScript function as text."""


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One run of a sub-agent: what is known of it so far.

    Attributes:
        run_id: Unique within its session.
        session_key: The parent session.
        variable_name: The group it belongs to, or ``None`` for a run that is not collected.
        label: The name that the user gave it.
        status: ``pending`` until it ends.
        output: What it returned, ``None`` unless it succeeded.
        error: Why it gave nothing, ``None`` while it is pending and where it succeeded.
        completed_at: When it ended.
        sequence: Its place among the session's ended runs, from 1; 0 while it is pending.
    """

    run_id: str
    session_key: str
    variable_name: str | None = None
    label: str | None = None
    status: RunStatus = RunStatus.PENDING
    output: Any = None
    error: str | None = None
    completed_at: datetime | None = None
    sequence: int = 0

    @property
    def name(self) -> str:
        """The label, or the run id where there is none."""
        return self.label or self.run_id


@dataclass(frozen=True, slots=True)
class Group:
    """The state of one aggregation group; its runs stand in the state of the session.

    Attributes:
        variable_name: ``$name``.
        strategy: How its results are merged.
        custom_function: For ``MergeStrategy.CUSTOM``.
        order: Which result comes first.
        on_error: What a failed run does.
        status: Where it stands.
        spawned: Runs that belong to it.
        ended: Runs that have ended, failed ones included.
        opened: How often it was opened; a spawn into a complete group opens it again.
        completed_at: When it became final, ``None`` while it is open.
        last_sequence: The ``sequence`` of the run that made it final, 0 while it is open; later ends are late.
        closed: No run may be spawned into it any more.
    """

    variable_name: str
    strategy: MergeStrategy = MergeStrategy.CONCAT
    custom_function: CustomFunction | None = None
    order: MergeOrder = MergeOrder.SPAWN
    on_error: FailurePolicy = FailurePolicy.REPORT
    status: GroupStatus = GroupStatus.PENDING
    spawned: int = 0
    ended: int = 0
    opened: int = 1
    completed_at: datetime | None = None
    last_sequence: int = 0
    closed: bool = False
