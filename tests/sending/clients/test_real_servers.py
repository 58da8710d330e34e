"""Servers that others wrote: one that answers by fixtures, and one with a real model, its cache and its grammar."""

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from aggregate import ChatRequest, NeuronAgent, Prompt, open_client
from aggregate.agents import EngineLimits
from aggregate.sending.models import CallResult, LoopTurn, OfferedTool
from tests.fakes.prompts import messages, state
from tests.fakes.transports import QUICK
from tests.sending.clients.conftest import Aimock, serving

FIXTURES = {
    "Split the goal": '{"steps": ["Look at the tower", "Say how high it is"]}',
    "Which tool": '{"tool": "measureTower"}',
    "Does this answer": '{"answer": true}',
    "Give the arguments": '{"unit": "m"}',
}


def measureTower(unit: str) -> dict[str, Any]:  # noqa: N802 - tools are camelCase
    """Measure how high the tower is.

    Args:
        unit: Of the answer.
    """
    return {"success": True, "result": f"300 {unit}"}


@pytest.fixture(scope="module")
def answering(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Aimock]:
    fixtures = [
        {"match": {"userMessage": text}, "response": {"content": answer}}
        for text, answer in FIXTURES.items()
    ]
    with serving(tmp_path_factory.mktemp("aimock"), fixtures) as running:
        yield running


PATHS = {"anthropic": "", "compatible": "/v1"}
MODELS = {"anthropic": "claude-sonnet-5", "compatible": "any"}


@pytest.mark.parametrize("provider", PATHS)
def test_a_goal_over_http(answering: Aimock, tmp_path: Path, provider: str) -> None:
    """Plan, choice of a tool, arguments and checks come from a server (P1, P2, P4, P12)."""
    client = open_client(
        provider,
        model=MODELS[provider],
        base_url=answering.url + PATHS[provider],
        environ={"ANTHROPIC_API_KEY": "x", "OPENAI_API_KEY": "x"},
    )
    answering.call("POST", "/__aimock/reset/journal")
    made = NeuronAgent(client, [measureTower], state_dir=tmp_path / "state")
    result = made.execute_goal("How high is the tower?")
    assert (result.text, result.success) == ("300 m", True)
    assert len(answering.journal()) == result.trace.calls == 8


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    pytest.importorskip(
        "xllamacpp", reason="pip install xllamacpp gguf: the tests of a real model need it"
    )
    folder = tmp_path_factory.mktemp("model")
    command = [sys.executable, "-m", "tests.fakes.tiny_server", str(folder)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        # Its libraries may print lines of their own.
        yield next(line.strip() for line in server.stdout if line.startswith("http"))
        server.kill()


def test_a_goal_of_a_real_model_ends_within_its_tokens(llama: str, tmp_path: Path) -> None:
    """Whatever a real model writes, a goal ends, and says where a limit ended it (P1, X-12)."""
    # This server refuses noise of its own model where JSON was asked for, and is asked again.
    client = open_client(
        "compatible", model="tiny", base_url=f"{llama}/v1", environ={}, retry=QUICK
    )
    limits = EngineLimits(tokens=400, seconds=20)
    made = NeuronAgent(client, [measureTower], state_dir=tmp_path, limits=limits)
    result = made.execute_goal("How high is the tower?")
    assert result.trace.calls >= 1
    assert bool(result.stopped) is (result.limit is not None)
    assert result.text.strip()


SAID = [("User: what does first do?", 0), ("AI: it returns its name.", 0)]
ROOT = Path(__file__).parents[3]


def turns(folder: str) -> tuple[Prompt, Prompt, Prompt]:
    """Return a first turn, one with two more excerpts, and one in which the last file has changed."""
    files = {
        f"{folder}/{name}.py": (f"def {name}(): return {name!r}\n" * 20, 0)
        for name in ("first", "second", "third")
    }
    changed = {**files, f"{folder}/third.py": ("def third(): return 3\n", 0)}
    return (
        state(files, SAID[:1]).prompt,
        state(files, SAID + SAID[:1]).prompt,
        state(changed, SAID + SAID[:1]).prompt,
    )


def wire_text(plan: Any) -> str:
    """Return what the tiny model's template makes of a request."""
    return "".join(f"<{role}>{text}" for role, text in messages(plan))


@pytest.mark.parametrize(("provider", "path"), [("anthropic", ""), ("compatible", "/v1")])
def test_the_next_turn_reads_the_stable_prefix(llama: str, provider: str, path: str) -> None:
    """Turn two reads all of turn one; a change in the last file leaves what stands before it (a token is a byte)."""
    client = open_client(
        provider, model="tiny", base_url=llama + path, environ={"ANTHROPIC_API_KEY": "none-needed"}
    )
    prompts = turns(provider)
    usages = [client.send(ChatRequest(prompt, "", max_output=4)).usage for prompt in prompts]
    sizes = [
        len(wire_text(client.planned(ChatRequest(prompt)).plan).encode()) for prompt in prompts
    ]
    shared = len(prompts[1].markdown.split("return 'third'")[0].encode())
    for usage, size in zip(usages, sizes, strict=True):
        assert abs(usage.input - size) <= 8
    assert usages[0].cache_read < 40
    assert sizes[0] - 8 <= usages[1].cache_read <= sizes[0] + 8
    assert shared - 16 <= usages[2].cache_read <= shared + 16


@pytest.mark.parametrize(("provider", "path"), [("anthropic", ""), ("compatible", "/v1")])
@pytest.mark.parametrize("is_streamed", [False, True])
def test_a_tool_is_called_and_told(llama: str, provider: str, path: str, is_streamed: bool) -> None:
    """A call arrives whole, also in a stream; with its result behind it the model answers (K-1)."""
    client = open_client(
        provider, model="tiny", base_url=llama + path, environ={"ANTHROPIC_API_KEY": "none-needed"}
    )
    parameters = {
        "type": "object",
        "properties": {"path": {"type": "string"}},
        "required": ["path"],
    }
    asked = ChatRequest(
        Prompt(()),
        "Read it.",
        max_output=40,
        tools=(OfferedTool("read_file", "Read.", parameters),),
    )
    pieces: list[str] = []
    on_text = pieces.append if is_streamed else None
    called = client.send(replace(asked, turns=()), on_text)
    assert [(call.name, call.arguments) for call in called.calls] == [
        ("read_file", {"path": "README.md"})
    ]
    results = tuple(CallResult(call, "It is short.") for call in called.calls)
    turn = LoopTurn(called.text, results, native=called.native)
    answered = client.send(replace(asked, turns=(turn,)), on_text)
    assert (answered.text, answered.calls) == ("It is read.", ())
    assert answered.usage.cache_read > 200  # the tools and what was said before
    assert "".join(pieces) == ("It is read." if is_streamed else "")


SCHEMA = {
    "type": "object",
    "properties": {
        "answer": {"type": "boolean"},
        "note": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "tool": {"type": "string", "enum": ["measureTower", "listTowers", "NONE"]},
    },
    "required": ["answer", "note", "tool"],
    "additionalProperties": False,
}


def test_an_answer_has_the_form_of_its_schema(llama: str) -> None:
    """A model of random weights writes noise, and JSON of the schema where one is asked for: a choice is bound to its names (P2)."""
    client = open_client("compatible", model="tiny", base_url=f"{llama}/v1", environ={})
    reply = client.send(
        ChatRequest(Prompt(()), "Yes or no?", max_output=200, temperature=0.0, schema=SCHEMA)
    )
    answer = json.loads(reply.text)
    assert list(answer) == ["answer", "note", "tool"]
    assert isinstance(answer["answer"], bool)
    assert answer["tool"] in ("measureTower", "listTowers", "NONE")
    assert answer["note"] is None or isinstance(answer["note"], int)
