"""How many tokens a budget has that is named as a text, or left to the model."""

from typing import Final

WITHOUT_MODEL: Final = 32_000
"""Tokens of ``auto`` where no model is named: every hosted model reads as much, and recall hardly grows beyond."""
MOST: Final = 60_000
"""The most tokens that ``auto`` takes of a larger window: beyond, models find less in what they read, at a price."""
_RESERVE: Final = 10
"""The part of a window, a tenth, that is kept free: for instructions, and for what a model counts more than o200k."""
_LEAST: Final = 4
"""The part of a window, a quarter, that a prompt gets at least: answers seldom are as long as they may be."""


def auto_budget(window: int | None, answer: int, *, most: int = MOST) -> int:
    """Return the tokens that ``auto`` stands for.

    Args:
        window: Tokens of the model's context window; ``None`` where no model is named or its window is not known.
        answer: Tokens that the model may write.
        most: The largest result.
    """
    if window is None:
        return min(WITHOUT_MODEL, most)
    room = window - answer - window // _RESERVE
    return max(1, min(max(room, window // _LEAST), most))
