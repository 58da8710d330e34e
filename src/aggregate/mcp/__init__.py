"""A server of the Model Context Protocol (MCP): it gives agents prompts, files and definitions."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.mcp.installing import *
    from aggregate.mcp.server import *
    from aggregate.mcp.workspace import *
else:
    __getattr__ = door(
        __name__,
        {
            "installing": "HOSTS with_server",
            "server": "AgentServer serve_on_stdio",
            "workspace": "CAP ComposeArguments Ledger parse Progress ResultsArguments Workspace LEAST_CAP",
        },
    )
