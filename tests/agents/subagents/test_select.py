"""Choosing the answer among results (rules D-60 to D-75, X-3 to X-12)."""

import logging
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, strategies as st

from aggregate import extract_quantity, select_answer

QUANTITIES = [
    ("Get my first 3 Strava activities from January 2024", 3),
    ("top 5", 5),
    ("the LAST 10 runs", 10),
    ("first 3 of the top 5", 3),
    ("activities from last 30 days", None),
    ("last 7 days, first 2 runs", 2),
    ("last 30 day period", None),
    ("last 10 business days", None),
    ("top 5 day hikes", 5),
    ("first 15 January", None),
    ("from the first 1/2", None),
    ("first 3rd of May", None),
    ("last " + "9" * 5000, None),
    ("", None),
    ("top 1,000 genes", 1000),
    ("first 1_000_000 rows", 1_000_000),
    ("top 2.5k genes", None),
    ("top ten", 10),
    ("the first two runs", 2),
    ("the first one", None),
    ("first 3 of 10", 3),
    ("first 3 of the top 5%", 3),
    ("top 10%", None),
    ("first two thirds", None),
    ("first 100 bp", None),
    ("first 10 KB of it, top 3", 3),
    ("first 100 words", None),
    ("last 5 min of it", None),
    ("top 5-star hotels", None),
    ("first 3-5 rows", None),
    ("first 3,4", None),
    ("top 5 pages, then", 5),
    ("top 20 in mice", 20),
    ("How many reads mapped", None),
    ("The 3 first rides", 3),
    ("my two last rides", 2),
    ("the 3 first days of May", None),
    ("Get ride 7 first", None),
    ("the first 0 rides", 0),
]


@pytest.mark.parametrize(("goal", "number"), QUANTITIES)
def test_the_quantity_of_a_goal(goal: str, number: int | None) -> None:
    """The first number after first, top or last counts, unless it measures time or is part of a date (D-60, X-9)."""
    assert extract_quantity(goal) == number


def python(text: object) -> dict[str, Any]:
    return {"success": True, "result": text}


def ai(text: str) -> dict[str, Any]:
    return {"type": "ai_response", "answer": text}


def lines(count: int) -> str:
    return "\n".join(f"Run {number}" for number in range(1, count + 1))


FAILED = {"success": False, "error": "404"}
ROWS = [{"id": 7, "name": "Morning"}, {"id": 8, "name": "Lunch"}]
SPAWNED = {
    "success": True,
    "items_processed": 3,
    "activities": [{"id": 7}, {"id": 8}, {"id": 9}],
    "dendrite_results": [
        {"success": True, "final": {"kudos": [{"name": "Ann"}, {"name": "Bo"}]}},
        {"success": True, "result": {"kudos": [1, 2, 3]}},
        {"success": False, "error": "404"},
    ],
}

ANSWERS = [
    # goal, results, summary, index, kind
    ("first 3", [python(lines(3)), python(lines(48))], lines(3), 1, "python"),  # D-64
    ("first 3", [python("a\nb\nc"), python("x"), python("1\n2\n3")], "1\n2\n3", 3, "python"),  # D-65
    ("first 3", [python("a\n\nb\n \nc\n")], "a\n\nb\n \nc", 1, "python"),  # D-63
    ("first 3", [python("a\nb\nc"), ai("1\n2\n3")], "a\nb\nc", 1, "python"),  # D-66
    ("first 3", [python(lines(48)), ai("1\n2\n3")], "1\n2\n3", 2, "ai"),  # the exact count beats the type
    ("first 3", [python(lines(48)), python(lines(5))], lines(5), 2, "python"),  # D-64
    ("format", [python("old"), python("new")], "new", 2, "python"),  # D-61
    ("format", [python("python"), ai("model")], "python", 1, "python"),  # D-66
    ("format", [ai("model"), {"count": 3}], "model", 1, "ai"),  # D-66
    ("format", [{"result": "text"}, FAILED], "text", 1, "text"),  # X-5, D-72
    ("format", [python("good"), {"success": False, "result": "bad"}], "good", 1, "python"),  # D-61
    ("format", [python("good"), {"result": "bad", "error": "late"}], "good", 1, "python"),
    ("format", [python("good"), python("")], "good", 1, "python"),  # D-72
    ("format", [python("good"), python(" \n")], "good", 1, "python"),  # D-72
    ("one", [python("28")], "28", 1, "python"),  # D-72: never the raw envelope
    ("list", [{"timestamp": 1704067200}, ROWS, 3], "Success: 3 items", 3, "value"),  # D-68
    ("list", [python(3)], "Success: 3 items", 1, "value"),
    ("list", [{"success": True, "count": 3}], "Success: 3 items", 1, "value"),  # D-62, X-8
    ("list", [python(ROWS)], '{"id": 7, "name": "Morning"}\n{"id": 8, "name": "Lunch"}', 1, "value"),
    ("list", [python(list(range(12)))], "0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n... and 2 more (12 in all)", 1, "value"),
    ("list", [{"success": True, "name": "Ann", "runs": list(range(20))}], "name: Ann\nruns: 20 items", 1, "value"),
    ("far", [python(5.7)], "5.7", 1, "value"),  # D-72
    ("how many activities did I do in September?", [ROWS, python(28)], "28 activities", 2, "count"),  # D-71
    ("how many long runs this month", [python(28.0)], "28 runs", 1, "count"),  # D-71
    ("count the number of open issues", [{"success": True, "count": 2}], "2 issues", 1, "count"),  # D-71
    ("how many?", [python(2)], "2 items", 1, "count"),  # D-71
    ("how many reads mapped", [python(28)], "28 reads", 1, "count"),
    ("how many business days remain", [python(3)], "3 days", 1, "count"),
    ("how many sales reps closed deals", [python(4)], "4 reps", 1, "count"),
    ("how many km", [python(True), python(5.7)], "5.7", 2, "value"),  # D-72: no truth value, no measure
    ("how many km", [python(3), {"success": True, "result": "5 km"}], "5 km", 2, "python"),  # D-64
    ("x", [python("data"), ai("First, we filter the list")], "data", 1, "python"),
    ("x", [ROWS, ai("Step 1: fetch")], '{"id": 7, "name": "Morning"}\n{"id": 8, "name": "Lunch"}', 1, "value"),  # D-73
    ("x", [ai("We need to filter")], "We need to filter", 1, "ai"),  # D-73
    ("kudos of each", [SPAWNED, python("text")],
     "Activity 7: Ann, Bo (2 total)\nActivity 8: 3 kudos\nActivity 9: failed: 404", 1, "subtasks"),  # D-73
    ("x", [{"dendrite_results": ["a\nb", {"answer": ["x"]}, {"final": []}]}],
     "Item 1: a; b\nItem 2: x (1 total)\nItem 3: 0 items", 1, "subtasks"),  # D-73
    ("x", [{"_format": "disk_reference", "_ref_id": "r", "summary": "63 runs"}], "63 runs", 1, "value"),
    ("x", ["bare text"], "bare text", 1, "text"),
]  # fmt: skip


@pytest.mark.parametrize(("goal", "results", "summary", "index", "kind"), ANSWERS)
def test_the_order_of_preference(
    goal: str, results: list[Any], summary: str, index: int, kind: str
) -> None:
    """Exact count, then sub-tasks, Python, model, other texts, a count, the last value; newest first, by type.

    Rules: D-61, D-62, D-63, D-64, D-65, D-66, D-68, D-70, D-71, D-72, D-73, X-3, X-5, X-6, X-7, X-8.
    """
    answer = select_answer(goal, results)
    assert (answer.summary, answer.source.index, answer.source.kind) == (summary, index, kind)
    assert answer.success


@pytest.mark.parametrize(
    "results",
    [
        [],
        [FAILED],
        [None],
        [[], {}, ""],
        [["", ""]],
        [python("  ")],
        [{"error": "x", "result": "y"}],
    ],
)
def test_without_a_usable_result_the_answer_says_so(results: list[Any]) -> None:
    """Success is false when no step gave anything usable (X-12)."""
    answer = select_answer("first 3", results)
    assert (answer.success, answer.source.index) == (False, 0)
    assert answer.summary == "No step gave a usable result."


def test_a_corrective_answer_is_appended_and_may_win() -> None:
    """Re-aggregating with the corrective result, of a model too, keeps the others and picks the one that fits.

    Rules: D-67, X-11.
    """
    before = [python(lines(48))]
    assert select_answer("first 3", before).source.index == 1
    after = select_answer("first 3", [*before, ai(lines(3))])
    assert (after.source.index, after.summary, len(after.detailed_results)) == (2, lines(3), 2)


def test_failed_and_blank_steps_are_named() -> None:
    """The warnings name failed steps with what they were to do, blank texts, and a count that was not met.

    Rules: D-73, X-6.
    """
    results = [python(lines(4)), FAILED, python(""), {"success": False}]
    answer = select_answer("first 3", results, descriptions=["format", "fetch kudos"])
    assert answer.warnings == (
        "⚠️  Warning: Some processing steps failed (steps 2, 4). Results may be incomplete or inaccurate.",
        "Step 2 (fetch kudos) failed: 404",
        "Step 4 failed: no reason given",
        "Step 3 gave an empty text.",
        "The goal asks for 3, the answer has 4 lines.",
    )
    assert answer.summary == lines(4)


def test_the_log_says_why(caplog: pytest.LogCaptureFixture) -> None:
    """The log has the target and the chosen step, word for word (D-69)."""
    with caplog.at_level(logging.INFO):
        select_answer("first 3", [FAILED, python(lines(3))])
    assert caplog.messages == [
        "🎯 Target count from goal: 3",
        "📝 Using formatted answer from neuron 2 (python, matches target count 3)",
    ]


def test_details_are_whole() -> None:
    """All results accompany the answer as they are; the summary is the answer (D-75)."""
    results = [{"success": True, "rows": [{"n": n} for n in range(2000)]}, python("text")]
    answer = select_answer("x", results)
    assert answer.detailed_results == tuple(results)
    assert answer.summary == "text"


VALUES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
KEYS = "success result type answer error count final dendrite_results rows"
ENVELOPES = st.dictionaries(
    st.sampled_from(KEYS.split()),
    VALUES | st.just("ai_response") | st.lists(VALUES, max_size=2),
    max_size=4,
)
RESULTS = st.lists(VALUES | st.lists(VALUES, max_size=3) | ENVELOPES, max_size=5)


@given(st.sampled_from(["first 3", "how many runs", "x"]), RESULTS)
def test_any_results_have_an_answer(goal: str, results: list[Any]) -> None:
    """Whatever steps return, there is an answer, the same each time, and nothing given is changed (X-6)."""
    before = deepcopy(results)
    answer = select_answer(goal, results)
    assert answer.summary
    assert answer.success is (answer.source.index > 0)
    assert repr(results) == repr(before)
    assert repr(select_answer(goal, results)) == repr(answer)


@pytest.mark.parametrize(
    "text",
    [
        "The goal was to retrieve and display the first 3 activities.",
        "The goal is to list activities",
        "the user's goal was to see runs.\n\nIt was reached.",
        "The task was to display them",
        "I was asked to display activities.",
    ],
)
def test_words_about_the_goal_never_win_over_data(text: str) -> None:
    """A model's text that says what was wanted is a last resort, behind data of any kind (D-73)."""
    words = {"type": "ai_response", "answer": text}
    data = [{"name": "Morning run"}, {"name": "Ride"}]
    for results in ([data, words], [{"success": True, "activities": data}, words]):
        assert "Morning run" in select_answer("Get my first 3 activities", results).summary
    assert select_answer("Get my activities", [words]).summary == text
