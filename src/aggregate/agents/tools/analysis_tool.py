"""The analysis tool: code over what earlier steps gave, in a sandbox (rules D-86, D-89)."""

from typing import Any, Final

from aggregate.agents.tools.analysis import TIMEOUT, execute_data_analysis
from aggregate.agents.tools.registry import ToolRegistry
from aggregate.agents.tools.tool import make_tool
from aggregate.agents.tools.tool_context import ToolContext

ANALYSIS: Final = "executeDataAnalysis"


def add_analysis_tool(registry: ToolRegistry) -> None:
    """Register ``executeDataAnalysis``."""
    registry.add(make_tool(executeDataAnalysis))


def executeDataAnalysis(python_code: str, context: ToolContext) -> dict[str, Any]:  # noqa: N802 - tools are camelCase (D-80)
    """Run Python code over earlier results: filter, count, sum, sort, group, compare, select, format or show them.

    Args:
        python_code: Statements that read data (and load_data_reference) and assign result.
        context: The data.
    """
    seconds = min(context.seconds, TIMEOUT)
    return execute_data_analysis(
        python_code,
        dict(context.data),
        timeout=seconds,
        cache_dir=context.cache_dir,
        now=context.now,
    )
