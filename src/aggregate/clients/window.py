"""Whether a request fits into a model's context window."""

from aggregate.clients.plan import Plan
from aggregate.clients.prices import largest_window, listed_window
from aggregate.clients.rules import known_window
from aggregate.errors import PromptTooLongError

_ALWAYS_FITS = 30_000
"""Below this size no window is looked up: the price list takes half a second to load."""


def window_of(model: str) -> int | None:
    """Return a model's context window in tokens, ``None`` where it is not known."""
    return known_window(model) or listed_window(model)


def exceeded_window(tokens: int) -> int | None:
    """Return the largest context window that is known, in tokens, if a prompt of ``tokens`` exceeds it."""
    window = largest_window()
    return window if window is not None and tokens > window else None


def check_window(plan: Plan, model: str, max_output: int) -> None:
    """Refuse a request that cannot fit; an unknown window refuses nothing.

    Tokens are counted by o200k, which is near the count of other vocabularies but not equal to it.

    Raises:
        PromptTooLongError: By how many tokens, and how many would fit.
    """
    if plan.total <= _ALWAYS_FITS:
        return
    window = window_of(model)
    needed = plan.total + max_output
    if window is not None and needed > window:
        room = max(window - max_output, 0)
        raise PromptTooLongError(
            f"the request is {needed - window:,} tokens too long for {model}: {plan.total:,} tokens (o200k) and "
            f"{max_output:,} for the answer exceed its window of {window:,}; at most {room:,} would fit",
            tokens=needed,
            window=window,
        )
