"""Reading what models write (rules P1, P5, P6)."""

import time
from typing import Any

import pytest
from hypothesis import given, strategies as st

from aggregate.agents.goals.heuristics import find_iteration
from aggregate.agents.goals.questions import (
    first_line,
    json_value,
    parse_code,
    parse_plan,
    parse_steps,
    says_valid,
    syntax_error,
    yes_or_no,
)

STEPS = [
    ("1. Fetch\n2. Count", ["Fetch", "Count"]),
    ("1) Fetch\n2) Count", ["Fetch", "Count"]),
    ("(1) Fetch\n(2) Count", ["Fetch", "Count"]),
    ("Step 1: Fetch\nStep 2: Count", ["Fetch", "Count"]),
    ("- Fetch\n* Count\n• Format", ["Fetch", "Count", "Format"]),
    ("**1.** Fetch\n**2. Count**\n**Step 3:** Format", ["Fetch", "Count", "Format"]),
    ("- 1. Fetch\n- 2. **Count**", ["Fetch", "Count"]),
    ("Here are the steps:\n\n1. Fetch\n   with care\n2. Count\n\nDone!", ["Fetch", "Count"]),
    ("1. Fetch.\n2. fetch\n3. FETCH.", ["Fetch."]),
    ('["Fetch", "Count"]', ["Fetch", "Count"]),
    ('{"steps": ["Fetch", "Count"]}', ["Fetch", "Count"]),
    ("3. Fetch\n7. Count 2.5 km runs", ["Fetch", "Count 2.5 km runs"]),
    ("1.5 km is far", []),
    ("2024 was a good year", []),
    ("I cannot do that.", []),
    ("1. ...\n2. ***", []),
    ("", []),
]


@pytest.mark.parametrize(("text", "expected"), STEPS)
def test_steps(text: str, expected: list[str]) -> None:
    """Numbers, bullets, bold and brackets are marks; doubles go, whatever their case and final dot (P1)."""
    assert parse_steps(text) == expected


PLANS = [
    ("1. Fetch\n2. Count", ["Fetch", "Count"]),
    ("1. Fetch the runs", ["Fetch the runs"]),
    ("Fetch the runs\nCount them by month", ["the goal"]),
    ("I cannot do that.", ["the goal"]),
    ("OK", []),
    ("...\n***", []),
    ('{"steps": []}', []),
    ("[1, 2]", []),
    ("", []),
]


@pytest.mark.parametrize(("text", "expected"), PLANS)
def test_plans(text: str, expected: list[str]) -> None:
    """What is no list stands for the goal as one step, a word alone for nothing (P1)."""
    assert parse_plan(text, "the goal") == expected


YES_NO = [
    ("true", True), ('{"complete": false}', False), ("untrue", None),
    ("yes", True), ("No.", False), ("YES, it does", True), ("**No**", False), ("I think yes", True), ("I know", None),
    ("nothing", None), ("yesterday", None), ("not", None), ("", None), (None, None), ("It could be yes or no", None),
    ("No, there is no name; yes that is so", False), ("The answer is: no", False),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), YES_NO)
def test_yes_or_no(text: str | None, expected: bool | None) -> None:
    """Whole words only: "know" is not "no" (P6, P7)."""
    assert yes_or_no(text) is expected


OBJECTS: list[tuple[str | None, Any]] = [
    ('{"a": 1}', {"a": 1}),
    ('Sure! {"a": {"b": [1, {"c": 2}]}} Done.', {"a": {"b": [1, {"c": 2}]}}),
    ('```json\n{"a": 1}\n```', {"a": 1}),
    ('{broken {"a": 1}', {"a": 1}),
    ("{" * 5000, None),
    ("[1]", None),
    (None, None),
]


@pytest.mark.parametrize(("text", "expected"), OBJECTS)
def test_objects(text: str | None, expected: Any) -> None:
    """The first object counts, however deep, whatever stands around it."""
    assert json_value(text, dict) == expected


CODES = [
    ("result = 1", "result = 1"),
    ("```python\nresult = 1\n```", "result = 1"),
    ("Here:\n```\nx = 1\nresult = x\n```\nIt works.", "x = 1\nresult = x"),
    ('{"python_code": "result = 2"}', "result = 2"),
    ("   \n", ""),
    (None, ""),
]


@pytest.mark.parametrize(("text", "expected"), CODES)
def test_code(text: str | None, expected: str) -> None:
    """What is fenced is the code, else all of it (P4)."""
    assert parse_code(text) == expected


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        ("VALID", True),
        ("**valid.**", True),
        ("INVALID", False),
        ("VALID? no", False),
        (None, False),
    ],
)
def test_the_word_valid(text: str | None, valid: bool) -> None:
    """VALID inside INVALID does not pass (P5)."""
    assert says_valid(text) is valid


@given(st.text(max_size=200))
def test_no_answer_crashes_a_reader(text: str) -> None:
    """Whatever a model writes is read, or counts for nothing."""
    assert all(one.strip() for one in parse_steps(text))
    assert yes_or_no(text) in (True, False, None)
    assert isinstance(parse_code(text), str)
    assert isinstance(syntax_error(text), str)
    assert isinstance(first_line(text), str)


LONG = [
    " " * 200_000 + "x",
    "# " + " " * 200_000 + "x",
    "- " * 100_000,
    "> # " * 50_000,
    "{" * 200_000,
    "```\n" * 50_000,
    "**" * 100_000,
]


@pytest.mark.parametrize("text", LONG, ids=lambda one: repr(one[:4]))
def test_long_answers_are_read_quickly(text: str) -> None:
    """No reader takes time that grows with the square of an answer."""
    started = time.process_time()
    for answer in (text, f"1. {text}"):
        parse_steps(answer)
        yes_or_no(answer)
        json_value(answer, dict)
        parse_code(answer)
        first_line(answer)
        for step in parse_steps(answer):
            find_iteration(f"for each {step}")
    assert time.process_time() - started < 5
