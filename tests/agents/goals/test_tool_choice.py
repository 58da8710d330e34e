"""Choosing a tool and its arguments, and choosing again after a failure (rules P2, P4, P5, P17, D-7, D-55)."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aggregate import ToolRegistry, standard_tools, tool
from tests.fakes.models import agent, calls


def getKudos(activity_id: int, page: int = 1) -> dict[str, Any]:  # noqa: N802 - tools are camelCase
    """Get the kudos of one activity."""
    return {"success": True, "activity_id": activity_id, "page": page}


def listRides(after: int | None = None, before: int | None = None) -> dict[str, Any]:  # noqa: N802 - tools are camelCase
    """List rides in a range."""
    return {"success": True, "after": after, "before": before}


def weigh(weight: float) -> dict[str, Any]:
    """Weigh something."""
    return {"success": True, "result": f"{weight} kg"}


SURE: list[tuple[str, Any, tuple[str, int]]] = [
    ("Get kudos", {"id": 7}, ("7", 1)),
    ("Get kudos", {"activity_id": 8, "id": 7}, ("8", 1)),
    ("Get kudos", {"id": 7, "page": 2}, ("7", 2)),
    ("Get kudos for activity 9", {"id": 7}, ("9", 1)),
    ("Get kudos for activity_id=9", None, ("9", 1)),
    ("Get kudos for activity id 9.", None, ("9", 1)),
    ("Get kudos for id: a-9", None, ("a-9", 1)),
    ("Get kudos for activities", None, ("1", 1)),
    ("Get kudos for activity Morning", None, ("1", 1)),
]


@pytest.mark.parametrize(("step", "item", "expected"), SURE)
def test_what_is_sure_without_a_model(
    tmp_path: Path, step: str, item: Any, expected: tuple[str, int]
) -> None:
    """Ids that the step names come first, then those of the current item, and what the model says last (P4)."""

    def listActivities() -> dict[str, Any]:  # noqa: N802 - tools are camelCase
        """List activities."""
        return {"success": True, "activities": [item]}

    def getKudos(activity_id: str, page: int = 1) -> dict[str, Any]:  # noqa: N802 - tools are camelCase
        """Get the kudos of one activity."""
        return {"success": True, "given": (activity_id, page)}

    plan = f"1. List activities\n2. {step} for each activity" if item else f"1. {step}"
    script = {"decompose": plan, "find_tool": "getKudos", "parameters": '{"activity_id": "1"}'}
    made, _ = agent(tmp_path, script, (listActivities, getKudos))
    last = made.execute_goal("Get them").results[-1]
    (last,) = last.get("dendrite_results", [last])
    assert last["given"] == [*expected]


ANSWERS: list[tuple[str, dict[str, Any]]] = [
    ('{"after": 5, "before": 6}', {"after": 5, "before": 6}),
    ('{"after": 5, "limit": 3, "before": null}', {"after": 5, "before": None}),
    ('{"arguments": {"after": 5, "before": 6}}', {"after": 5, "before": 6}),
    ("I do not know.", {"after": 10, "before": 20}),
    ("", {"after": 10, "before": 20}),
]


@pytest.mark.parametrize(("answer", "expected"), ANSWERS)
def test_the_models_arguments(tmp_path: Path, answer: str, expected: dict[str, Any]) -> None:
    """Undeclared ones and null are dropped; an answer that cannot be read keeps what older results gave (P4)."""

    def dates() -> dict[str, Any]:
        """Convert dates."""
        return {"success": True, "after_unix": 10, "before_unix": 20}

    script = {"decompose": "1. Convert dates\n2. List rides in range", "parameters": answer}
    script["find_tool"] = "dates"
    made, _ = agent(tmp_path, script, (dates, listRides))
    result = made.execute_goal("List them")
    assert result.results[1] == {"success": True, **expected}


def test_a_required_argument_of_older_results(tmp_path: Path) -> None:
    """What the model leaves out is filled from the newest result that has it (P4)."""

    def scale() -> dict[str, Any]:
        """Read the scale."""
        return {"success": True, "weight": 3.5}

    plan = {"decompose": "1. Read scale\n2. Weigh it", "find_tool": "weigh", "parameters": "{}"}
    plan["find_tool: Step: Read"] = "scale"
    made, _ = agent(tmp_path, plan, (scale, weigh))
    assert made.execute_goal("Weigh").text == "3.5 kg"


def test_the_current_item_beats_the_model(tmp_path: Path) -> None:
    """A model that names the first activity for every item changes nothing (P4)."""

    def listActivities() -> dict[str, Any]:  # noqa: N802 - tools are camelCase
        """List activities."""
        return {"success": True, "activities": [{"id": 1}, {"id": 2}, {"id": 3}]}

    script = {
        "decompose": "1. List activities\n2. Get kudos for each activity",
        "parameters": '{"activity_id": 1}',
    }
    made, model = agent(tmp_path, script, (listActivities, getKudos))
    spawned = made.execute_goal("Get them").results[1]
    assert [one["activity_id"] for one in spawned["dendrite_results"]] == [1, 2, 3]
    assert "parameters" not in calls(model)


@pytest.mark.parametrize(
    ("answer", "text", "asked"),
    [
        ("weigh", "1.0 kg", 1),
        ("`Weigh`!", "1.0 kg", 1),
        ('{"tool": "weigh"}', "1.0 kg", 1),
        ("NONE", "by hand", 1),
        ("None of them; weigh comes nearest", "by hand", 1),
        ("no such tool", "by hand", 1),
        ("weigh or measure", "No step gave a usable result.", 2),
        ("getKudos", "No step gave a usable result.", 2),
        ("", "No step gave a usable result.", 2),
    ],
)
def test_a_near_tie(tmp_path: Path, answer: str, text: str, asked: int) -> None:
    """The model names one of the tools that it was shown, or none; what names neither is no choice (P2)."""

    def measure(length: float) -> dict[str, Any]:
        """Measure how long something heavy is."""
        return {"success": True, "result": f"{length} m"}

    script = {
        "decompose": "1. Try to weigh a heavy thing",
        "find_tool": answer,
        "answer": "by hand",
    }
    made, model = agent(tmp_path, script | {"parameters": '{"weight": 1}'}, (weigh, measure))
    assert made.execute_goal("Take").text == text
    assert calls(model).count("find_tool") == asked


def test_a_step_that_names_its_tool(tmp_path: Path) -> None:
    """Its name in the step decides, also an alias's (P2, D-86)."""
    script = {"decompose": "1. Use getCurrentDate", "parameters": "{}"}
    made, model = agent(tmp_path, script, standard_tools(state_dir=tmp_path))
    assert set(made.execute_goal("When?").results[0]) >= {"date", "weekday"}
    assert "find_tool" not in calls(model)


@tool(permissions="read")
def findHoles(depth: float) -> dict[str, Any]:  # noqa: N802 - tools are camelCase
    """Find the holes of a wall that are so deep."""
    return {"success": True, "depth": depth}


def drillHole(depth: float) -> dict[str, Any]:  # noqa: N802 - tools are camelCase
    """Drill a hole into the wall."""
    return {"success": True, "depth": depth}


NAMED = [
    ("Use listHoles", True),
    ("List the holes", False),  # only the tool's name is a rule
    ("Use drillHole", False),  # what may change something is the model's choice
    ("Use listHoles or drillHole", False),
]


@pytest.mark.parametrize(("step", "is_certain"), NAMED)
def test_only_a_name_of_a_tool_that_reads_decides(
    tmp_path: Path, step: str, is_certain: bool
) -> None:
    """The model chooses, but where the step names one tool that is declared as reading (P2)."""
    listHoles = tool("listHoles", permissions="read")(findHoles.func)  # noqa: N806 - tools are camelCase
    script = {"decompose": f"1. {step}", "find_tool": "NONE", "find_tool: Step: List": "NONE"}
    script |= {"answer": "x", "parameters": '{"depth": 2}'}
    made, model = agent(tmp_path, script, (getKudos, listRides, weigh, listHoles, drillHole))
    (result,) = made.execute_goal("Do it").results
    assert ("depth" in result, "find_tool" in calls(model)) == (is_certain, not is_certain)


def test_a_call_that_succeeded_is_not_made_again(tmp_path: Path) -> None:
    """The earlier result is given once more, with a warning; a failed call may be repeated (P4)."""
    depths: list[float] = []

    def drillHole(depth: float) -> dict[str, Any]:  # noqa: N802 - tools are camelCase
        """Drill a hole into the wall."""
        depths.append(depth)
        return {"success": len(depths) > 1, "retry": True, "number": len(depths)}

    script = {"decompose": "1. Drill a hole\n2. Drill the hole again", "reflect": "busy"}
    made, _ = agent(tmp_path, script | {"parameters": '{"depth": 2}'}, (drillHole,))
    result = made.execute_goal("Drill a hole")
    assert depths == [2.0, 2.0]
    assert [one["number"] for one in result.results] == [2, 2]
    assert any("was not called again" in warning for warning in result.warnings)


CODES: list[tuple[str, list[str], str]] = [
    ("result = 'a'", [], "a"),
    ("result = 'a", ["result = 'b'"], "b"),
    ("result = 'a", ["```python\nresult = 'b'\n```"], "b"),
]


@pytest.mark.parametrize(("written", "corrected", "text"), CODES)
def test_code_is_compiled_first(
    tmp_path: Path, written: str, corrected: list[str], text: str
) -> None:
    """The model is asked to correct code only where it does not compile (P5)."""
    script: dict[str, str | list[str]] = {
        "decompose": "1. Format a line",
        "code": written,
        "find_tool": "executeDataAnalysis",
    }
    script |= {"validate_code": corrected or "VALID"}
    made, model = agent(tmp_path, script, standard_tools(state_dir=tmp_path))
    assert made.execute_goal("Say a").text == text
    assert calls(model).count("validate_code") == len(corrected)


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
def test_words_decide_nothing(tmp_path: Path, goal: str) -> None:
    """Where the model names no tool none is called, whatever the words of the step (P2)."""
    tools = standard_tools(state_dir=tmp_path, roots=[tmp_path])
    script = {"decompose": f"1. {goal}", "find_tool": "NONE", "answer": "NO TOOL FITS: the data"}
    script |= {f"find_tool: Step: {verb}": "NONE" for verb in ("Get", "List", "Search", "Show")}
    made, model = agent(tmp_path, script, tools)
    result = made.execute_goal(goal)
    assert not result.success
    assert "find_tool" in calls(model)
    assert not any(node.kind == "tool" for node in result.trace.children[-1].children)


def test_all_tools_are_shown_before_there_is_none(tmp_path: Path) -> None:
    """A tool whose words say nothing is shown, with its schema, in a later question (P2)."""

    def numbered(number: int) -> Callable[[str], dict[str, Any]]:
        def work(unit: str = "m") -> dict[str, Any]:
            return {"success": True, "result": f"tool {number}"}

        return work

    tools = ToolRegistry()
    for number in range(65):
        tools.register(f"tool{number}", numbered(number), f"Nothing like {number}.")
    script = {
        "decompose": "1. Find the height of the tower",
        "find_tool": "NONE",
        "find_tool: tool54(unit?: str)": "tool54",
        "parameters": "{}",
    }
    made, model = agent(tmp_path, script, tools)
    assert made.execute_goal("How high is it?").text == "tool 54"
    assert calls(model).count("find_tool") == 2


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (
            "NO TOOL FITS: no tool knows the weather",
            "no tool fits the step: no tool knows the weather",
        ),
        ("no tool fits", "no tool fits the step: no reason given"),
    ],
)
def test_no_tool_fits_is_an_answer(tmp_path: Path, answer: str, error: str) -> None:
    """The step fails with what is lacking, asked once, and nothing is made up (P17)."""
    script = {"decompose": "1. Get the weather", "find_tool": "NONE", "answer": answer}
    tools = ToolRegistry()
    tools.register("weighShip", lambda: "done", "Weigh a ship.")
    made, model = agent(tmp_path, script, tools)
    result = made.execute_goal("What is the weather like?")
    assert not result.success
    assert result.results[0]["error"] == error
    assert calls(model).count("answer") == 1
