"""Runs of sub-agents, and their groups."""

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from aggregate.agents.results import CustomFunction
from aggregate.prompt.results import GroupStatus, MergeStrategy


class RunStatus(StrEnum):
    """The state of one sub-agent's run."""

    PENDING = "pending"
    SUCCESS = "success"
    ERROR = "error"
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"


class FailurePolicy(StrEnum):
    """What a failed run does to its group: it is listed, skipped, or ends the group."""

    REPORT = "report"
    SKIP = "skip"
    FAIL = "fail"


class MergeOrder(StrEnum):
    """The order of merged outputs: by spawn or by completion."""

    SPAWN = "spawn"
    COMPLETION = "completion"


@dataclass(frozen=True, slots=True)
class RunRecord:
    run_id: str  # unique within its session
    session_key: str  # the parent session
    variable_name: str | None = None  # its group, if any
    label: str | None = None
    status: RunStatus = RunStatus.PENDING
    output: Any = None  # ``None`` unless it succeeded
    error: str | None = None  # ``None`` unless it failed
    completed_at: datetime | None = None
    sequence: int = 0  # its position among the session's ended runs, from 1; 0 while it is pending

    @property
    def name(self) -> str:
        return self.label or self.run_id


@dataclass(frozen=True, slots=True)
class Group:
    """The runs of one variable: pending until the first result, partial until the last, then complete."""

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
    last_sequence: int = 0  # of the run that made it final; later ends are late
    closed: bool = False  # to further spawns

    def with_run(self) -> "Group":
        """Return the group with one more run; a complete group becomes partial again (rule O-43)."""
        group = replace(self, spawned=self.spawned + 1)
        if not group.status.final:
            return group
        return replace(
            group,
            status=GroupStatus.PARTIAL if group.ended else GroupStatus.PENDING,
            opened=group.opened + 1,
            completed_at=None,
            last_sequence=0,
        )

    def with_end(self, run: RunRecord) -> "Group":
        """Return the group with one more ended run (rules O-48, O-54)."""
        group = replace(self, ended=self.ended + 1)
        if group.status is GroupStatus.FAILED:
            return group
        fails = group.on_error is FailurePolicy.FAIL and run.status is not RunStatus.SUCCESS
        if not fails and group.ended < group.spawned:
            return replace(group, status=GroupStatus.PARTIAL)
        return replace(
            group,
            status=GroupStatus.FAILED if fails else GroupStatus.COMPLETE,
            completed_at=run.completed_at,
            last_sequence=run.sequence,
        )
