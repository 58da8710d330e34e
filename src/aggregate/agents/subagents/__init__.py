"""Spawn sub-agents; read their merged outputs by variable name."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.agents.subagents.session import *
    from aggregate.agents.subagents.spawned_runs import RunRecord, RunStatus
else:
    __getattr__ = door(
        __name__,
        {
            "session": "RunHandle SubagentSession sessions_spawn",
            "spawned_runs": "RunRecord RunStatus",
        },
    )
