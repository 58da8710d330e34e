"""Sub-agents: spawn them, know how each of them ended, and read what they gave by variable."""

from aggregate.subagents.group_results import SubagentResults
from aggregate.subagents.session import SubagentSession
from aggregate.subagents.spawn_protocol import (
    announcement,
    envelope,
    sessions_spawn,
    subagent_results,
)
from aggregate.subagents.waiting import RunHandle

__all__ = [
    "RunHandle",
    "SubagentResults",
    "SubagentSession",
    "announcement",
    "envelope",
    "sessions_spawn",
    "subagent_results",
]
