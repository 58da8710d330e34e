"""Finding the list that a step goes through, and the goal of one item (rules D-22, D-23, D-31, D-32, D-34)."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from aggregate import compact_data
from aggregate.agents.goals.heuristics import (
    ATTACHED,
    filter_items,
    find_iteration,
    find_list,
    item_goal,
    rule_template,
)

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


ITEMS = [
    {"id": 1, "kudos_count": 2, "name": "a"},
    {"id": 2, "kudos_count": 0, "name": "b"},
    {"id": 3, "has_photo": True},
]
FILTERS = [
    ("Get kudos for each activity that has kudos", [1]),
    ("Get kudos for each activity with kudos", [1]),
    ("for each activity having photo", [3]),
    ("for each activity that has a name", [1, 2]),
    ("for each activity with comments", [1, 2, 3]),
    ("for each activity", [1, 2, 3]),
]


@pytest.mark.parametrize(("step", "ids"), FILTERS)
def test_items_that_have_something(step: str, ids: list[int]) -> None:
    """``with X`` keeps items whose X, ``X_count`` or ``has_X`` is not empty; none such leaves all (D-32)."""
    assert [one["id"] for one in filter_items(ITEMS, step)] == ids


GOALS: list[tuple[str, Any, str]] = [
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


@pytest.mark.parametrize(("template", "item", "goal"), GOALS)
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
