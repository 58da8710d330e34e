"""Goals that go on in another process (rules D-7, D-55, D-85)."""

import random
import sqlite3
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from simulation.killed_goals import PARCELS, killed_goal

from aggregate import ClientSetupError, GoalResult, NeuronAgent, StateError, ToolRegistry
from aggregate.agents.goals import (
    EngineLimits,
    new_record,
    recorded,
    scripted_model,
    unfinished_goals,
)
from aggregate.agents.goals.questions import Completion, Question
from aggregate.agents.goals.scripted import ScriptedModel
from aggregate.agents.tools import make_tool
from tests.fakes.models import calls

PLAN = "1. List the parcels\n2. Ship each parcel\n3. Say what was done"
SCRIPT: dict[str, str | list[str]] = {
    "decompose": PLAN,
    "find_tool": "listParcels",
    "find_tool: Step: Ship": "shipParcel",
    "find_tool: Step: Say": "NONE",
    "answer": "all is done",
    "validate": "yes",
    "complete": "yes",
}


class Killed(BaseException):
    """Ends a goal as a kill would: nothing catches it."""


@dataclass
class Parcels:
    listed: int = 0
    shipped: list[int] = field(default_factory=list)

    def tools(self, *, idempotent: bool | None = None) -> ToolRegistry:
        def listParcels() -> dict[str, Any]:  # noqa: N802 - tools are camelCase
            """List the parcels."""
            self.listed += 1
            return {"success": True, "parcels": [{"id": number} for number in (1, 2, 3)]}

        def shipParcel(parcel_id: int) -> dict[str, Any]:  # noqa: N802 - tools are camelCase
            """Ship one parcel."""
            self.shipped.append(parcel_id)
            return {"success": True, "result": f"shipped {parcel_id}"}

        tools = ToolRegistry.of([listParcels], permissions=["read", "write"])
        tools.add(make_tool(shipParcel, permissions="write", idempotent=idempotent))
        return tools


@dataclass
class KilledRecord:
    """A record whose process ends at an entry: before it is written down."""

    record: Any
    entries: int

    def __getattr__(self, name: str) -> Any:
        return getattr(self.record, name)

    def finish(self, *arguments: Any, **options: Any) -> None:
        self.entries -= 1
        if self.entries < 0:
            raise Killed
        self.record.finish(*arguments, **options)


def reach(
    folder: Path,
    record: Any,
    parcels: Parcels,
    *,
    idempotent: bool | None = None,
    script: dict[str, str | list[str]] = SCRIPT,
    **limits: Any,
) -> tuple[GoalResult, ScriptedModel]:
    """Reach the goal, from its record on."""
    model = scripted_model(script)
    tools, limited = parcels.tools(idempotent=idempotent), EngineLimits(workers=1, **limits)
    made = NeuronAgent(model, tools, state_dir=folder / "state", limits=limited)
    return made.execute_goal("Ship all", record=record), model


def killed(folder: Path, parcels: Parcels, entries: int, *, idempotent: bool | None = None) -> None:
    """Begin the goal in a process that is killed instead of making the entry after the first ``entries``."""
    _, record = new_record(folder / "goals", "Ship all", steps=4)
    with pytest.raises(Killed):
        reach(folder, KilledRecord(record, entries), parcels, idempotent=idempotent)
    record.close()


QUESTIONS = ("decompose", "validate", "find_tool", "find_tool", "answer", "complete")
ENTRIES = ("memory", "decompose", "list", "validate", "find_tool") + ("ship",) * 3 + QUESTIONS[3:]


@pytest.mark.parametrize("entries", range(len(ENTRIES)))
def test_a_killed_goal_goes_on(tmp_path: Path, entries: int) -> None:
    """Whichever entry is the last, the result is that of an undisturbed goal, and only what was running is done again."""
    parcels = Parcels()
    killed(tmp_path, parcels, entries, idempotent=True)
    whole, _ = reach(
        tmp_path / "whole", new_record(tmp_path / "w", "Ship all", steps=4)[1], Parcels()
    )
    record = recorded(tmp_path / "goals", 1)
    result, model = reach(tmp_path, record, parcels, idempotent=True)
    assert result.as_dict() == whole.as_dict()
    assert result.trace.tokens == whole.trace.tokens
    done_again = len(parcels.shipped) + parcels.listed - 4
    assert done_again == (1 if ENTRIES[entries] in ("list", "ship") else 0)
    assert calls(model) == [name for name in ENTRIES[entries:] if name in QUESTIONS]


@pytest.mark.parametrize("repeat", [True, False])
def test_a_call_that_may_do_something_twice(tmp_path: Path, repeat: bool) -> None:
    """It is named; it is made again by the user's word alone, else it has failed and says why."""
    parcels = Parcels()
    killed(tmp_path, parcels, 6)
    record = recorded(tmp_path / "goals", 1, repeat=repeat)
    (call,) = record.unfinished()
    assert (call.tool, call.arguments) == ("shipParcel", '{"parcel_id": 2}')
    result, _ = reach(tmp_path, record, parcels)
    assert parcels.shipped == ([1, 2, 2, 3] if repeat else [1, 2, 3])
    second = result.results[1]["dendrite_results"][1]
    why = "shipParcel was running when the goal was interrupted: whether it was done is not known"
    assert second.get("error", "") == ("" if repeat else why)
    assert record.unfinished() == []


def test_a_limit_is_no_end(tmp_path: Path) -> None:
    """A goal that ran out of tokens goes on with more of them, behind what it has done."""
    parcels = Parcels()
    _, record = new_record(tmp_path / "goals", "Ship all", steps=4)
    first, model = reach(tmp_path, record, parcels, tokens=130)
    assert first.limit == "tokens"
    record.close()
    record = recorded(tmp_path / "goals", 1)
    second, again = reach(tmp_path, record, parcels)
    assert second.limit is None
    assert second.results[2] == {"type": "ai_response", "answer": "all is done"}
    assert (parcels.listed, parcels.shipped) == (1, [1, 2, 3])
    assert len(model.questions) + len(again.questions) == len(QUESTIONS)


def test_a_record_of_other_tools(tmp_path: Path) -> None:
    """Nothing is asked or called where a question is not the recorded one, and one sentence says so."""
    parcels = Parcels()
    killed(tmp_path, parcels, 6, idempotent=True)
    record = recorded(tmp_path / "goals", 1)
    model = scripted_model(SCRIPT)
    made = NeuronAgent(model, [], state_dir=tmp_path / "state")
    with pytest.raises(StateError, match="recorded with other tools, other files, or by another"):
        made.execute_goal("Ship all", record=record)
    assert (model.questions, parcels.shipped) == ([], [1, 2])


def test_one_process_at_a_time(tmp_path: Path) -> None:
    """A goal that is being worked on is not resumed, and is not listed as interrupted."""
    _, record = new_record(tmp_path, "Do it", steps=4)
    record.finish("x", "y", {}, seconds=1)
    with pytest.raises(StateError, match="another process works on this goal"):
        recorded(tmp_path, 1)
    assert unfinished_goals(tmp_path) == []
    record.close()
    assert [note.goal for note in unfinished_goals(tmp_path)] == ["Do it"]


def test_a_goal_without_a_key_is_not_interrupted(tmp_path: Path) -> None:
    """Where the client could ask nothing at all there is nothing to go on with."""

    class Keyless:
        def ask(self, question: Question) -> Completion:
            raise ClientSetupError("there is no key")

    _, record = new_record(tmp_path, "Do it", steps=4)
    with pytest.raises(ClientSetupError):
        NeuronAgent(Keyless(), [], state_dir=tmp_path / "state").execute_goal(
            "Do it", record=record
        )
    record.close()
    assert unfinished_goals(tmp_path) == []


def test_goals_that_cannot_be_resumed(tmp_path: Path) -> None:
    """The sentence names those that can."""
    _, record = new_record(tmp_path, "Do it", steps=4)
    record.finish("x", "y", {}, seconds=1)
    record.close()
    with pytest.raises(StateError, match=r"^there is no goal 7 to go on with: there are 1, Do it$"):
        recorded(tmp_path, 7)
    (tmp_path / "000001.sqlite").write_bytes(b"no database" * 100)
    with pytest.raises(StateError, match="the record of the goal cannot be used"):
        recorded(tmp_path, 1)


def test_old_records_go(tmp_path: Path) -> None:
    """One that ended is deleted, of the others the oldest but for those in use: records do not pile up."""
    _, in_use = new_record(tmp_path, "Do it", steps=4)
    for _ in range(10):
        new_record(tmp_path, "Do more", steps=4)[1].close()
    numbers = sorted(int(path.stem) for path in tmp_path.glob("*.sqlite"))
    assert numbers == [1, *range(2, 12)]
    in_use.end()
    new_record(tmp_path, "Do more", steps=4)[1].close()
    assert len(list(tmp_path.glob("*"))) == 10


def test_a_full_disk_ends_the_goal(tmp_path: Path) -> None:
    """What cannot be recorded is not gone on with: its answer would be one that nobody can resume."""
    _, record = new_record(tmp_path, "Ship all", steps=4)
    record.connection.execute("PRAGMA query_only=ON")
    with pytest.raises(StateError, match="the record of the goal cannot be used"):
        reach(tmp_path, record, Parcels())


def test_the_file_is_the_users_alone(tmp_path: Path) -> None:
    """Questions and results may hold what others must not read."""
    _, record = new_record(tmp_path / "goals", "Do it", steps=4)
    record.close()
    path = tmp_path / "goals" / "000001.sqlite"
    assert path.stat().st_mode & 0o077 == 0
    assert sqlite3.connect(path).execute("SELECT count(*) FROM entries").fetchone() == (0,)


@pytest.mark.slow
def test_a_goal_that_is_killed_for_real(tmp_path: Path) -> None:
    """SIGKILL again and again: each parcel is shipped exactly once, and no recorded question is asked again."""
    left = killed_goal(tmp_path, random.Random(3), most=3, seconds=0.005)
    assert left.shipped_once
    assert left.counts["weighed 1"] >= 1
    assert left.repeated <= left.kills
    assert left.answer[1].count("\n") == PARCELS - 1


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
def test_a_damaged_record(tmp_path: Path, damage: str) -> None:
    """It is one sentence, nothing is asked or called, and its file stays for whoever wants to look (D-85)."""
    parcels, path = Parcels(), tmp_path / "goals/000001.sqlite"
    killed(tmp_path, parcels, 6, idempotent=True)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(damage)
    model = scripted_model(SCRIPT)

    def go_on() -> None:
        made = NeuronAgent(model, parcels.tools(idempotent=True), state_dir=tmp_path / "state")
        with closing(recorded(tmp_path / "goals", 1)) as record:
            made.execute_goal("Ship all", record=record)
            record.check()

    with pytest.raises(StateError) as caught:
        go_on()
    assert "\n" not in str(caught.value)
    assert (parcels.listed, parcels.shipped, model.questions) == (1, [1, 2], [])
    assert path.exists()
