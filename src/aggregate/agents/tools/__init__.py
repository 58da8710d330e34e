"""Tools for models: a registry, and the built-in tools.

A tool is a function with a schema. The registry checks arguments and permissions, limits the time and the size of the
output, and turns every failure into a result. No tool calls a model.
"""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.agents.tools.changes import *
    from aggregate.agents.tools.composing import *
    from aggregate.agents.tools.data_analysis import *
    from aggregate.agents.tools.dates import *
    from aggregate.agents.tools.registry import *
    from aggregate.agents.tools.standard import *
    from aggregate.agents.tools.state import *
    from aggregate.agents.tools.tool import *
else:
    __getattr__ = door(
        __name__,
        {
            "data_analysis": "add_analysis_tool ANALYSIS execute_data_analysis syntax_error",
            "changes": "AllowedCommands ChangeTools add_change_tools",
            "composing": "ReadableProject add_composing_tools",
            "dates": "add_date_tools",
            "registry": "checked_arguments ToolRegistry discover_tools",
            "standard": "standard_tools",
            "state": "state_store",
            "tool": "CHANGES EDITS Parameter Permission Tool ToolContext make_tool tool",
        },
    )
