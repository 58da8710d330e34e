"""Sub-agents: spawn them, know how each of them ended, and read what they gave by variable."""

from typing import TYPE_CHECKING

from aggregate.base.door import door

if TYPE_CHECKING:
    from aggregate.agents.subagents.session import *
    from aggregate.agents.subagents.spawn_protocol import *
else:
    __getattr__ = door(
        __name__,
        {
            "session": "RunHandle SubagentResults SubagentSession",
            "spawn_protocol": "announcement envelope sessions_spawn subagent_results",
        },
    )
