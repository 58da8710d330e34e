"""Choosing a tool and its arguments (rules P2, P4, P5)."""

from pathlib import Path
from typing import Any

import pytest

from aggregate import standard_tools
from aggregate.agents.goals.execution import sure_arguments
from aggregate.agents.goals.goal_context import Branch
from aggregate.agents.goals.goal_result import Trace, TraceKind
from aggregate.agents.goals.tool_selection import certain_tool, ranked_tools
from aggregate.agents.tools import Tool, make_tool
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


def branch(item: Any = None, noun: str = "activity") -> Branch:
    return Branch("goal", 1, Trace(TraceKind.GOAL, "goal", "goal"), {}, item, noun)


SURE: list[tuple[str, Any, dict[str, Any]]] = [
    ("Get kudos", {"id": 7}, {"activity_id": 7}),
    ("Get kudos", {"activity_id": 8, "id": 7}, {"activity_id": 8}),
    ("Get kudos", {"id": 7, "page": 2}, {"activity_id": 7, "page": 2}),
    ("Get kudos for activity 9", {"id": 7}, {"activity_id": "9"}),
    ("Get kudos for activity_id=9", None, {"activity_id": "9"}),
    ("Get kudos for activity id 9.", None, {"activity_id": "9"}),
    ("Get kudos for id: a-9", None, {"activity_id": "a-9"}),
    ("Get kudos for activities", None, {}),
    ("Get kudos for activity Morning", None, {}),
]


@pytest.mark.parametrize(("step", "item", "expected"), SURE)
def test_what_is_sure_without_a_model(step: str, item: Any, expected: dict[str, Any]) -> None:
    """Ids that the step names come first, then those of the current item (P4)."""
    assert sure_arguments(make_tool(getKudos), step, branch(item)) == expected


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
    made, _ = agent(tmp_path, script, (dates, listRides))
    result = made.execute_goal("List them")
    assert result.results[1] == {"success": True, **expected}


def test_a_required_argument_of_older_results(tmp_path: Path) -> None:
    """What the model leaves out is filled from the newest result that has it (P4)."""

    def scale() -> dict[str, Any]:
        """Read the scale."""
        return {"success": True, "weight": 3.5}

    plan = {"decompose": "1. Read scale\n2. Weigh it", "find_tool": "weigh", "parameters": "{}"}
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


def drill(depth: float) -> dict[str, Any]:
    """Drill a hole into the wall."""
    return {"success": True, "depth": depth}


CERTAIN = [
    ("Drill a hole", "drill"),
    ("Drill the hole of 5 mm", None),  # "mm" is no word of the tool's
    ("Drill", None),  # one word is the verb alone
    ("Drill the tooth", None),
    ("Do not drill a hole", None),
    ("Never drill holes", None),
    ("Hole the drill", None),  # its verb is none of the tool's
    ('Drill a hole "like this one"', "drill"),
    ("Dance", None),
    ("", None),
]


@pytest.mark.parametrize(("step", "expected"), CERTAIN)
def test_words_that_leave_no_doubt(step: str, expected: str | None) -> None:
    """Two distinct words, one of them of the description, the verb, and none that the tool does not know (P2)."""
    tools: list[Tool] = [make_tool(each) for each in (getKudos, listRides, weigh, drill)]
    chosen = certain_tool(ranked_tools(step, tools))
    assert (chosen.name if chosen else None) == expected


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
