"""Choosing a tool by asking, and choosing again after a failure (rules P2, P17, D-7, D-55)."""

from pathlib import Path
from typing import Any

import pytest

from aggregate import ToolRegistry, standard_tools
from aggregate.agents.goals.goal_result import TraceKind
from aggregate.agents.goals.questions import QuestionKind
from aggregate.agents.tools import make_tool
from tests.fakes.models import agent, calls


@pytest.mark.parametrize(
    "goal",
    [
        "Calculate the total",
        "Search the web",
        "What is the total distance of my activities?",
        "Get the total",
        "List everything",
        "Show the way",
    ],
)
def test_a_verb_alone_decides_nothing(tmp_path: Path, goal: str) -> None:
    """A tool that does the same to something else is not called, and its answer is none (P2)."""
    tools = standard_tools(state_dir=tmp_path, roots=[tmp_path])
    script = {"decompose": f"1. {goal}", "find_tool": "NONE", "answer": "NO TOOL FITS: the data"}
    made, model = agent(tmp_path, script, tools)
    result = made.execute_goal(goal)
    assert not result.success
    assert "find_tool" in calls(model)
    assert not any(node.kind is TraceKind.TOOL for node in result.trace.children[-1].children)


class Counted:
    """A tool that gives one result after the other, the last one for ever, and counts its calls."""

    def __init__(self, *results: dict[str, Any]) -> None:
        self.results = results
        self.calls = 0

    def run(self) -> dict[str, Any]:
        """Do something."""
        self.calls += 1
        return self.results[min(self.calls, len(self.results)) - 1]


DONE = {"success": True, "result": "done"}
FATAL = {"success": False, "error": "this is for ships only"}
AGAIN = {"success": False, "error": "busy", "retry": True}


def two_tools(wrong: Counted, right: Counted) -> ToolRegistry:
    ship = make_tool(wrong.run, name="weighShip", description="Weigh a ship.")
    train = make_tool(right.run, name="weighTrain", description="Weigh a train.")
    return ToolRegistry.of([ship, train])


SCRIPT: dict[str, str | list[str]] = {
    "decompose": "1. Weigh it",
    "find_tool": "weighShip",
    "find_tool: weighShip has failed": "weighTrain",
    "reflect": "busy",
}


@pytest.mark.parametrize(
    ("results", "wrong_calls", "right_calls"),
    [((FATAL,), 1, 1), ((AGAIN,), 2, 1), ((AGAIN, FATAL), 2, 1), ((AGAIN, DONE), 2, 0)],
)
def test_a_failed_step_chooses_again(
    tmp_path: Path, results: tuple[dict[str, Any], ...], wrong_calls: int, right_calls: int
) -> None:
    """Without the tool that failed, and told why; all executions together are three (P2, D-7, D-55)."""
    wrong, right = Counted(*results), Counted(DONE)
    made, model = agent(tmp_path, SCRIPT, two_tools(wrong, right))
    result = made.execute_goal("Weigh")
    assert result.text == "done"
    assert (wrong.calls, right.calls) == (wrong_calls, right_calls)
    choosing = [one for one in model.questions if one.call is QuestionKind.FIND_TOOL]
    assert len(choosing) == 1 + right_calls
    if right_calls:
        assert "weighShip(" not in choosing[1].text
        assert results[-1]["error"] in choosing[1].text


@pytest.mark.parametrize("answer", ["NONE", "weighShip", ""])
def test_without_another_tool_the_failure_stays(tmp_path: Path, answer: str) -> None:
    """Where the model names no other tool, a retryable failure is tried a third time, and the first tool's error stays (D-7)."""
    wrong, right = Counted(AGAIN), Counted(DONE)
    script = SCRIPT | {"find_tool: weighShip has failed": answer}
    made, _ = agent(tmp_path, script, two_tools(wrong, right))
    result = made.execute_goal("Weigh")
    assert (wrong.calls, right.calls) == (3, 0)
    assert result.results == (AGAIN,)


def test_all_tools_are_shown_before_there_is_none(tmp_path: Path) -> None:
    """A tool whose words say nothing is shown, with its schema, in a later question (P2)."""

    def numbered(number: int) -> Any:
        def work(unit: str = "m") -> dict[str, Any]:
            return {"success": True, "result": f"tool {number}"}

        return make_tool(work, name=f"tool{number}", description=f"Nothing like {number}.")

    tools = ToolRegistry.of([numbered(number) for number in range(25)])
    script = {
        "decompose": "1. Find the height of the tower",
        "find_tool": "NONE",
        "find_tool: tool24(unit?: str)": "tool24",
        "parameters": "{}",
    }
    made, model = agent(tmp_path, script, tools)
    assert made.execute_goal("How high is it?").text == "tool 24"
    assert calls(model).count("find_tool") == 3


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (
            "NO TOOL FITS: no tool knows the weather",
            "no tool fits the step: no tool knows the weather",
        ),
        ("no tool fits", "no tool fits the step: not said why"),
    ],
)
def test_no_tool_fits_is_an_answer(tmp_path: Path, answer: str, error: str) -> None:
    """The step fails with what is lacking, asked once, and nothing is made up (P17)."""
    script = {"decompose": "1. Get the weather", "find_tool": "NONE", "answer": answer}
    made, model = agent(tmp_path, script, two_tools(Counted(DONE), Counted(DONE)))
    result = made.execute_goal("What is the weather like?")
    assert not result.success
    assert result.results[0]["error"] == error
    assert calls(model).count("answer") == 1
