"""The goals of the documents, word for word, with scripted models and a service on this machine."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from simulation.goals import COUNT, FEED, FIRST_THREE, KUDOS, REFLECTION, SCENARIOS, Scenario, reach

from aggregate import GoalResult, count, standard_tools
from tests.fakes.activities import Service, activity_tools, service
from tests.fakes.models import agent, asked, calls

THREE = """\
Morning Snowboard - 57944.4m on 2024-01-31
Lunch Snowboard - 44090.3m on 2024-01-30
Morning Snowboard - 46589.7m on 2024-01-29"""


@pytest.fixture(scope="module")
def running() -> Iterator[Service]:
    with service() as one:
        yield one


def reached(scenario: Scenario, running: Service, folder: Path) -> tuple[GoalResult, list[str]]:
    result, model = reach(scenario, running, folder)
    assert all(one.ok for one in result.trace.children if one.kind.value == "model")
    return result, calls(model)


def test_counting_runs_in_september(running: Service, tmp_path: Path) -> None:
    """Dates are split into sub-tasks 1.1 and 1.2, 63 activities go to disk, code counts 28 (D-1, D-25, D-26, X-10)."""
    result, _ = reached(COUNT, running, tmp_path)
    assert result.text == "28 activities"
    dates, fetched, counted = result.results
    assert (dates["start"], dates["end"]) == (1756684800, 1759190400)
    assert (dates["after_unix"], dates["before_unix"]) == (1756684800, 1759276799)
    assert dates["subtasks_completed"] == 2
    assert result.neurons[0].spawned_dendrites == ("1.1", "1.2")
    assert (len(fetched["activities"]), counted["result"]) == (63, 28)
    (cached,) = (tmp_path / "data_cache").iterdir()
    assert cached.name.startswith("neuron_0_2_")


def test_the_first_three_of_january(running: Service, tmp_path: Path) -> None:
    """48 lines are too many for "first 3": one corrective step formats three, without fetching again (D-67, P13, P14)."""
    before = len(running.requests)
    result, questions = reached(FIRST_THREE, running, tmp_path)
    assert result.text == THREE
    assert len(result.results) == len(result.neurons) == 5
    assert result.results[0]["before_unix"] == 1706745599
    assert len(result.results[3]["result"].splitlines()) == 48
    assert result.final is not None
    assert (result.final.source.index, result.final.source.kind) == (5, "python")
    assert len(running.requests) == before + 1
    assert ("complete" in questions, "missing" in questions, questions.count("correct")) == (
        False,
        False,
        1,
    )


def test_kudos_for_each_activity(running: Service, tmp_path: Path) -> None:
    """30 sub-tasks, one for each activity, in item order; no question for any of them (D-20, D-30, D-35, X-14)."""
    result, questions = reached(KUDOS, running, tmp_path)
    spawned = result.results[1]
    assert spawned["items_processed"] == len(spawned["dendrite_results"]) == 30
    ids = [one["id"] for one in result.results[0]["activities"]]
    assert [one["id"] for one in spawned["items"]] == ids
    assert sorted(running.requests[-30:]) == sorted(
        f"/activities/{number}/kudos?" for number in ids
    )
    assert result.text.splitlines()[:3] == [
        "Activity 2062: Eli, Flo (2 total)",
        "Activity 2061: Dee (1 total)",
        "Activity 2060: 0 kudos",
    ]
    assert questions == [
        "decompose",
        "find_tool",
        "parameters",
        "validate",
        "find_tool",
        "complete",
    ]


def test_unnecessary_spawning(running: Service, tmp_path: Path) -> None:
    """A feed whose items hold everything is not gone through: one question decides it, no call for any item (D-27, P6)."""
    before = len(running.requests)
    result, questions = reached(FEED, running, tmp_path)
    assert running.requests[before:] == ["/feed?"]
    assert len(result.text.splitlines()) == 50
    assert result.neurons[0].spawned_dendrites == ()
    assert (questions.count("fields_present"), questions.count("calls_needed")) == (1, 0)


def test_an_error_is_reflected_on(running: Service, tmp_path: Path) -> None:
    """``KeyError: '_ref_id'`` is diagnosed, and the diagnosis reaches the next code (D-51, D-53, P16)."""
    result, model = reach(REFLECTION, running, tmp_path)
    assert result.text == "28 activities"
    reflecting = asked(model, "reflect")[0]
    assert "Count running activities" in reflecting
    assert "_ref_id" in reflecting
    _, again = (text for text in asked(model, "code") if "Step: Count" in text)
    assert "neuron_0_2 is a scalar result" in again
    assert "Should access data['neuron_0_2'] directly." in again


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda one: one.name)
def test_questions_are_small(scenario: Scenario, running: Service, tmp_path: Path) -> None:
    """A question has 50 to 200 tokens of its own; with quoted data it stays below 400 (D-8)."""
    _, model = reach(scenario, running, tmp_path)
    for question in model.questions:
        own = "\n".join(
            part for number, part in enumerate(question.text.split("```")) if number % 2 == 0
        )
        assert count(own) <= 200, question.text
        assert count(question.text) <= 400, question.text


def plain(result: GoalResult) -> str:
    return json.dumps([result.as_dict(), result.warnings, result.trace.tokens], sort_keys=True)


@pytest.mark.parametrize("scenario", [COUNT, KUDOS], ids=lambda one: one.name)
def test_the_same_run_gives_the_same_bytes(
    scenario: Scenario, running: Service, tmp_path: Path
) -> None:
    """With a scripted model, one worker and many give the same result and the same tree (D-30, X-14)."""

    def shape(trace: Any) -> Any:
        one = (trace.kind, trace.label, trace.text, trace.tokens, trace.ok)
        return *one, tuple(map(shape, trace.children))

    one, _ = reach(scenario, running, tmp_path, workers=1)
    many, _ = reach(scenario, running, tmp_path, workers=8)
    assert plain(one) == plain(many)
    assert shape(one.trace) == shape(many.trace)


def test_without_permission_nothing_is_fetched(running: Service, tmp_path: Path) -> None:
    """A tool that needs the network is refused once and named in the warnings (D-85)."""
    registry = standard_tools(state_dir=tmp_path)
    for one in activity_tools(running.url):
        registry.add(one)
    before = len(running.requests)
    made, _ = agent(tmp_path, KUDOS.script, registry)
    result = made.execute_goal(KUDOS.goal)
    assert not result.success
    assert "needs the permission network" in " ".join(result.warnings)
    assert len(running.requests) == before
