"""Book rooms: 61 wordings of which items of a list are meant, with models that answer rightly or wrongly.

Six rooms are listed, and a tool books one. The first model names the rooms that the wording means; the others name
none, an unknown one, too few or too many. A booking of other rooms than were meant must never count as success.
"""

import json
import sys
import tomllib
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from aggregate import Completion, GoalResult, NeuronAgent, Question
from aggregate.agents.scripted import scripted_model

WORDINGS = Path(__file__).parent / "item_choice.toml"
ROOMS = [
    {"id": 1, "name": "Blue", "beds": 1, "free": True, "floor": 1},
    {"id": 2, "name": "Green", "beds": 2, "free": True, "floor": 1},
    {"id": 3, "name": "Suite", "beds": 2, "free": False, "floor": 2},
    {"id": 4, "name": "Attic", "beds": 1, "free": True, "floor": 2},
    {"id": 5, "name": "Garden", "beds": 3, "free": False, "floor": 3},
    {"id": 6, "name": "Tower", "beds": 1, "free": True, "floor": 3},
]
ALL = (1, 2, 3, 4, 5, 6)
Answer = Callable[[tuple[int, ...]], list[Any]]
WRONG: dict[str, Answer] = {
    "none": lambda _: [],
    "unknown": lambda meant: [*meant, 99],
    "one": lambda _: [6],
    "one less": lambda meant: list(meant[:-1]),
    "one more": lambda meant: [*meant, *[room for room in ALL if room not in meant][:1]],
    "all": lambda _: list(ALL),
}


@dataclass(frozen=True, slots=True)
class Wording:
    """A goal and the rooms that it means; its words may say how many (``is_checked``) or which (``is_named``)."""

    text: str
    meant: tuple[int, ...]
    is_checked: bool
    is_named: bool = False


def wordings() -> Iterator[Wording]:
    """Yield the wordings of the file."""
    groups = tomllib.loads(WORDINGS.read_text(encoding="utf-8"))
    for group, table in groups.items():
        for text, rooms in table.items():
            yield Wording(text, tuple(rooms), group != "open", group in ("named", "except"))


@dataclass(slots=True)
class RoomModel:
    """Plans a list and the wording, and names rooms by ``answer``; it would book room 1 for every wording."""

    wording: Wording
    answer: Answer

    def ask(self, question: Question) -> Completion:
        """Answer as a script does, but for the question which items are meant."""
        if question.call == "items":
            return Completion(json.dumps({"items": self.answer(self.wording.meant)}))
        script = {
            "decompose": f"1. List the rooms of the house\n2. {self.wording.text}",
            "find_tool": "bookRoom",
            "find_tool: Step: List the rooms of": "listRooms",
            "parameters": '{"room_id": 1}',
            "split": "SINGLE",
            "calls_needed": "yes",
            "validate": "yes",
            "complete": "yes",
        }
        return scripted_model(script).ask(question)


def book(wording: Wording, answer: Answer, folder: Path) -> tuple[GoalResult, list[int]]:
    """Reach a wording's goal; return the result and the rooms that were booked, in order."""
    booked: list[int] = []

    def listRooms() -> dict[str, Any]:  # noqa: N802 - tools are camelCase
        """List the rooms of the house."""
        return {"success": True, "rooms": ROOMS}

    def bookRoom(room_id: int) -> dict[str, Any]:  # noqa: N802 - tools are camelCase
        """Book one room."""
        booked.append(room_id)
        return {"success": True, "booked": room_id}

    agent = NeuronAgent(RoomModel(wording, answer), (listRooms, bookRoom), state_dir=folder)
    return agent.execute_goal(wording.text), booked


def right(wording: Wording, folder: Path) -> bool:
    """Return whether a model that answers rightly books what is meant, each room once."""
    result, booked = book(wording, list, folder)
    return result.success and Counter(booked) == Counter(wording.meant)


def silent_failures(name: str, folder: Path) -> list[str]:
    """Return the wordings for which a wrong answer that contradicts them ends with success."""
    texts = []
    for wording in wordings():
        answer = WRONG[name](wording.meant)
        if sorted(map(str, answer)) == sorted(map(str, wording.meant)):
            continue
        is_other_number = wording.is_named or len(answer) != len(wording.meant)
        contradicts = (wording.is_checked and is_other_number) or name in ("none", "unknown")
        result, booked = book(wording, WRONG[name], folder)
        if result.success and contradicts and sorted(booked) != sorted(wording.meant):
            texts.append(wording.text)
    return texts


def main(parser: ArgumentParser) -> None:
    """Print how many wordings are done rightly, and how many wrong answers end as success."""
    parser.parse_args()
    texts = list(wordings())
    with TemporaryDirectory() as name:
        folder = Path(name)
        wrong = [wording.text for wording in texts if not right(wording, folder)]
        print(
            f"a model that is right: {len(texts) - len(wrong)} of {len(texts)}", *wrong, sep="\n  "
        )
        found = {name: silent_failures(name, folder) for name in WRONG}
    for name, silent in found.items():
        print(f"answers with {name:8}: success: true {len(silent)} times", *silent, sep="\n  ")
    sys.exit(bool(wrong or any(found.values())))
