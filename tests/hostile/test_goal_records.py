"""Records of goals that are damaged or of another version: a sentence, and nothing asked or called."""

import sqlite3
from pathlib import Path

import pytest

from aggregate.agents.goals import (
    Completion,
    NeuronAgent,
    Question,
    new_record,
    recorded,
    scripted_model,
)
from aggregate.agents.tools import Permission, ToolRegistry, make_tool
from aggregate.base.errors import StateError

SCRIPT = {
    "decompose": "1. Greet Ann\n2. Greet Bo",
    "find_tool": "greet",
    "parameters": '{"name": "Ann"}',
    "complete": "yes",
}
GOAL = "Greet everybody"


class Killed(BaseException):
    """Ends a goal as a kill would: nothing catches it."""


def tools(calls: list[str]) -> ToolRegistry:
    """Return a tool that notes its calls; the second one ends the process."""

    def greet(name: str) -> dict[str, object]:
        """Greet somebody."""
        calls.append(name)
        return {"success": True, "result": f"Hello {name}"}

    registry = ToolRegistry.of([], permissions=["read"])
    registry.add(make_tool(greet, permissions=Permission.READ))
    return registry


class Ends:
    """A model whose process ends when it is asked for the parameters of the second step."""

    def __init__(self) -> None:
        self._model = scripted_model(SCRIPT)
        self._asked = 0

    def ask(self, question: Question) -> Completion:
        """Answer by the script."""
        self._asked += question.call == "parameters"
        if self._asked > 1:
            raise Killed
        return self._model.ask(question)


@pytest.fixture
def interrupted(tmp_path: Path) -> Path:
    """Return the folder of the record of a goal that was interrupted at its second step."""
    folder = tmp_path / "goals"
    _, record = new_record(folder, GOAL, steps=4)
    agent = NeuronAgent(Ends(), tools([]), state_dir=tmp_path / "state")
    with pytest.raises(Killed):
        agent.execute_goal(GOAL, record=record)
    record.close()
    return folder


def resumed(folder: Path, calls: list[str], asked: list[str]) -> None:
    """Go on with the goal."""

    class Model:
        def ask(self, question: Question) -> Completion:
            asked.append(question.call)
            return scripted_model(SCRIPT).ask(question)

    record = recorded(folder, 1)
    try:
        agent = NeuronAgent(Model(), tools(calls), state_dir=folder.parent / "state")
        agent.execute_goal(record.goal, record=record)
        record.check()
    finally:
        record.close()


def test_an_untouched_record_goes_on(interrupted: Path) -> None:
    """What is recorded is not done again: the proof that the others fail for what is done to them."""
    calls: list[str] = []
    resumed(interrupted, calls, [])
    assert calls == ["Ann"]  # the second step's


DAMAGES = [
    "UPDATE goal SET value = '2' WHERE name = 'version'",
    "DELETE FROM goal WHERE name = 'goal'",
    "UPDATE goal SET value = 'abc' WHERE name = 'spent'",
    "UPDATE goal SET value = '-1e9' WHERE name = 'spent'",
    "UPDATE goal SET value = 'nan' WHERE name = 'spent'",
    "UPDATE goal SET value = x'ff' WHERE name = 'started'",
    "UPDATE goal SET value = 'many' WHERE name = 'steps'",
    "DROP TABLE goal; CREATE VIEW goal AS SELECT 'goal' AS name, 'x' AS value",
    "UPDATE entries SET entry = '[]'",
    "UPDATE entries SET entry = '{'",
    "UPDATE entries SET entry = x'ff'",
    f"UPDATE entries SET entry = '{'[' * 100_000}'",
    "UPDATE entries SET digest = 'x'",
]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_record(interrupted: Path, damage: str) -> None:
    """It is one sentence, no tool is called, and its file stays for whoever wants to look (D-85)."""
    path = interrupted / "000001.sqlite"
    with sqlite3.connect(path) as connection:
        connection.executescript(damage)
    connection.close()
    calls: list[str] = []
    asked: list[str] = []
    with pytest.raises(StateError) as caught:
        resumed(interrupted, calls, asked)
    assert "\n" not in str(caught.value)
    assert (calls, asked, path.exists()) == ([], [], True)
