"""Blocks of ours in texts of somebody else's."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aggregate.base.text import BrokenBlockError, with_block, without_block
from aggregate.base.text.marked_block import BEGIN, END

TEXTS = st.lists(st.sampled_from(["alias x=y\n", "\n", "# aggregate\r\n", "a\x0cb\n", "\u2028\n"]))


@settings(max_examples=50)
@given(TEXTS.map("".join))
def test_taking_a_block_out_gives_the_text_back(text: str) -> None:
    """Whatever the text holds; setting it twice is as setting it once."""
    text = text.replace("\r\n", "\n")
    with_it = with_block(text, "a\nb")
    assert with_it == f"{text}{BEGIN}\na\nb\n{END}\n"
    assert with_block(with_it, "a\nb") == with_it
    assert without_block(with_it) == text


def test_a_block_stays_in_its_place_and_takes_the_line_breaks_of_its_text() -> None:
    """Lines behind it stay behind it, and a text of Windows stays one."""
    assert with_block(f"x\n{BEGIN}\nold\n{END}\ny\n", "new") == f"x\n{BEGIN}\nnew\n{END}\ny\n"
    assert with_block("x\r\n", "a") == f"x\r\n{BEGIN}\r\na\r\n{END}\r\n"
    assert with_block("x\r\ny\n", "a") == f"x\r\ny\n{BEGIN}\na\n{END}\n"
    assert with_block("x", "a") == f"x\n{BEGIN}\na\n{END}\n"


@pytest.mark.parametrize("text", [BEGIN, END, f"{END}\n{BEGIN}", f"{BEGIN}\n{END}\n" * 2])
def test_marks_that_were_edited_are_refused(text: str) -> None:
    """What cannot be told from the user's own lines is left alone."""
    with pytest.raises(BrokenBlockError, match="not there once"):
        with_block(text, "a")
    with pytest.raises(BrokenBlockError):
        without_block(text)
