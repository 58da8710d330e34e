"""What the words of a goal or step decide without a model (rules P0, P3, P9, D-21, D-28)."""

import pytest

from aggregate.agents.goals.heuristics import advice, find_iteration, has_parts, words
from aggregate.agents.tools import make_tool

ITERATIONS = [
    ("Get kudos for each activity", ("each activity", "activity")),
    ("Get kudos for EACH Activity in the list", ("EACH Activity", "activity")),
    ("process every item", ("every item", "item")),
    ("Get all activities", ("all activities", "activity")),
    ("For all of the running activities, get kudos", ("all of the running activities", "activity")),
    ("Check each of the open tickets", ("each of the open tickets", "ticket")),
    ("Get the owner of each activity's gear", ("each activity's gear", "gear")),
    ("for each long run that has kudos", ("each long run", "run")),
    ("Reach the server", None),
    ("Call the API", None),
    ("Finally format the overall result", None),
    ("Teach everyone", None),
    ("Work all day", None),
    ("all", None),
    ("each", None),
    ("", None),
]


@pytest.mark.parametrize(("step", "expected"), ITERATIONS)
def test_iteration_words(step: str, expected: tuple[str, str] | None) -> None:
    """Whole words, any case, any noun: "reach", "call" and "finally" are none (D-21, D-28)."""
    found = find_iteration(step)
    assert (found and (found.phrase, found.noun)) == expected


def convert(date: str) -> None:
    """Convert one date."""


def convert_range(start: str, end: str) -> None:
    """Convert the start and end of a range."""


PARTS = [
    ("Convert start and end dates", convert, True),
    ("Convert dates to timestamps", convert, True),
    ("Convert the date", convert, False),
    ("Convert start and end dates", convert_range, False),
    ("Get both the runs and the rides", None, True),
    ("Get runs and also rides", None, True),
    ("Get runs as well as rides", None, True),
    ("Get runs along with rides", None, True),
    ("Get runs and rides", None, False),
    ("Bother nobody", None, False),
]


@pytest.mark.parametrize(("step", "function", "expected"), PARTS)
def test_steps_of_several_parts(step: str, function: object, expected: bool) -> None:
    """Trigger words, or several of the one thing a tool takes; a tool that serves both ends is no split (P9)."""
    assert has_parts(step, make_tool(function) if callable(function) else None) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("getMyActivities", ["get", "my", "activity"]),
        ("list_state_keys", ["list", "state", "key"]),
        ("Läufe zählen", ["läufe", "zählen"]),
        ("matches, boxes & buses", ["match", "box", "buse"]),
        ("kudos status analysis", ["kudo", "status", "analysis"]),
    ],
)
def test_words_of_any_language(text: str, expected: list[str]) -> None:
    """Names are parted, plurals cut alike on both sides of a comparison, letters of any script kept."""
    assert words(text) == expected


ADVICE = [
    ("How many runs did I do?", ["Count with code"]),
    ("The number of runs this month", ["Count with code", "Convert the dates"]),
    ("All runs that have kudos", ["Filter with code", "Fetch everything once"]),
    ("Total distance in September", ["Fetch everything once", "Convert the dates"]),
    ("Say hello", []),
]


@pytest.mark.parametrize(("goal", "expected"), ADVICE)
def test_advice(goal: str, expected: list[str]) -> None:
    """Counting, filtering, totals and dates each give their advice, without a model (P0)."""
    told = advice(goal)
    every = ("Count with code", "Filter with code", "Fetch everything once", "Convert the dates")
    assert [one for one in every if one in told] == expected
    assert bool(expected) or told == "none"
