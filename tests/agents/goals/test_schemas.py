"""Typed answers: which form each question asks for, and that such an answer is read like free text."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from aggregate import (
    Client as ProviderClient,
    ClientSetupError,
    FinishReason,
    NeuronAgent,
    Reply,
    Usage,
    standard_tools,
)
from aggregate.agents.goals.questions import (
    SCHEMAS,
    STEPS,
    VERDICT,
    QuestionKind,
    arguments_schema,
    choice_schema,
    reflection_schema,
)
from aggregate.agents.tools import make_tool
from aggregate.sending.clients.client import ScriptedTransport
from aggregate.sending.clients.protocol import ModelRequest


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


def test_the_form_of_arguments() -> None:
    """Every parameter is named and may be null; what is no simple value has no form (P4)."""
    assert arguments_schema(make_tool(find)) == {
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
    for function in (merge, nothing):
        assert arguments_schema(make_tool(function)) is None
        assert reflection_schema(make_tool(function)) is None
    reflection = reflection_schema(make_tool(find))
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
        *SCHEMAS.values(),
        *map(arguments_schema, tools),
        *map(reflection_schema, tools),
        choice_schema(["a"]),
    ]
    found = [one for schema in made for one in objects(schema)]
    assert len(found) > 20
    for one in found:
        assert one["required"] == list(one["properties"])
        assert one["additionalProperties"] is False


TYPED = {
    QuestionKind.DECOMPOSE: {"steps": ["Find the book", "Find the second book"]},
    QuestionKind.FIND_TOOL: {"tool": "find"},
    QuestionKind.PARAMETERS: {"name": "Emma", "most": None, "exact": None, "share": None},
    QuestionKind.VALIDATE: {"answer": True},
    QuestionKind.COMPLETE: {"answer": True},
}
BEGINNINGS = {
    "Split the goal": QuestionKind.DECOMPOSE,
    "Which tool": QuestionKind.FIND_TOOL,
    "Give the arguments": QuestionKind.PARAMETERS,
    "Does this result": QuestionKind.VALIDATE,
    "Does this answer": QuestionKind.COMPLETE,
}


def call_of(request: ModelRequest) -> QuestionKind:
    return next(call for start, call in BEGINNINGS.items() if request.plan.text.startswith(start))


def test_a_goal_with_a_client_that_knows_schemas(tmp_path: Path) -> None:
    """Each question goes out with its temperature, its form and what is left; null leaves a default (D-12, P1 to P4)."""
    client = ProviderClient(
        "scripted", ScriptedTransport(lambda request: json.dumps(TYPED[call_of(request)])), "m"
    )
    result = NeuronAgent(client, [find, nothing], state_dir=tmp_path).execute_goal("Find two books")
    assert [one.description for one in result.neurons] == ["Find the book", "Find the second book"]
    assert result.text == "Emma 3"
    assert isinstance(client.transport, ScriptedTransport)
    asked = [(call_of(one), one.temperature, one.schema) for one in client.transport.requests]
    assert asked[0] == (QuestionKind.DECOMPOSE, 0.2, STEPS)
    assert (QuestionKind.PARAMETERS, 0.1, arguments_schema(make_tool(find))) in asked
    assert asked[-1] == (QuestionKind.COMPLETE, 0.1, VERDICT)


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
    client = ProviderClient("scripted", ScriptedTransport(iter([cut])), "m")
    result = NeuronAgent(client, [nothing], state_dir=tmp_path).execute_goal("Do it")
    assert (result.success, result.trace.tokens) == (False, 15)
    assert f'The model gave no answer to "decompose": {reason}' in result.warnings


def test_answers_without_a_count_are_counted(tmp_path: Path) -> None:
    """A provider that reports no tokens cannot make a goal endless."""
    silent = ProviderClient(
        "scripted", ScriptedTransport(iter([Reply("-" * 4000, Usage())] * 9)), "m"
    )
    assert NeuronAgent(silent, [], state_dir=tmp_path).execute_goal("Do it").trace.tokens > 1000


def test_a_client_that_cannot_ask_is_a_mistake_of_the_host(tmp_path: Path) -> None:
    """It is raised as it is: that the goal could not be split would hide what to do."""
    client = ProviderClient("scripted", ScriptedTransport(iter([])), model="")
    with pytest.raises(ClientSetupError, match="no model is named"):
        NeuronAgent(client, [], state_dir=tmp_path).execute_goal("Do it")
