"""The 100 goals with their tools."""

import pytest
from simulation.tool_choice import HALVES, LEAST_RIGHT, choices, goals


@pytest.mark.parametrize("half", HALVES)
def test_the_right_tool_is_chosen(half: str) -> None:
    """With a perfect model behind nearly all choices are right, and rules alone are never wrong (P2)."""
    made = choices(half)
    assert len(made) == 50
    wrong_and_sure = [
        choice.goal.text for choice in made if not choice.questions and not choice.right
    ]
    assert wrong_and_sure == []
    assert sum(choice.right for choice in made) / len(made) >= LEAST_RIGHT
    assert any(not choice.questions for choice in made)


def test_the_goals_are_distinct() -> None:
    """No goal that is held back is one that rules were made with."""
    texts = [goal.text for half in HALVES for goal in goals(half)]
    assert len(set(texts)) == len(texts) == 100
