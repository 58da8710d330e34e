"""What the words of a goal or step decide without a model (rules P0, P3, P8, P9, D-21 to D-34)."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from aggregate import ToolRegistry, compact_data
from aggregate.agents.goals.lists import ATTACHED, find_list, item_goal, rule_template
from aggregate.agents.goals.words import advice, find_iteration, has_parts, words

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


TOOLS = ToolRegistry.of([convert, convert_range])
PARTS = [
    ("Convert start and end dates", "convert", True),
    ("Convert dates to timestamps", "convert", True),
    ("Convert the date", "convert", False),
    ("Convert start and end dates", "convert_range", False),
    ("Get both the runs and the rides", "", True),
    ("Get runs and also rides", "", True),
    ("Get runs as well as rides", "", True),
    ("Get runs along with rides", "", True),
    ("Get runs and rides", "", False),
    ("Bother nobody", "", False),
]


@pytest.mark.parametrize(("step", "name", "expected"), PARTS)
def test_steps_of_several_parts(step: str, name: str, expected: bool) -> None:
    """Trigger words, or several of the one thing a tool takes; a tool that serves both ends is no split (P9)."""
    assert has_parts(step, TOOLS.get(name) if name else None) is expected


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


RUNS = [{"id": 1}, {"id": 2}]
RIDES = [{"id": 3}]

CONTEXTS: list[tuple[dict[str, Any], str, Any]] = [
    ({"neuron_0_1": {"runs": RUNS}, "neuron_0_2": {"rides": RIDES}}, "run", RUNS),
    ({"neuron_0_1": {"runs": RUNS}, "neuron_0_2": {"rides": RIDES}}, "ride", RIDES),
    ({"neuron_0_1": {"runs": RUNS}, "neuron_0_2": {"rides": RIDES}}, "walk", RIDES),
    ({"neuron_0_1": {"runs": RUNS}, "neuron_0_2": {"runs": RIDES}}, "run", RIDES),
    ({"neuron_0_1": RUNS, "neuron_0_2": {"success": True, "result": "text"}}, "run", RUNS),
    ({"neuron_0_1": {"activities": RUNS, "tags": ["a"]}}, "activity", RUNS),
    ({"neuron_0_1": {"tags": ["a"], "items": RUNS}}, "thing", RUNS),
    ({"neuron_0_1": {"success": True, "result": RUNS}}, "run", RUNS),
    ({"neuron_0_1": {"data": {"runs": RUNS}, "tags": ["a"]}}, "run", RUNS),
    ({"neuron_0_1": {"data": {"page": {"runs": RUNS}}}}, "walk", RUNS),
    ({"neuron_0_1": {"may": {"runs": RUNS}, "june": {"runs": RIDES}}}, "run", [*RUNS, *RIDES]),
    ({"neuron_0_1": {"items": RUNS}, "neuron_0_2": {"place": {"tags": ["a"]}}}, "run", RUNS),
    ({"neuron_0_1": {"_tool_metadata": {"output_keys": ["a"]}}}, "run", None),
    ({"neuron_0_1": {"dendrite_results": RUNS}}, "run", None),
    (
        {
            "neuron_0_1": {"items": RUNS, "item_noun": "run", "dendrite_results": []},
            "neuron_0_2": {"tags": ["a"]},
        },
        "run",
        RUNS,
    ),
    ({"neuron_0_1": {"runs": []}}, "run", []),
    ({"neuron_0_1": {"runs": []}}, "walk", None),
    ({"_original_goal": RUNS, "_memory": {"runs": RUNS}}, "run", None),
    ({}, "run", None),
]


@pytest.mark.parametrize(("context", "noun", "expected"), CONTEXTS)
def test_the_list_of_a_step(
    context: dict[str, Any], noun: str, expected: Any, tmp_path: Path
) -> None:
    """The newest list under the noun, else the newest; one item is enough, sub-tasks' results are none (D-22, D-34)."""
    found = find_list(context, noun, tmp_path)
    assert (found and list(found.items)) == expected


def test_a_list_on_disk_is_found(tmp_path: Path) -> None:
    """A compacted result is loaded and gone through like any other (D-23)."""
    reference = compact_data({"runs": RUNS * 2000}, "neuron_0_1", cache_dir=tmp_path)
    assert "_ref_id" in reference
    found = find_list({"neuron_0_1": reference}, "run", tmp_path)
    assert found is not None
    assert len(found.items) == 4000
    lost = {**reference, "_ref_id": "neuron_0_1_000000000000"}
    assert find_list({"neuron_0_1": lost}, "run", tmp_path) is None


def test_a_list_is_known_again(tmp_path: Path) -> None:
    """What sub-tasks attach to items does not make it another list (D-34)."""
    before = find_list({"neuron_0_1": {"runs": RUNS}}, "run", tmp_path)
    after = find_list(
        {"neuron_0_1": {"runs": [{**one, ATTACHED: "x"} for one in RUNS]}}, "run", tmp_path
    )
    assert before is not None
    assert after is not None
    assert before.digest == after.digest


ITEM_GOALS: list[tuple[str, Any, str]] = [
    ("Get kudos of {activity_id}", {"id": 7}, "Get kudos of 7"),
    ("Get kudos of {activity_id}", {"activity_id": 8, "id": 7}, "Get kudos of 8"),
    ("Get {name} of { id }", {"id": 7, "name": "Ann {x}"}, "Get Ann (x) of 7"),
    ("Get {missing}", {"name": "Ann"}, "Get (item 3)"),
    ("Get {owner}", {"id": 7, "owner": {"id": 1}}, "Get 7"),
    ("Get it", {"id": 7}, "Get it (id 7)"),
    ("Get it", {"name": "Ann"}, "Get it (item 3)"),
    ("Convert date {item}", "2025-09-01", "Convert date 2025-09-01"),
    ("Get {name}", {"name": "a\nb" + "c" * 300}, "Get a b" + "c" * 197 + "..."),
]


@pytest.mark.parametrize(("template", "item", "goal"), ITEM_GOALS)
def test_the_goal_of_an_item(template: str, item: Any, goal: str) -> None:
    """Missing fields fall back to the id, else to ``(item N)``; no brace is left (P8, D-31)."""
    assert item_goal(template, item, 3) == goal


@given(
    st.text(max_size=60),
    st.dictionaries(st.sampled_from(["id", "name", "x"]), st.text(max_size=5) | st.integers()),
)
def test_no_field_is_left_unresolved(template: str, item: dict[str, Any]) -> None:
    """Whatever the template and the item, no ``{field}`` remains (P8)."""
    goal = item_goal("{a} {id} " + template, item, 1)
    assert "{id}" not in goal
    assert "{a}" not in goal


RULED = [
    ("Get kudos for each activity", {"id": 7}, "Get kudos for activity {id}"),
    ("Check every file now", {"path": "a.py"}, "Check file {path} now"),
    ("Check every file", {"file_id": 3}, "Check file {file_id}"),
    ("Convert all dates", "2025-09-01", "Convert date {item}"),
    ("Check every file", {"size": 3}, None),
]


@pytest.mark.parametrize(("step", "item", "template"), RULED)
def test_templates_by_rule(step: str, item: Any, template: str | None) -> None:
    """Where items can be told apart, the step's own words make the template (P8)."""
    over = find_iteration(step)
    assert over is not None
    assert rule_template(step, over, item) == template
