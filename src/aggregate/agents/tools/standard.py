"""The tools that come with the package."""

from collections.abc import Iterable
from pathlib import Path

from aggregate.agents.tools.analysis import add_analysis_tool
from aggregate.agents.tools.dates import add_date_tools
from aggregate.agents.tools.project_tools import add_project_tools
from aggregate.agents.tools.registry import ToolRegistry
from aggregate.agents.tools.state import add_state_tools, state_store
from aggregate.agents.tools.tool import granted


def standard_tools(
    *,
    state_dir: str | Path = "state",
    roots: Iterable[str | Path] = (),
    permissions: str | Iterable[str] = "read",
) -> ToolRegistry:
    """Return a registry with the tools for analysis, dates and state, and for project files where roots are given.

    Args:
        state_dir: Where saved state is; nothing is made there before something is saved.
        roots: The project's folders.
        permissions: What is granted: ``read``, ``write``, ``network``.

    Raises:
        ToolError: A root is no folder, or a permission is unknown.
    """
    registry = ToolRegistry(granted(permissions))
    add_analysis_tool(registry)
    add_date_tools(registry)
    add_state_tools(registry, state_store(state_dir))
    if folders := tuple(roots):
        add_project_tools(registry, folders)
    return registry
