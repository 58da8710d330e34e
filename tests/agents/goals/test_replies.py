"""What models are asked to write, and reading it: in a form, or as free text (rules P1, P4, P5, P6, D-12)."""

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from aggregate import (
    ClientSetupError,
    FinishReason,
    NeuronAgent,
    Reply,
    ToolRegistry,
    Usage,
    standard_tools,
)
from aggregate.agents.goals import find_iteration, questions
from aggregate.agents.tools import syntax_error
from tests.fakes.transports import requests_of, scripted

STEPS = [
    ("1. Fetch\n2. Count", ["Fetch", "Count"]),
    ("1) Fetch\n2) Count", ["Fetch", "Count"]),
    ("(1) Fetch\n(2) Count", ["Fetch", "Count"]),
    ("Step 1: Fetch\nStep 2: Count", ["Fetch", "Count"]),
    ("- Fetch\n* Count\n• Format", ["Fetch", "Count", "Format"]),
    ("**1.** Fetch\n**2. Count**\n**Step 3:** Format", ["Fetch", "Count", "Format"]),
    ("- 1. Fetch\n- 2. **Count**", ["Fetch", "Count"]),
    ("Here are the steps:\n\n1. Fetch\n   with care\n2. Count\n\nDone!", ["Fetch", "Count"]),
    ("1. Fetch.\n2. fetch\n3. FETCH.", ["Fetch."]),
    ('["Fetch", "Count"]', ["Fetch", "Count"]),
    ('{"steps": ["Fetch", "Count"]}', ["Fetch", "Count"]),
    ("3. Fetch\n7. Count 2.5 km runs", ["Fetch", "Count 2.5 km runs"]),
    ("1.5 km is far", []),
    ("2024 was a good year", []),
    ("I cannot do that.", []),
    ("1. ...\n2. ***", []),
    ("", []),
]


@pytest.mark.parametrize(("text", "expected"), STEPS)
def test_steps(text: str, expected: list[str]) -> None:
    """Numbers, bullets, bold and brackets are marks; doubles go, whatever their case and final dot (P1)."""
    assert questions.parse_steps(text) == expected


PLANS = [
    ("1. Fetch\n2. Count", ["Fetch", "Count"]),
    ("1. Fetch the runs", ["Fetch the runs"]),
    ("Fetch the runs\nCount them by month", ["the goal"]),
    ("I cannot do that.", ["the goal"]),
    ("OK", []),
    ("...\n***", []),
    ('{"steps": []}', []),
    ("[1, 2]", []),
    ("", []),
]


@pytest.mark.parametrize(("text", "expected"), PLANS)
def test_plans(text: str, expected: list[str]) -> None:
    """What is no list stands for the goal as one step, a word alone for nothing (P1)."""
    assert questions.parse_plan(text, "the goal") == expected


YES_NO = [
    ("true", True), ('{"complete": false}', False), ("untrue", None),
    ("yes", True), ("No.", False), ("YES, it does", True), ("**No**", False), ("I think yes", True), ("I know", None),
    ("nothing", None), ("yesterday", None), ("not", None), ("", None), (None, None), ("It could be yes or no", None),
    ("No, there is no name; yes that is so", False), ("The answer is: no", False),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), YES_NO)
def test_yes_or_no(text: str | None, expected: bool | None) -> None:
    """Whole words only: "know" is not "no" (P6, P7)."""
    assert questions.yes_or_no(text) is expected


OBJECTS: list[tuple[str | None, Any]] = [
    ('{"a": 1}', {"a": 1}),
    ('Sure! {"a": {"b": [1, {"c": 2}]}} Done.', {"a": {"b": [1, {"c": 2}]}}),
    ('```json\n{"a": 1}\n```', {"a": 1}),
    ('{broken {"a": 1}', {"a": 1}),
    ("{" * 5000, None),
    ("[1]", None),
    (None, None),
]


@pytest.mark.parametrize(("text", "expected"), OBJECTS)
def test_objects(text: str | None, expected: Any) -> None:
    """The first object counts, however deep, whatever stands around it."""
    assert questions.json_value(text, dict) == expected


CODES = [
    ("result = 1", "result = 1"),
    ("```python\nresult = 1\n```", "result = 1"),
    ("Here:\n```\nx = 1\nresult = x\n```\nIt works.", "x = 1\nresult = x"),
    ('{"python_code": "result = 2"}', "result = 2"),
    ("   \n", ""),
    (None, ""),
]


@pytest.mark.parametrize(("text", "expected"), CODES)
def test_code(text: str | None, expected: str) -> None:
    """What is fenced is the code, else all of it (P4)."""
    assert questions.parse_code(text) == expected


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        ("VALID", True),
        ("**valid.**", True),
        ("INVALID", False),
        ("VALID? no", False),
        (None, False),
    ],
)
def test_the_word_valid(text: str | None, valid: bool) -> None:
    """VALID inside INVALID does not pass (P5)."""
    assert questions.says_valid(text) is valid


@given(st.text(max_size=200))
def test_no_answer_crashes_a_reader(text: str) -> None:
    """Whatever a model writes is read, or counts for nothing."""
    assert all(one.strip() for one in questions.parse_steps(text))
    assert questions.yes_or_no(text) in (True, False, None)
    assert isinstance(questions.parse_code(text), str)
    assert isinstance(syntax_error(text), str)
    assert isinstance(questions.first_line(text), str)


LONG = [
    " " * 200_000 + "x",
    "# " + " " * 200_000 + "x",
    "- " * 100_000,
    "> # " * 50_000,
    "{" * 200_000,
    "```\n" * 50_000,
    "**" * 100_000,
]


@pytest.mark.parametrize("text", LONG, ids=lambda one: repr(one[:4]))
def test_long_answers_are_read_quickly(text: str) -> None:
    """No reader takes time that grows with the square of an answer."""
    started = time.process_time()
    for answer in (text, f"1. {text}"):
        questions.parse_steps(answer)
        questions.yes_or_no(answer)
        questions.json_value(answer, dict)
        questions.parse_code(answer)
        questions.first_line(answer)
        for step in questions.parse_steps(answer):
            find_iteration(f"for each {step}")
    assert time.process_time() - started < 5


def find(name: str, most: int = 3, exact: bool = False, share: float = 1.0) -> dict[str, Any]:
    """Find something.

    Args:
        name: Its name.
        most: How many.
        exact: Whether.
        share: How much.
    """
    return {"success": True, "result": f"{name} {most}"}


def merge(items: list[int], name: str = "") -> dict[str, Any]:
    """Merge a list."""
    return {"success": True}


def nothing() -> dict[str, Any]:
    """Do nothing."""
    return {"success": True}


TOOLS = ToolRegistry.of([find, merge, nothing])


def test_the_form_of_arguments() -> None:
    """Every parameter is named and may be null; what is no simple value has no form (P4)."""
    assert questions.arguments_schema(TOOLS.get("find")) == {
        "type": "object",
        "properties": {
            "name": {"anyOf": [{"type": "string", "description": "Its name."}, {"type": "null"}]},
            "most": {"anyOf": [{"type": "integer", "description": "How many."}, {"type": "null"}]},
            "exact": {"anyOf": [{"type": "boolean", "description": "Whether."}, {"type": "null"}]},
            "share": {"anyOf": [{"type": "number", "description": "How much."}, {"type": "null"}]},
        },
        "required": ["name", "most", "exact", "share"],
        "additionalProperties": False,
    }
    for name in ("merge", "nothing"):
        assert questions.arguments_schema(TOOLS.get(name)) is None
        assert questions.reflection_schema(TOOLS.get(name)) is None
    reflection = questions.reflection_schema(TOOLS.get("find"))
    assert reflection is not None
    assert list(reflection["properties"]) == ["diagnosis", "suggested_fix", "suggested_params"]


def objects(schema: Any) -> list[Mapping[str, Any]]:
    inner = (
        schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ()
    )
    found = [one for part in inner for one in objects(part)]
    return (
        [schema, *found] if isinstance(schema, dict) and schema.get("type") == "object" else found
    )


def test_all_forms_are_strict() -> None:
    """Each object requires all that it names and allows no more, as the strictest provider wants it."""
    tools = list(standard_tools())
    made = [
        *questions.SCHEMAS.values(),
        *map(questions.arguments_schema, tools),
        *map(questions.reflection_schema, tools),
        questions.choice_schema(["a"]),
    ]
    found = [one for schema in made for one in objects(schema)]
    assert len(found) > 20
    for one in found:
        assert one["required"] == list(one["properties"])
        assert one["additionalProperties"] is False


TYPED = {
    "decompose": {"steps": ["Find the book", "Find the second book"]},
    "find_tool": {"tool": "find"},
    "parameters": {"name": "Emma", "most": None, "exact": None, "share": None},
    "validate": {"answer": True},
    "complete": {"answer": True},
}
BEGINNINGS = {
    "Split the goal": "decompose",
    "Which tool": "find_tool",
    "Give the arguments": "parameters",
    "Does this result": "validate",
    "Does this answer": "complete",
}


def call_of(request: Any) -> str:
    return next(call for start, call in BEGINNINGS.items() if request.message.startswith(start))


def test_a_goal_with_a_client_that_knows_schemas(tmp_path: Path) -> None:
    """Each question goes out with its temperature, its form and what is left; null leaves a default (D-12, P1 to P4)."""
    client = scripted(lambda request: json.dumps(TYPED[call_of(request)]))
    result = NeuronAgent(client, [find, nothing], state_dir=tmp_path).execute_goal("Find two books")
    assert [one.description for one in result.neurons] == ["Find the book", "Find the second book"]
    assert result.text == "Emma 3"
    asked = [(call_of(one), one.temperature, one.schema) for one in requests_of(client)]
    assert asked[0] == ("decompose", 0.2, questions.STEPS)
    assert ("parameters", 0.1, questions.arguments_schema(TOOLS.get("find"))) in asked
    assert asked[-1] == ("complete", 0.1, questions.VERDICT)


@pytest.mark.parametrize(
    ("text", "stop", "reason"),
    [
        ("", FinishReason.REFUSED, "it refused to answer"),
        ("1. Fetch all\n2. Del", FinishReason.LENGTH, "its answer was cut at the limit of tokens"),
        (" \n", FinishReason.END, "its answer is empty"),
    ],
)
def test_half_an_answer_is_none(tmp_path: Path, text: str, stop: FinishReason, reason: str) -> None:
    """A plan that was cut is not carried out, and its tokens count."""
    cut = Reply(text, Usage(10, 0, 0, 5), stop)
    client = scripted([cut])
    result = NeuronAgent(client, [nothing], state_dir=tmp_path).execute_goal("Do it")
    assert (result.success, result.trace.tokens) == (False, 15)
    assert f'The model gave no answer to "decompose": {reason}' in result.warnings


def test_answers_without_a_count_are_counted(tmp_path: Path) -> None:
    """A provider that reports no tokens cannot make a goal endless."""
    silent = scripted([Reply("-" * 4000, Usage())] * 9)
    assert NeuronAgent(silent, [], state_dir=tmp_path).execute_goal("Do it").trace.tokens > 1000


def test_a_client_that_cannot_ask_is_a_mistake_of_the_host(tmp_path: Path) -> None:
    """It is raised as it is: that the goal could not be split would hide what to do."""
    client = scripted([], model="")
    with pytest.raises(ClientSetupError, match="no model is set"):
        NeuronAgent(client, [], state_dir=tmp_path).execute_goal("Do it")
