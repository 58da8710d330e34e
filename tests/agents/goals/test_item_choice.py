"""Which items of a list a step means (rule P18)."""

from pathlib import Path
from typing import Any

import pytest

from aggregate.agents.goals import read_claim
from tests.fakes.models import agent, calls

SIX = range(1, 7)
SHAPES: list[tuple[str, list[Any]]] = [
    ("seats", [{"id": n} for n in SIX]),
    ("seats", [{"seat_id": n} for n in SIX]),
    ("seats", [{"number": n} for n in SIX]),
    ("seats", list(SIX)),
    ("items", [{"id": n, "name": f"seat {n}"} for n in SIX]),
    ("", [{"id": n} for n in SIX]),
    ("data.seats", [{"id": n} for n in SIX]),
    ("data.page.items", [{"id": n} for n in SIX]),
]
SCRIPT = {
    "decompose": "1. List seats\n2. Take the seats",
    "find_tool: Step: Take": "takeSeat",
    "parameters": '{"seat_id": 1}',
}
SCRIPT |= {f'parameters: : {{"number": {n}}}': f'{{"seat_id": {n}}}' for n in SIX}


def taking(folder: Path, key: str, seats: list[Any], **script: str) -> tuple[Any, list[int], Any]:
    """Return what the goal to take the seats gives, the seats that were taken, and the model."""
    taken: list[int] = []

    def listSeats() -> Any:  # noqa: N802 - tools are camelCase
        """List seats."""
        result: Any = seats
        for name in reversed(key.split(".") if key else ()):
            result = {name: result}
        return {"success": True, **result} if key else seats

    def takeSeat(seat_id: int) -> dict[str, Any]:  # noqa: N802 - tools are camelCase
        """Take one seat."""
        taken.append(seat_id)
        return {"success": True}

    made, model = agent(folder, SCRIPT | script, (listSeats, takeSeat), workers=1)
    return made.execute_goal("Take the seats"), taken, model


@pytest.mark.parametrize(("key", "items"), SHAPES)
def test_lists_of_any_shape(tmp_path: Path, key: str, items: list[Any]) -> None:
    """Items are named by their ids, their numbers or themselves, and each that is meant is one call."""
    result, taken, _ = taking(tmp_path, key, items, items='{"items": ["2", "5"]}')
    assert (result.success, taken) == (True, [2, 5])


ANSWERS = [
    ('["2", 5]', [2, 5]),
    ("2, 5", [2, 5]),
    ("Seats 2 and 5", [2, 5]),
    ('{"items": "all"}', [*SIX]),
    ("all", [*SIX]),
    ('{"items": [{"id": 2}]}', [2]),
]


@pytest.mark.parametrize(("answer", "taken"), ANSWERS)
def test_answers_in_any_form(tmp_path: Path, answer: str, taken: list[int]) -> None:
    """JSON of the schema, a list, prose with names alone."""
    result, seats, _ = taking(tmp_path, *SHAPES[0], items=answer)
    assert (result.success, seats) == (True, taken)


@pytest.mark.parametrize("answer", ["", "[]", '{"items": []}', "NONE", "seat 9", "I do not know."])
def test_an_unclear_answer_ends_the_goal(tmp_path: Path, answer: str) -> None:
    """It is asked for twice; then nothing is called, and the answer says why."""
    result, taken, model = taking(tmp_path, *SHAPES[0], items=answer)
    assert (result.success, taken, calls(model).count("items")) == (False, [], 2)
    assert '"Take the seats" does not say clearly which of the 6 items it means' in result.text
    assert result.as_dict()["final"]["success"] is False


def test_two_items_with_the_same_arguments(tmp_path: Path) -> None:
    """A model that gives every item the arguments of the first ends the goal: one call is not two (P18)."""
    alike: dict[str, Any] = {f'parameters: : {{"number": {n}}}': '{"seat_id": 1}' for n in SIX}
    result, taken, _ = taking(tmp_path, *SHAPES[2], items="all", **alike)
    assert (result.success, taken) == (False, [1])


def test_a_step_about_something_else(tmp_path: Path) -> None:
    """OTHER lets a call be made for what is not listed, and for nothing that is."""
    other = {"parameters": '{"seat_id": 40}', "items": "OTHER"}
    result, taken, _ = taking(tmp_path, "seats", SHAPES[0][1], **other)
    assert (result.success, taken) == (True, [40])
    result, taken, _ = taking(tmp_path, *SHAPES[0], items="OTHER")
    assert (result.success, taken) == (False, [])


CLAIMS = [
    ("Close at least two tickets", 3, 3),
    ("Close no more than two tickets", 2, 2),
    ("Close the tickets until one is left", 3, 3),
    ("Close the third and the fourth ticket", 2, 2),
    ("Close all the others except ticket 2", 2, 2),
    ("Close none but ticket 2", 4, 1),
    ("Close a couple of tickets", 1, 2),
    ("Close them one by one", 5, 5),
    ("Close the lot", 3, 5),
    ("Close every second ticket", 2, 2),
    ("Close the ticket about logins", 1, 1),
    ("Close tickets 2 to 4", 3, 3),
    ("Close the first and the last ticket", 2, 2),
    ("Close tickets for 3 people", 2, 2),
]


@pytest.mark.parametrize(("text", "wrong", "right"), CLAIMS)
def test_what_words_claim(text: str, wrong: int, right: int) -> None:
    """A number of items that the words contradict is refused, and what they mean never is (P18)."""
    names = [[str(number)] for number in range(1, 6)]
    claim = read_claim(text, "ticket", names)
    meant = {1: [1], 2: [2, 3], 3: [1, 2, 3]}.get(right, range(5))
    if "others" in text:
        meant = [2, 3]
    assert claim.fault(meant) == ""
    if wrong != right:
        assert claim.fault([0, *range(2, 6)][:wrong])


FIELD_CLAIMS = [
    ("Close all tickets of type bug", True),
    ("Close each: all tickets in the due date 7", True),
    ("Close all tickets on Monday", False),
]


@pytest.mark.parametrize(("text", "may_be_some"), FIELD_CLAIMS)
def test_a_field_of_the_items_is_a_condition(text: str, may_be_some: bool) -> None:
    """Of all tickets those with a value of a field may be meant; a day that is no field limits nothing (P18)."""
    names = [[str(number)] for number in range(1, 6)]
    claim = read_claim(text, "ticket", names, ["id", "type", "dueDate"])
    assert bool(claim.fault([1, 2])) is not may_be_some
    assert claim.fault(range(5)) == ""
