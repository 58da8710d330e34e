"""The analysis tool as the agent calls it (rules D-86, D-89)."""

from datetime import UTC, datetime

from aggregate import ToolRegistry
from aggregate.agents.tools import ANALYSIS, ToolContext, add_analysis_tool


def test_all_code_of_a_goal_sees_the_moment_at_which_it_began() -> None:
    """The tool's clock is the one that the agent gives, and the data is the agent's."""
    registry = ToolRegistry()
    add_analysis_tool(registry)
    context = ToolContext({"a": 2}, now=datetime(2031, 5, 6, 7, 8, 9, tzinfo=UTC))
    code = "from datetime import datetime\nresult = [data['a'], str(datetime.now())]"
    for _ in range(2):
        made = registry.run(ANALYSIS, {"python_code": code}, context=context)
        assert made == {"success": True, "result": [2, "2031-05-06 07:08:09"]}
