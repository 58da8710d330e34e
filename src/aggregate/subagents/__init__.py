"""Fold what many producers gave into one trustworthy result: groups of sub-agents, steps and tools."""

from aggregate.models.result import AggregatedResult, LabelledOutput
from aggregate.subagents.merge import merge_outputs
from aggregate.subagents.protocol import announcement, envelope, sessions_spawn, subagent_results
from aggregate.subagents.session import SubagentSession
from aggregate.subagents.waiting import RunHandle

__all__ = [
    "AggregatedResult",
    "LabelledOutput",
    "RunHandle",
    "SubagentSession",
    "announcement",
    "envelope",
    "merge_outputs",
    "sessions_spawn",
    "subagent_results",
]
