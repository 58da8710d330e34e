"""Agents: goals, tracks of tickets, sub-agents, tools and sandbox."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.agents.limits import *
    from aggregate.agents.scripted import *
else:
    __getattr__ = door(
        __name__,
        {
            "limits": "EngineLimits TicketLimits",
            "scripted": "load_replies read_script scripted_model ScriptedModel ScriptedReply",
        },
    )
