"""The 61 wordings of which rooms to book."""

from collections import Counter
from pathlib import Path

import pytest
from simulation.item_choice import ALL, WRONG, Wording, book, right, silent_failures, wordings


@pytest.mark.parametrize("wording", [*wordings()], ids=lambda wording: wording.text)
def test_what_is_meant_is_booked(tmp_path: Path, wording: Wording) -> None:
    """With a model that names the right items each of them is booked once, and no other (P18)."""
    assert right(wording, tmp_path)


@pytest.mark.parametrize("name", WRONG)
def test_no_wrong_answer_is_a_success(tmp_path: Path, name: str) -> None:
    """No items, unknown ones, too few or too many: the goal fails wherever its words contradict that (P18)."""
    assert silent_failures(name, tmp_path) == []


def test_the_wordings_are_distinct() -> None:
    """There are 61, and rules alone do not know half of them."""
    texts = Counter(wording.text for wording in wordings())
    assert len(texts) == 61
    asked = Wording("Book the rooms", ALL, is_checked=False)
    assert not book(asked, lambda _: [], Path())[0].success
