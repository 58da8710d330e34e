"""Sub-agents: spawn them, know how each of them ended, and read what they gave by variable."""

from typing import TYPE_CHECKING

from aggregate.base.door import door

if TYPE_CHECKING:
    from aggregate.agents.subagents.group_results import SubagentResults
    from aggregate.agents.subagents.session import RunHandle, SubagentSession
    from aggregate.agents.subagents.spawn_protocol import (
        announcement,
        envelope,
        sessions_spawn,
        subagent_results,
    )
else:
    __getattr__ = door(
        __name__,
        {
            "group_results": "SubagentResults",
            "session": "RunHandle SubagentSession",
            "spawn_protocol": "announcement envelope sessions_spawn subagent_results",
        },
    )
