"""Agents: goals, tracks of tickets, sub-agents, tools and sandbox."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.agents.limits import *
    from aggregate.agents.script_file import *
else:
    __getattr__ = door(
        __name__,
        {"limits": "EngineLimits TicketLimits", "script_file": "load_replies ScriptedReply"},
    )
