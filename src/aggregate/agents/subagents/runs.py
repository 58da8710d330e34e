"""Runs of sub-agents and the groups that they belong to."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from aggregate.agents.results import CustomFunction
from aggregate.prompt.results import GroupStatus, MergeStrategy


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
class SpawnRequest:
    task: object  # a text for an agent that the host runs, or a callable for the session's executor
    label: str | None = None
    variable_name: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)  # the host's own, passed through
