"""Spawn sub-agents; read their merged outputs by variable name."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.agents.subagents.runs import RunRecord, RunStatus
    from aggregate.agents.subagents.session import *
    from aggregate.agents.subagents.spawn_protocol import *
else:
    __getattr__ = door(
        __name__,
        {
            "runs": "RunRecord RunStatus",
            "session": "RunHandle SubagentSession",
            "spawn_protocol": "sessions_spawn",
        },
    )
