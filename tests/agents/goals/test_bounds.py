"""What a goal may use, and what holds whatever a model answers and a tool gives (rules X-4, X-12, P1)."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from aggregate import NeuronAgent, ToolRegistry, tool
from aggregate.agents import EngineLimits, scripted_model
from aggregate.agents.goals import Completion, Question
from aggregate.agents.tools import Tool
from tests.fakes.models import agent, nodes
from tests.hostile.running import ends

PLAN = "1. Ring the bell\n2. Ring the bell twice\n3. Ring the bell 3 times"
SCRIPT: dict[str, str | list[str]] = {"decompose": PLAN, "find_tool": "ring", "complete": "yes"}


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


def bell(clock: Clock | None = None) -> Callable[[], dict[str, Any]]:
    @tool(permissions="read")
    def ring() -> dict[str, Any]:
        """Ring the bell."""
        if clock:
            clock.now += 10
        return {"success": True, "result": "ding"}

    return ring


def test_the_time_is_over(tmp_path: Path) -> None:
    """The goal is not reached; it shows the answer so far, the limit and the steps that were done (X-12)."""
    clock = Clock()
    model, limits = scripted_model(SCRIPT), EngineLimits(seconds=15)
    made = NeuronAgent(model, [bell(clock)], state_dir=tmp_path, limits=limits, clock=clock)
    result = made.execute_goal("Ring")
    assert (result.success, result.text, result.limit) == (False, "ding", "seconds")
    assert result.stopped == (
        "Stopped at the limit of 15 seconds, 2 of 3 steps done: Ring the bell; Ring the bell twice"
    )
    assert result.as_dict()["limit"] == "seconds"
    assert result.as_dict()["success"] is False


def test_too_many_steps_are_a_limit(tmp_path: Path) -> None:
    """Steps beyond the most are left out, so the goal stopped there and is not reached (X-4, X-12)."""
    made, _ = agent(tmp_path, SCRIPT, (bell(),), steps=2)
    result = made.execute_goal("Ring")
    assert (result.success, result.limit) == (False, "steps")
    assert result.stopped == (
        "Stopped at the limit of 2 steps, 2 of 3 steps done: Ring the bell; Ring the bell twice"
    )


def test_a_limit_that_leaves_nothing_undone_does_not_end_a_goal(tmp_path: Path) -> None:
    """All steps are done, and only a check of the answer was too much for the time (X-12)."""
    clock = Clock()
    model, limits = scripted_model(SCRIPT), EngineLimits(seconds=25)
    made = NeuronAgent(model, [bell(clock)], state_dir=tmp_path, limits=limits, clock=clock)
    result = made.execute_goal("Ring")
    assert (result.success, result.stopped, result.limit) == (True, "", None)
    assert any("The answer was not checked" in warning for warning in result.warnings)


def rooms(booked: list[int], clock: Clock | None = None) -> list[Tool]:
    """Return tools that list five rooms, and book one in ten seconds."""

    @tool(permissions="read")
    def listRooms() -> dict[str, Any]:  # noqa: N802 - tools are camelCase
        """List all rooms."""
        return {"success": True, "rooms": [{"room_id": number} for number in range(5)]}

    @tool(permissions="read")
    def bookRoom(room_id: int) -> dict[str, Any]:  # noqa: N802 - tools are camelCase
        """Book one room."""
        if clock:
            clock.now += 10
        booked.append(room_id)
        return {"success": True, "booked": room_id}

    return [listRooms, bookRoom]


BOOKING: dict[str, str | list[str]] = {
    "decompose": "1. List all rooms\n2. Book each room",
    "find_tool: Step: List": "listRooms",
    "find_tool: Step: Book": "bookRoom",
    "validate": "yes",
    "complete": "yes",
}


@pytest.mark.parametrize(
    ("bounds", "limit"),
    [({"seconds": 25.0}, "25 seconds"), ({"dendrites": 3}, "3 items of a step")],
)
def test_some_items_are_no_success(tmp_path: Path, bounds: dict[str, Any], limit: str) -> None:
    """A goal for five rooms that books three is stopped, and does not count that step as done (X-12, D-10)."""
    booked: list[int] = []
    clock = Clock()
    model, limits = scripted_model(BOOKING), EngineLimits(workers=1, **bounds)
    made = NeuronAgent(model, rooms(booked, clock), state_dir=tmp_path, limits=limits, clock=clock)
    result = made.execute_goal("Book all rooms")
    assert len(booked) == 3
    assert result.success is False
    assert result.stopped == (f"Stopped at the limit of {limit}, 1 of 2 steps done: List all rooms")


def test_a_step_in_words_is_no_done_action(tmp_path: Path) -> None:
    """A model that writes of a booking has booked nothing: the goal that stops does not count it (X-12)."""
    script = SCRIPT | {
        "decompose": "1. Book the room\n2. Ring the bell\n3. Ring the bell twice",
        "find_tool: Step: Book": "NONE",
        "answer": "The room is booked.",
    }
    made, _ = agent(tmp_path, script, (bell(),), steps=2)
    result = made.execute_goal("Book the room and ring")
    assert result.success is False
    assert result.stopped == ("Stopped at the limit of 2 steps, 1 of 3 steps done: Ring the bell")


ANSWERS = {
    "decompose": [
        "1. List runs\n2. Get kudos for each run",
        "1. Convert dates\n2. Get all runs\n3. Praise every run",
        "- x",
        "no",
    ],
    "find_tool": ["listRuns", "kudos", "convert", "NONE", ""],
    "parameters": ["{}", '{"run_id": 1, "date": "x"}', "[1]", ""],
    "split": ["SINGLE", "1. Convert a\n2. Convert b and each run", "?"],
    "item_goal": ["Get kudos of {id}; then praise {name}", "Praise {nothing}", ""],
    "reflect": ['{"diagnosis": "d", "suggested_params": {"run_id": 5}}', "?"],
    "correct": ["Get kudos for each run", "Format the runs", ""],
    "answer": ["done", "", "first, we need to"],
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

    return ToolRegistry.of([listRuns, kudos, convert]), called


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(st.integers(0, 11), min_size=1, max_size=12), st.lists(RESULTS, min_size=1, max_size=4)
)
def test_every_goal_ends_with_a_result(numbers: list[int], results: list[Any]) -> None:
    """Bounded calls, no exception, plain data, as many results as steps, and at most 3 executions a step (D-6, D-50)."""
    registry, called = drawn_tools(results)
    model = Drawn(numbers)
    limits = EngineLimits(dendrites=2, depth=3, workers=1)
    with tempfile.TemporaryDirectory() as folder:
        result = NeuronAgent(model, registry, state_dir=folder, limits=limits).execute_goal(
            "Get the kudos of my runs"
        )
    json.dumps(result.as_dict())
    assert len(result.neurons) == len(result.results) <= limits.steps + 1
    assert result.text.strip()
    most = (limits.steps + 1) * 2 * (1 + limits.steps * 2)
    assert len(nodes(result.trace, "dendrite")) <= most
    for step in nodes(result.trace, "neuron"):
        assert sum(child.kind == "tool" for child in step.children) <= limits.attempts
    assert len(called) <= limits.attempts * (limits.steps + 1) * (most + 1)
    assert result.trace.calls == model.asked
    assert result.success == (result.has_answer and not result.stopped)


class Interrupted:
    """Plans a praise for each of many runs, and is interrupted at the first answer."""

    def __init__(self) -> None:
        self.answers = 0

    def ask(self, question: Question) -> Completion:
        if question.call == "answer":
            self.answers += 1
            raise KeyboardInterrupt
        plan = {
            "decompose": "1. List all runs\n2. Praise each run",
            "fields_present": "no",
            "find_tool": "NONE",
        }
        listing = question.call == "find_tool" and "Step: List" in question.text
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


# The tool writes past sys.stdout: Python aborts if it ends while a thread holds the lock of that.
HANGS = """
import os, sys, time
from aggregate import NeuronAgent, scripted_model

def listItems() -> dict:
    "List items."
    return {"success": True, "items": [{"id": number} for number in range(8)]}

def getPart(item_id: int) -> dict:
    "Get part of one item."
    os.write(1, b"waits\\n")
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
