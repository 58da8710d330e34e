"""What a goal may use: tokens at their price, seconds, steps (rules X-4, X-12, P1)."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from aggregate import NeuronAgent, Prompt, Reply, RequestOptions, Usage, open_client
from aggregate.agents.goals import ChatModel, EngineLimits, Limit, ScriptedModel, scripted_model
from aggregate.agents.goals.models import as_model
from aggregate.agents.tools import Tool, make_tool
from aggregate.sending.clients.protocol import DEFAULT_OPTIONS, OnText
from tests.fakes.models import agent

PLAN = "1. Ring the bell\n2. Ring the bell twice\n3. Ring the bell 3 times"
SCRIPT: dict[str, str | list[str]] = {"decompose": PLAN, "find_tool": "ring", "complete": "yes"}


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


def bell(clock: Clock | None = None) -> Tool:
    def ring() -> dict[str, Any]:
        """Ring the bell."""
        if clock:
            clock.now += 10
        return {"success": True, "result": "ding"}

    return make_tool(ring)


def test_the_time_is_over(tmp_path: Path) -> None:
    """The answer is what there is by then, and it says which limit ended the goal and what is done."""
    clock = Clock()
    model, limits = scripted_model(SCRIPT), EngineLimits(seconds=15)
    made = NeuronAgent(model, [bell(clock)], state_dir=tmp_path, limits=limits, clock=clock)
    result = made.execute_goal("Ring")
    assert (result.success, result.text, result.limit) == (True, "ding", Limit.SECONDS)
    assert result.stopped == (
        "Stopped at the limit of 15 seconds, 2 of 3 steps done: Ring the bell; Ring the bell twice"
    )
    assert result.as_dict()["limit"] == "seconds"


def test_too_many_steps_are_a_limit(tmp_path: Path) -> None:
    """Steps beyond the most are left out, and the goal says that it stopped there (X-4)."""
    made, _ = agent(tmp_path, SCRIPT, (bell(),), steps=2)
    result = made.execute_goal("Ring")
    assert (result.success, result.limit) == (True, Limit.STEPS)
    assert result.stopped == (
        "Stopped at the limit of 2 steps: done: Ring the bell; Ring the bell twice"
    )


@dataclass
class CachingClient:
    script: ScriptedModel = field(default_factory=lambda: scripted_model(SCRIPT))

    def send(
        self,
        prompt: Prompt,
        message: str,
        *,
        model: str = "",
        on_text: OnText | None = None,
        options: RequestOptions = DEFAULT_OPTIONS,
    ) -> Reply:
        text = PLAN if message.startswith("Split") else "ring" if "Which tool" in message else "yes"
        return Reply(text, Usage(fresh=10, cache_read=1000, output=5))

    async def asend(self, *_: object, **__: object) -> Reply:
        raise NotImplementedError


@pytest.mark.parametrize(("read_price", "limit"), [(0.1, None), (1.0, Limit.TOKENS)])
def test_cached_tokens_count_at_their_price(
    tmp_path: Path, read_price: float, limit: Limit | None
) -> None:
    """1,015 tokens, 1,000 of them from a cache, are 115 at a tenth: 600 are enough for four questions, or for none."""
    model = ChatModel(CachingClient(), read_price=read_price)
    limits = EngineLimits(tokens=600)
    made = NeuronAgent(model, [bell()], state_dir=tmp_path, limits=limits)
    result = made.execute_goal("Ring")
    assert result.limit is limit
    assert result.trace.tokens == result.trace.calls * 1015


def test_the_price_is_the_providers() -> None:
    """A client of a provider is asked at what its provider takes for a read token."""
    environ = {"ANTHROPIC_API_KEY": "x"}
    client = open_client("anthropic", model="claude-sonnet-5", environ=environ)
    model = as_model(client)
    assert isinstance(model, ChatModel)
    assert model.read_price == 0.1
