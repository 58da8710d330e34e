"""What ``auto`` stands for."""

import pytest

from aggregate.prompt.fit import auto_budget
from aggregate.prompt.fit.amounts import MOST, WITHOUT_MODEL


@pytest.mark.parametrize(
    ("window", "answer", "most", "tokens"),
    [
        (None, 16_000, MOST, WITHOUT_MODEL),
        (None, 16_000, 10_000, 10_000),
        (200_000, 16_000, MOST, 60_000),
        (200_000, 16_000, 1_000_000, 164_000),
        (64_000, 16_000, MOST, 41_600),
        (8_192, 16_000, MOST, 2_048),
        (1, 1, MOST, 1),
        (0, 0, MOST, 1),
    ],
)
def test_auto_is_what_the_window_leaves(
    window: int | None, answer: int, most: int, tokens: int
) -> None:
    """The window less the answer and a tenth, a quarter of it at least, up to the cap; 32,000 for no model (rule B-1)."""
    assert auto_budget(window, answer, most=most) == tokens
