"""Goals over HTTP: with servers that others wrote, one that answers by fixtures and one with a real model."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aggregate import NeuronAgent, open_client
from aggregate.agents.goals import EngineLimits, new_record, recorded
from aggregate.agents.goals.models import as_model
from aggregate.agents.goals.questions import Question, QuestionKind, choice_schema
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
    """Serve an answer for each question of a goal."""
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
    """Plan, choice of a tool, arguments and check come from a server; a resumed goal asks it nothing more (P1, P2, P4, P12)."""
    client = open_client(
        provider,
        model=MODELS[provider],
        base_url=answering.url + PATHS[provider],
        environ={"ANTHROPIC_API_KEY": "x", "OPENAI_API_KEY": "x"},
    )
    answering.call("POST", "/__aimock/reset/journal")
    made = NeuronAgent(client, [measureTower], state_dir=tmp_path / "state")
    _, record = new_record(tmp_path / "goals", "How high is the tower?", steps=4)
    result = made.execute_goal("How high is the tower?", record=record)
    record.close()
    assert (result.text, result.success) == ("300 m", True)
    asked = len(answering.journal())
    assert asked == result.trace.calls == 6
    again = made.execute_goal("How high is the tower?", record=recorded(tmp_path / "goals", 1))
    assert again.as_dict() == result.as_dict()
    assert len(answering.journal()) == asked


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve a tiny model that knows nothing, and return its address."""
    xllamacpp = pytest.importorskip(
        "xllamacpp", reason="pip install xllamacpp gguf: the tests of a real model need it"
    )
    from tests.fakes.tiny_model import CONTEXT, write_model

    params = xllamacpp.CommonParams()
    params.model.path = str(write_model(tmp_path_factory.mktemp("model") / "tiny.gguf"))
    params.port, params.n_ctx, params.n_parallel, params.warmup = 0, CONTEXT, 1, False
    params.cpuparams.n_threads = 1
    params.verbosity = -1
    server = xllamacpp.Server(params)
    yield server.listening_address
    del server


def test_a_real_model_chooses_among_what_it_was_shown(llama: str) -> None:
    """Random weights write noise, but the choice of a tool is bound to the tools' names (P2)."""
    model = as_model(open_client("compatible", model="tiny", base_url=f"{llama}/v1", environ={}))
    names = ["measureTower", "listTowers"]
    for _ in range(3):
        completion = model.ask(
            Question(
                QuestionKind.FIND_TOOL, "Which tool?", schema=choice_schema(names), tokens_left=80
            )
        )
        assert json.loads(completion.text)["tool"] in [*names, "NONE"]


def test_a_goal_of_a_real_model_ends_within_its_tokens(llama: str, tmp_path: Path) -> None:
    """Whatever a real model writes, a goal ends, and says where a limit ended it (P1, X-12)."""
    client = open_client("compatible", model="tiny", base_url=f"{llama}/v1", environ={})
    limits = EngineLimits(tokens=400, seconds=20)
    made = NeuronAgent(client, [measureTower], state_dir=tmp_path, limits=limits)
    result = made.execute_goal("How high is the tower?")
    assert result.trace.calls >= 1
    assert bool(result.stopped) is (result.limit is not None)
    assert result.text.strip()
