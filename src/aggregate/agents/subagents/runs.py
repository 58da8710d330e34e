"""Runs of sub-agents."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any


class RunStatus(StrEnum):
    """The state of one sub-agent's run."""

    PENDING = "pending"
    SUCCESS = "success"
    ERROR = "error"
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One sub-agent's run, with its output or error."""

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
