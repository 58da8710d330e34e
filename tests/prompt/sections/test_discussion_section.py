"""The section of the discussion."""

import pytest
from hypothesis import given, strategies as st
from tests.prompt.composing import segments as shown

from aggregate import Prompt, build_discussion_section, build_discussion_text

MIXED = [
    "  User: hi \n",
    {"role": "AI", "content": "\nanswer\n"},
    {"content": "who?"},
    {"role": "User"},
]
BODY = (
    "### Discussion Excerpt 1\n\nUser: hi\n\n---\n\n"
    "### Discussion Excerpt 2\n\nAI: answer\n\n---\n\n"
    "### Discussion Excerpt 3\n\nUnknown: who?\n\n---\n\n"
    "### Discussion Excerpt 4\n\nUser: "
)


def test_body() -> None:
    """Strings and mappings mix; numbers from 1, defaults, stripping and rules are exact (M-6, M-50)."""
    assert build_discussion_section(MIXED) == BODY


def test_empty() -> None:
    """No history is no text at all (M-50, M-X4)."""
    assert (build_discussion_section([]), build_discussion_text([])) == ("", "")
    assert shown(history=[]) == ()


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        ({"role": "User", "content": None}, "User: "),
        ({"role": None, "content": "x"}, "Unknown: x"),
        ({"role": "", "content": "x"}, ": x"),
        ({"role": 1, "content": 2}, "1: 2"),
        ({"role": "User", "content": ["a", "b"]}, "User: ['a', 'b']"),
        ({}, "Unknown: "),
        (7, "7"),
        (["a"], "['a']"),
        ("", ""),
        ("# not ours\n\n```\n```", "# not ours\n\n```\n```"),
    ],
)
def test_entries(entry: object, text: str) -> None:
    """An entry of any shape is shown, and nothing in it is escaped (M-50)."""
    assert build_discussion_section([entry]) == f"### Discussion Excerpt 1\n\n{text}"


ENTRIES = st.text() | st.dictionaries(
    st.sampled_from(["role", "content", "at"]), st.text() | st.none() | st.integers()
)


@given(st.lists(ENTRIES, max_size=4), ENTRIES)
def test_segments_join_to_the_text_and_never_change(history: list[object], new: object) -> None:
    """The segments joined are the section byte for byte, and a further turn changes none of them (M-11, M-50)."""
    segments = shown(history=history)
    body = build_discussion_section(history)
    assert Prompt(segments).markdown == build_discussion_text(history)
    assert build_discussion_text(history) == (f"## Discussion History\n\n{body}" if history else "")
    assert shown(history=[*history, new])[: len(segments)] == segments
    assert all(segment.section == "history" and segment.text[0] in "#-" for segment in segments)
