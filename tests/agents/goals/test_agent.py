"""The flow of a goal: memory, steps, answer, completion (rules P11 to P15)."""

import json
from inspect import signature
from pathlib import Path
from typing import Any

import pytest

from aggregate import (
    ConfigError,
    ModelError,
    NeuronAgent,
    WorkerError,
    execute_data_analysis,
    select_answer,
    standard_tools,
)
from aggregate.agents import read_script, scripted_model
from aggregate.agents.goals import Neuron, Question, QuestionKind, verdict
from aggregate.agents.limits import MAX_DEPTH, MAX_RETRIES, EngineLimits
from aggregate.agents.tools import ToolContext
from tests.fakes.models import agent, asked, calls


def look(what: str = "") -> dict[str, Any]:
    """Look something up."""
    return {"success": True, "result": f"line of {what}"}


LOOK = {"decompose": "1. Look up a", "parameters": '{"what": "a"}'}


def test_constants() -> None:
    """Five levels, three executions, ten seconds of analysis, four steps, fifty sub-tasks (D-6, D-7, D-10, D-11, D-57, X-4, X-13)."""
    limits = EngineLimits()
    analysis = signature(execute_data_analysis).parameters["timeout"].default
    assert (MAX_DEPTH, MAX_RETRIES, analysis) == (5, 3, 10.0)
    assert (limits.depth, limits.attempts, limits.steps) == (5, 3, 4)
    assert (limits.dendrites, limits.inline_bytes) == (50, 5000)


@pytest.mark.parametrize(
    ("name", "value", "least"),
    [
        ("depth", 0, 1), ("attempts", 0, 1), ("steps", -1, 1), ("workers", 0, 1), ("dendrites", -1, 0), ("tokens", -1, 0), ("seconds", -0.1, 0),
        ("tool_seconds", float("nan"), 0), ("inline_bytes", -1, 0),
    ],
)  # fmt: skip
def test_limits_are_numbers_that_bound(name: str, value: float, least: int) -> None:
    """A negative bound would leave items out from the wrong end, and one that is no number would bound nothing."""
    with pytest.raises(ConfigError, match=f"^{name} must be at least {least}, not {value}"):
        EngineLimits(**{name: value})  # type: ignore[arg-type]


def test_a_neuron() -> None:
    """Its fields, their defaults, and the key of its result (D-2, D-3)."""
    neuron = Neuron("Fetch", 2)
    assert (neuron.result, neuron.key) == (None, "neuron_0_2")
    told = {"description": "Fetch", "index": 2, "depth": 0, "validated": False}
    assert neuron.as_dict() == {**told, "spawned_dendrites": []}


def test_the_envelope(tmp_path: Path) -> None:
    """``{success, goal, depth, neurons, results, final}``; the answer tells where it comes from (X-6)."""
    made, _ = agent(tmp_path, LOOK, (look,))
    told = made.execute_goal("Look up a").as_dict()
    assert list(told) == ["success", "goal", "depth", "neurons", "results", "final"]
    assert told["results"] == [{"success": True, "result": "line of a"}]
    assert told["final"] == {
        "summary": "line of a",
        "detailed_results": [{"success": True, "result": "line of a"}],
        "source": {"index": 1, "kind": "python", "reason": "most recent of its kind"},
        "success": True,
        "warnings": [],
    }


def test_a_failing_step_does_not_stop_the_next(tmp_path: Path) -> None:
    """Its failure is recorded, the next one runs, and the answer warns of it."""

    def fail() -> None:
        """Fail badly."""
        raise ValueError("broken")

    script = LOOK | {
        "decompose": "1. Fail badly\n2. Look up a",
        "reflect": "no",
        "find_tool": "fail",
    }
    made, _ = agent(tmp_path, script, (fail, look))
    result = made.execute_goal("Do both things")
    assert result.success
    assert result.text == "line of a"
    assert result.results[0]["error"] == "ValueError: broken"
    assert result.warnings[1] == "Step 1 (Fail badly) failed: ValueError: broken"


def test_all_steps_failed(tmp_path: Path) -> None:
    """That is no success, and nothing is asked about the answer (X-12)."""
    made, model = agent(tmp_path, {"decompose": "1. Write", "answer": ""})
    result = made.execute_goal("Write")
    assert (result.success, result.as_dict()["success"]) == (False, False)
    assert "complete" not in calls(model)


KEYS = ["last_kudos_check", "september_activities", "athlete_profile"]


def saved(folder: Path) -> None:
    """Save a value under each of the documents' keys."""
    tools = standard_tools(state_dir=folder, permissions="read, write")
    for key in KEYS:
        tools.run("saveState", {"key": key, "value": {"of": key}})


def test_memory_is_recalled(tmp_path: Path) -> None:
    """Of three saved keys the model names one: its value is in the context, and the split is told of it (D-5, P15)."""
    saved(tmp_path)
    seen: list[Any] = []

    def peek(context: ToolContext) -> dict[str, Any]:
        """Look something up."""
        seen.append(context.data["_memory"])
        return {"success": True, "result": "x"}

    script = {"memory": '{"relevant_keys": ["september_activities"]}', "decompose": "1. Look up"}
    script["find_tool"] = "peek"
    made, model = agent(tmp_path, script, (peek,))
    made.execute_goal("How many runs this month?")
    assert seen == [{"september_activities": {"of": "september_activities"}}]
    assert calls(model)[:2] == ["memory", "decompose"]
    assert all(key in model.questions[0].text for key in KEYS)
    assert model.questions[0].temperature == 0
    assert 'september_activities ({"of": "september_activities"})' in model.questions[1].text


def test_nothing_saved_is_no_question(tmp_path: Path) -> None:
    """Without keys no model is asked, and no file is made (P15)."""
    made, model = agent(
        tmp_path / "state", {"decompose": "1. Look up", "parameters": "{}"}, (look,)
    )
    made.execute_goal("Look")
    assert calls(model)[0] == "decompose"
    assert not (tmp_path / "state").exists()


RELEVANT: list[tuple[Any, list[str]]] = [
    ({"relevant_keys": ["september_activities"]}, ["september_activities"]),
    ({"relevant_keys": ["invented", "athlete_profile", "athlete_profile"]}, ["athlete_profile"]),
    ({"relevant_keys": "september_activities"}, []),
    ({"relevant_keys": [1, None, ["x"]]}, []),
    ({"relevant_keys": {"a": 1}}, []),
    ({"keys": KEYS}, []),
    (None, []),
]


@pytest.mark.parametrize(("answer", "expected"), RELEVANT)
def test_relevant_keys(tmp_path: Path, answer: Any, expected: list[str]) -> None:
    """Only keys that exist, once each; a text is not gone through letter by letter (P15)."""
    saved(tmp_path)
    made, model = agent(tmp_path, {"memory": json.dumps(answer), "decompose": "1. Look up"}, ())
    made.execute_goal("Look")
    assert [key for key in KEYS if f"{key} (" in model.questions[1].text] == expected


@pytest.mark.parametrize(
    "answer", ["", "none of them", '{"relevant_keys": "september_activities"}']
)
def test_a_goal_goes_on_without_memory(tmp_path: Path, answer: str) -> None:
    """Whatever is wrong with memory, the goal proceeds (P15)."""
    saved(tmp_path)
    script = {"memory": answer, "decompose": "1. Look up", "parameters": '{"what": "a"}'}
    made, _ = agent(tmp_path, script, (look,))
    assert made.execute_goal("Look").text == "line of a"
    (tmp_path / "state.db").write_bytes(b"damaged" * 1000)
    result = made.execute_goal("Look")
    assert result.text == "line of a"
    assert "No saved value was used" in result.warnings[0]


VERDICTS: list[tuple[str, Any, str | None]] = [
    ("How many runs?", 28, ""),
    ("Get my first 3 runs", "a\nb\nc", ""),
    ("Get my first 3 runs", "a\nb\nc\nd", "The goal asks for 3, the answer has 4 lines."),
    ("Get my first 3 runs", "a\nb", None),
    ("Get my first 3 runs", ["a", "b", "c"], None),
    ("Get my runs", "a", None),
    ("Runs of the last 30 days", "a", None),
]


@pytest.mark.parametrize(("goal", "value", "expected"), VERDICTS)
def test_what_rules_say_of_completeness(goal: str, value: Any, expected: str | None) -> None:
    """A count, or as many lines as were asked for, is complete without a question; more lines are not (P12)."""
    assert verdict(goal, select_answer(goal, [{"success": True, "result": value}])) == expected


def correcting(tmp_path: Path, **more: str) -> tuple[NeuronAgent, Any]:
    script = LOOK | {"complete": "no", "missing": "the unit", "correct": "1. Add the unit"}
    script |= {"code": "result = data['neuron_0_1']['result'] + ' km'", **more}
    tools = standard_tools(state_dir=tmp_path)
    tools.register("look", look, "Look something up")
    return agent(tmp_path, script, tools)


def test_a_corrective_step_is_appended(tmp_path: Path) -> None:
    """Incomplete: what is missing, one step, its result appended, the answer chosen anew (P12, P13, P14, D-67)."""
    made, model = correcting(tmp_path)
    result = made.execute_goal("Look")
    assert result.text == "line of a km"
    assert [one.index for one in result.neurons] == [1, 2]
    assert len(result.results) == 2
    assert calls(model)[-5:] == ["complete", "missing", "correct", "code", "validate"]
    assert "Missing: the unit" in asked(model, "correct")[0]


INCOMPLETE = [
    ({"correct": ""}, "3 items, not complete: the names"),
    ({"code": "result = data['nothing']"}, "3 items, not complete: the names"),
    ({"code": "result = 3"}, "3 items, not complete: the names"),
    ({"code": "result = ''"}, "3 items, not complete: the names"),
    ({"code": "result = 'a, b, c'"}, "a, b, c"),
]


@pytest.mark.parametrize(("script", "text"), INCOMPLETE)
def test_an_incomplete_answer_is_no_success_of_items(
    tmp_path: Path, script: dict[str, str], text: str
) -> None:
    """Where the check said no and no correction gave a text, a number of items says what it lacks (D-68, P12, X-8)."""

    def listNames() -> dict[str, Any]:  # noqa: N802 - tools are camelCase
        """List names."""
        return {"success": True, "count": 3}

    tools = standard_tools(state_dir=tmp_path)
    tools.register("listNames", listNames)
    answers = {
        "decompose": "1. List the names",
        "find_tool": "listNames",
        "complete": "no",
        "missing": "the names",
        "correct": "Write the names",
        "reflect": "?",
    }
    made, _ = agent(tmp_path, answers | script, tools)
    result = made.execute_goal("Who is there?")
    assert result.text == text
    is_complete = text == "a, b, c"
    assert ("The answer is not complete: the names" in result.warnings) is not is_complete
    final = result.as_dict()["final"]
    assert final.get("missing", "") == ("" if is_complete else "the names")


def test_the_answer_is_the_data(tmp_path: Path) -> None:
    """No model rewrites it as sentences (P11, X-7)."""
    made, model = agent(tmp_path, LOOK | {"complete": "yes", "find_tool": "look"}, (look,))
    assert made.execute_goal("Look").text == "line of a"
    assert calls(model)[-1] == "complete"


def test_the_trace_adds_up(tmp_path: Path) -> None:
    """Tokens of the root are those of all questions; every step and call is in the tree with its time."""
    made, model = agent(tmp_path, LOOK, (look,))
    trace = made.execute_goal("Look").trace
    assert trace.calls == len(model.questions) == 5
    assert [one.label for one in trace.children] == ["decompose", "0.1", "complete"]
    labels = [one.label for one in trace.children[1].children]
    assert labels == ["find_tool", "parameters", "look", "validate"]
    assert trace.tokens == sum(one.tokens for one in trace.children) > 0
    assert trace.seconds >= trace.children[1].seconds >= 0
    assert trace.children[1].text == "Look up a"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("bare.json", '{"code": ["a", {"text": "b", "fail": "busy", "failures": 2}]}'),
        ("a.json", '{"answers": {"code": ["a", {"text": "b", "fail": "busy", "failures": 2}]}}'),
        ("script.toml", '[answers]\ncode = ["a", {text = "b", fail = "busy", failures = 2}]\n'),
        ("script", 'answers.code = ["a", {text = "b", fail = "busy", failures = 2}]'),
    ],
)
def test_scripts_have_one_form(tmp_path: Path, name: str, text: str) -> None:
    """JSON or TOML, with ``answers`` or without: texts, and tables that say how often an answer fails."""
    (tmp_path / name).write_text(text, encoding="utf-8")
    model = read_script(tmp_path / name)
    question = Question(QuestionKind.CODE, "")
    assert model.ask(question).text == "a"
    with pytest.raises(WorkerError, match="busy"):
        model.ask(question)
    assert [model.ask(question).text, model.ask(question).text] == ["b", "b"]


def test_scripts_name_questions(tmp_path: Path) -> None:
    """A script with an unknown question or no answers is a mistake; a question without a rule is no answer."""
    with pytest.raises(ModelError, match='"decompos" is not a question'):
        scripted_model({"decompos": "x"})
    with pytest.raises(ModelError, match="needs a text or a list of texts"):
        scripted_model({"decompose": []})
    with pytest.raises(ModelError, match="the script has no answer to code at step goal"):
        scripted_model({"decompose": "x"}).ask(Question(QuestionKind.CODE, ""))
