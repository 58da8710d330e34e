"""Tools that models may have called: a registry, and the tools that come with the package.

A tool is a function with a schema; the registry checks its arguments and permissions, bounds its time and output, and
turns every failure into a result. Nothing here asks a model.
"""

from aggregate.tools.analysis_tool import ANALYSIS, add_analysis_tool
from aggregate.tools.calls import CallLimits
from aggregate.tools.date_tools import add_date_tools
from aggregate.tools.project_tools import add_project_tools
from aggregate.tools.registry import ToolRegistry, discover_tools
from aggregate.tools.standard import standard_tools, state_store
from aggregate.tools.state_store import StateStore
from aggregate.tools.state_tools import add_state_tools
from aggregate.tools.tool import Permission, Tool, make_tool, tool
from aggregate.tools.tool_context import ToolContext
from aggregate.tools.tool_schema import Parameter

__all__ = [
    "ANALYSIS",
    "CallLimits",
    "Parameter",
    "Permission",
    "StateStore",
    "Tool",
    "ToolContext",
    "ToolRegistry",
    "add_analysis_tool",
    "add_date_tools",
    "add_project_tools",
    "add_state_tools",
    "discover_tools",
    "make_tool",
    "standard_tools",
    "state_store",
    "tool",
]
