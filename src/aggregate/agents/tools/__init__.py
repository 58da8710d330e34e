"""Tools that models may have called: a registry, and the tools that come with the package.

A tool is a function with a schema; the registry checks its arguments and permissions, bounds its time and output, and
turns every failure into a result. Nothing here asks a model.
"""

from typing import TYPE_CHECKING

from aggregate.base.door import door

if TYPE_CHECKING:
    from aggregate.agents.tools.analysis_tool import ANALYSIS, add_analysis_tool
    from aggregate.agents.tools.calls import CallLimits
    from aggregate.agents.tools.date_tools import add_date_tools
    from aggregate.agents.tools.project_tools import add_project_tools
    from aggregate.agents.tools.registry import ToolRegistry, discover_tools
    from aggregate.agents.tools.standard import standard_tools, state_store
    from aggregate.agents.tools.state_store import StateStore
    from aggregate.agents.tools.state_tools import add_state_tools
    from aggregate.agents.tools.tool import Permission, Tool, make_tool, tool
    from aggregate.agents.tools.tool_context import ToolContext
    from aggregate.agents.tools.tool_schema import Parameter
else:
    __getattr__ = door(
        __name__,
        {
            "analysis_tool": "ANALYSIS add_analysis_tool",
            "calls": "CallLimits",
            "date_tools": "add_date_tools",
            "project_tools": "add_project_tools",
            "registry": "ToolRegistry discover_tools",
            "standard": "standard_tools state_store",
            "state_store": "StateStore",
            "state_tools": "add_state_tools",
            "tool": "Permission Tool make_tool tool",
            "tool_context": "ToolContext",
            "tool_schema": "Parameter",
        },
    )
