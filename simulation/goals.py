"""Reach the goals of the documents with a scripted model and a local service."""

from argparse import ArgumentParser
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.fakes.activities import Service, activity_tools, service

from aggregate import GoalResult, NeuronAgent, ToolRegistry, standard_tools
from aggregate.agents.limits import EngineLimits
from aggregate.agents.scripted import ScriptedModel, scripted_model
from aggregate.agents.tools import Permission
from aggregate.cli.goal import trace_lines

LINE = "f\"{one['name']} - {one['distance']}m on {one['start_date']}\""
FETCHED = "items = load_data_reference(data['neuron_0_2']['_ref_id'])['activities']\n"


@dataclass(frozen=True, slots=True)
class Scenario:
    """A goal, and what the model answers on the way to it."""

    name: str
    goal: str
    script: Mapping[str, str | list[str]]


COUNT = Scenario(
    "count",
    "How many running activities did I have in September?",
    {
        "decompose": "1. Convert dates to timestamps\n2. Fetch activities in range\n3. Count running activities",
        "find_tool: Step: Convert": "dateToUnixTimestamp",
        "find_tool: Step: Fetch": "getMyActivities",
        "find_tool: Step: Count": "executeDataAnalysis",
        "split": '1. Convert "September 1, 2025"\n2. Convert "September 30, 2025"',
        'parameters: Step: Convert "September 1, 2025"': '{"date": "September 1, 2025"}',
        'parameters: Step: Convert "September 30, 2025"': '{"date": "September 30, 2025"}',
        "parameters: Step: Fetch": '{"after": 1756684800, "before": 1759276799}',
        "code": "data = load_data_reference(data['neuron_0_2']['_ref_id'])\n"
        "result = len([x for x in data['activities'] if 'Run' in x['sport_type']])",
    },
)
FIRST_THREE = Scenario(
    "first three",
    "Get my first 3 Strava activities from January 2024",
    {
        "decompose": "1. Convert January 2024 to a range of timestamps\n2. Fetch activities in range\n"
        "3. Filter first 3\n4. Format activities",
        "find_tool: Step: Convert": "getDateRangeTimestamps",
        "find_tool: Step: Fetch": "getMyActivities",
        "find_tool": "executeDataAnalysis",
        "parameters: Step: Convert": '{"year": 2024, "month": 1}',
        "parameters: Step: Fetch": '{"after": 1704067200, "before": 1706745599}',
        "code: Step: Filter": FETCHED + "result = items[:3]",
        "code: Step: Format activities": FETCHED
        + f"result = '\\n'.join([{LINE} for one in items])",
        "correct": "Format only the first 3",
        "code: Step: Format only": FETCHED + f"result = '\\n'.join([{LINE} for one in items[:3]])",
    },
)
KUDOS = Scenario(
    "kudos",
    "Get the kudos of my newest 30 activities",
    {
        "decompose": "1. Fetch my newest 30 activities\n2. Get kudos for each activity",
        "find_tool: Step: Fetch": "getMyActivities",
        "find_tool: Step: Get kudos": "getActivityKudos",
        "parameters: Step: Fetch": '{"per_page": 30}',
        "complete": "yes",
    },
)
FEED = Scenario(
    "feed",
    "Show the activities of my dashboard feed",
    {
        "decompose": "1. Get all activities of the dashboard feed\n2. Format all activities by name and distance",
        "find_tool: Step: Get all": "getDashboardFeed",
        "find_tool": "executeDataAnalysis",
        "fields_present": "Yes, the data is already complete.",
        "validate": "yes",
        "code": "items = load_data_reference(data['neuron_0_1']['_ref_id'])\n"
        "result = '\\n'.join(f\"{one['name']}: {one['distance']}m\" for one in items)",
        "complete": "yes",
    },
)
REFLECTION = Scenario(
    "reflection",
    "How many running activities did I have in September 2025?",
    {
        "decompose": "1. Fetch activities of September 2025\n2. Select running activities\n3. Count running activities",
        "find_tool: Step: Fetch": "getMyActivities",
        "find_tool": "executeDataAnalysis",
        "parameters: Step: Fetch": '{"after": 1756684800, "before": 1759276799}',
        "code: Step: Select": "items = load_data_reference(data['neuron_0_1']['_ref_id'])['activities']\n"
        "result = len([x for x in items if x['sport_type'] == 'Run'])",
        "code: Step: Count": [
            "result = load_data_reference(data['neuron_0_2']['_ref_id'])",
            "result = data['neuron_0_2']['result']",
        ],
        "reflect": '{"diagnosis": "neuron_0_2 is a scalar result with no _ref_id field.", '
        '"suggested_fix": "Should access data[\'neuron_0_2\'] directly.", "suggested_params": null}',
    },
)
SCENARIOS = (COUNT, FIRST_THREE, KUDOS, FEED, REFLECTION)


def tools(running: Service, state_dir: Path) -> ToolRegistry:
    """Return the standard tools and those of the service, with the permission to read and to ask it."""
    registry = standard_tools(
        state_dir=state_dir, permissions=[Permission.READ, Permission.NETWORK]
    )
    for one in activity_tools(running.url):
        registry.add(one)
    return registry


def reach(
    scenario: Scenario, running: Service, folder: Path, *, workers: int = 4
) -> tuple[GoalResult, ScriptedModel]:
    """Reach a scenario's goal; return the result, and the model with the questions it was asked."""
    model = scripted_model({"validate": "yes", **scenario.script})
    agent = NeuronAgent(
        model, tools(running, folder), state_dir=folder, limits=EngineLimits(workers=workers)
    )
    return agent.execute_goal(scenario.goal), model


def main(parser: ArgumentParser) -> None:
    """Print the answers with their trees."""
    parser.parse_args()
    with service() as running, TemporaryDirectory() as folder:
        for scenario in SCENARIOS:
            result, model = reach(scenario, running, Path(folder) / scenario.name)
            print(
                f"{scenario.goal}\n{result.text}\n{len(model.questions)} questions, {result.trace.tokens} tokens"
            )
            print("\n".join([*trace_lines(result.trace)][:14]), end="\n\n")
