"""What holds whatever a model answers and a tool gives."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from aggregate import NeuronAgent, ToolRegistry
from aggregate.agents.goals.goal_result import EngineLimits, Trace, TraceKind
from aggregate.agents.goals.questions import Completion, Question, QuestionKind
from aggregate.agents.tools import make_tool
from tests.hostile.running import ends

ANSWERS = {
    QuestionKind.DECOMPOSE: [
        "1. List runs\n2. Get kudos for each run",
        "1. Convert dates\n2. Get all runs\n3. Praise every run",
        "- x",
        "no",
    ],
    QuestionKind.FIND_TOOL: ["listRuns", "kudos", "convert", "NONE", ""],
    QuestionKind.PARAMETERS: ["{}", '{"run_id": 1, "date": "x"}', "[1]", ""],
    QuestionKind.SPLIT: ["SINGLE", "1. Convert a\n2. Convert b and each run", "?"],
    QuestionKind.ITEM_GOAL: ["Get kudos of {id}; then praise {name}", "Praise {nothing}", ""],
    QuestionKind.REFLECT: ['{"diagnosis": "d", "suggested_params": {"run_id": 5}}', "?"],
    QuestionKind.CORRECT: ["Get kudos for each run", "Format the runs", ""],
    QuestionKind.ANSWER: ["done", "", "first, we need to"],
}
OTHERS = ["yes", "no", "", "know", "{}"]
RESULTS = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["id", "name", "runs", "success", "error", "retry", "result"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)


class Drawn:
    def __init__(self, numbers: list[int]) -> None:
        self.numbers = numbers
        self.asked = 0

    def ask(self, question: Question) -> Completion:
        texts = ANSWERS.get(question.call, OTHERS)
        self.asked += 1
        return Completion(texts[self.numbers[self.asked % len(self.numbers)] % len(texts)], 1)


def drawn_tools(results: list[Any]) -> tuple[ToolRegistry, list[str]]:
    """Return tools that give the drawn results in turn, and the list of their calls."""
    called: list[str] = []

    def give(name: str) -> Any:
        called.append(name)
        return results[len(called) % len(results)]

    def listRuns() -> Any:  # noqa: N802 - tools are camelCase
        """List all runs."""
        return give("listRuns")

    def kudos(run_id: int) -> Any:
        """Get the kudos of a run."""
        return give("kudos")

    def convert(date: str) -> Any:
        """Convert a date."""
        return give("convert")

    registry = ToolRegistry()
    for function in (listRuns, kudos, convert):
        registry.add(make_tool(function))
    return registry, called


def below(trace: Trace) -> list[Trace]:
    return [trace, *(found for one in trace.children for found in below(one))]


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(st.integers(0, 11), min_size=1, max_size=12), st.lists(RESULTS, min_size=1, max_size=4)
)
def test_every_goal_ends_with_a_result(numbers: list[int], results: list[Any]) -> None:
    """Bounded calls, no exception, plain data, as many results as steps, and at most 3 executions a step (D-6, D-50)."""
    registry, called = drawn_tools(results)
    model = Drawn(numbers)
    limits = EngineLimits(dendrites_in_all=12, workers=1)
    with tempfile.TemporaryDirectory() as folder:
        result = NeuronAgent(model, registry, state_dir=folder, limits=limits).execute_goal(
            "Get the kudos of my runs"
        )
    json.dumps(result.as_dict())
    assert len(result.neurons) == len(result.results) <= limits.steps + 1
    assert result.text.strip()
    nodes = below(result.trace)
    assert sum(one.kind is TraceKind.DENDRITE for one in nodes) <= 12
    for one in nodes:
        if one.kind is TraceKind.NEURON:
            assert sum(child.kind is TraceKind.TOOL for child in one.children) <= limits.attempts
    assert len(called) <= limits.attempts * (limits.steps + 1) * 13
    assert result.trace.calls == model.asked
    assert result.success == (result.final is not None and result.final.success)


class Interrupted:
    """Plans a praise for each of many runs, and is interrupted at the first answer."""

    def __init__(self) -> None:
        self.answers = 0

    def ask(self, question: Question) -> Completion:
        if question.call is QuestionKind.ANSWER:
            self.answers += 1
            raise KeyboardInterrupt
        plan = {
            "decompose": "1. List all runs\n2. Praise each run",
            "fields_present": "no",
            "find_tool": "NONE",
        }
        listing = question.call is QuestionKind.FIND_TOOL and "Step: List" in question.text
        return Completion("listRuns" if listing else plan.get(question.call.value, "yes"))


def test_an_interrupt_ends_the_goal(tmp_path: Path) -> None:
    """It reaches the caller, and the other sub-tasks ask nothing more."""

    def listRuns() -> dict[str, Any]:  # noqa: N802 - tools are camelCase
        """List all runs."""
        return {"success": True, "runs": [{"id": number} for number in range(40)]}

    model = Interrupted()
    made = NeuronAgent(model, [listRuns], state_dir=tmp_path, limits=EngineLimits(workers=4))
    with pytest.raises(KeyboardInterrupt):
        made.execute_goal("Praise my runs")
    assert 1 <= model.answers <= 8


HANGS = """
import sys, time
from aggregate.agents.goals import NeuronAgent, scripted_model

def listItems() -> dict:
    "List items."
    return {"success": True, "items": [{"id": number} for number in range(8)]}

def getPart(item_id: int) -> dict:
    "Get part of one item."
    print("waits", flush=True)
    time.sleep(60)
    return {}

script = {"decompose": "1. List items\\n2. Get part for each item", "find_tool: Step: Get": "getPart", "find_tool": "listItems"}
NeuronAgent(scripted_model(script), [listItems, getPart], state_dir=sys.argv[1]).execute_goal("Parts of items")
"""


@pytest.mark.skipif(os.name == "nt", reason="signals are POSIX's")
def test_an_interrupted_program_does_not_wait_for_tools(tmp_path: Path) -> None:
    """Ctrl-C ends it while several sub-tasks hang in their tools (D-30)."""
    process = subprocess.Popen(
        [sys.executable, "-c", HANGS, str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    assert process.stdout
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=20)
    assert process.returncode != 0
    assert errors.strip().endswith("KeyboardInterrupt")


class Slow:
    def __init__(self) -> None:
        self.over = threading.Event()

    def ask(self, question: Question) -> Completion:
        self.over.wait()
        return Completion("1. Do it")


def test_a_goal_does_not_wait_for_a_model_beyond_its_time(tmp_path: Path) -> None:
    """The bound holds for whatever answers."""
    model = Slow()
    limits = EngineLimits(seconds=0.1)
    with ends():
        result = NeuronAgent(model, [], state_dir=tmp_path, limits=limits).execute_goal("Do it")
    model.over.set()
    over = "the goal's time of 0.1 s is over"
    assert (result.success, result.error) == (False, f"Could not decompose goal: {over}")
    assert result.warnings == (f'The model gave no answer to "decompose": {over}',)
