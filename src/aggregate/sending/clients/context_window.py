"""Whether a request fits into a model's context window."""

from aggregate.base.errors import PromptTooLongError
from aggregate.base.values import Usage
from aggregate.sending.cache.policy import known_window
from aggregate.sending.cache.request_plan import RequestPlan
from aggregate.sending.clients.own_models import own_model
from aggregate.sending.clients.pricing import listed_window
from aggregate.sending.clients.token_ratios import OWN_COUNT, TokenRatio

_ALWAYS_FITS = 30_000
"""Below this size no window is looked up: the price list takes half a second to load."""

_LOWEST_SHARE = 2 / 3
"""No vocabulary in use needs fewer tokens than this part of o200k's: Chinese comes nearest, with three quarters."""
_WINDOW_STEP = 1024
_CUT_SHARE = 0.95
"""Windows are multiples of 1,024; a server that cut a prompt to its window reports just that, and others hit one by
chance once in a thousand requests."""
_FEWEST_TO_JUDGE = 512
"""Below, what a server adds or leaves out of its own weighs too much."""


def context_window(model: str) -> int | None:
    """Return a model's context window in tokens, ``None`` where it is not known; the user's own word goes first."""
    own = own_model(model)
    if own is not None and own.window is not None:
        return own.window
    return known_window(model) or listed_window(model)


def check_window(
    plan: RequestPlan, model: str, max_output: int, *, ratio: TokenRatio = OWN_COUNT
) -> None:
    """Refuse a request that cannot fit; an unknown window refuses nothing.

    Args:
        plan: The request.
        model: Whose window.
        max_output: The most tokens of the answer.
        ratio: How many tokens the provider counts for each of o200k's.

    Raises:
        PromptTooLongError: By how many tokens, and how many would fit.
    """
    size = ratio.provider_tokens(plan.total)
    if size <= _ALWAYS_FITS:
        return
    window = context_window(model)
    needed = size + max_output
    if window is not None and needed > window:
        room = max(window - max_output, 0)
        counted = (
            f"{size:,} tokens (o200k)"
            if size == plan.total
            else f"about {size:,} tokens ({plan.total:,} by o200k; {ratio.source})"
        )
        raise PromptTooLongError(
            f"the request is {needed - window:,} tokens too long for {model}: {counted} and "
            f"{max_output:,} for the answer exceed its window of {window:,}; at most {room:,} would fit",
            tokens=needed,
            window=window,
        )


def truncation_warning(sent: int, usage: Usage, provider: str) -> tuple[str, ...]:
    """Return a warning where a server reports so few input tokens that it cannot have read the whole request.

    Servers on one's own machine cut what exceeds their window and say nothing: Ollama reads 4,096 tokens by default.

    Args:
        sent: o200k tokens of the request.
        usage: What the server reports; no input at all means that it does not report it.
        provider: Named in the warning.
    """
    read = usage.input
    if not read or sent < _FEWEST_TO_JUDGE:
        return ()
    equals_a_window = read % _WINDOW_STEP == 0 and read < sent * _CUT_SHARE
    if read >= sent * _LOWEST_SHARE and not equals_a_window:
        return ()
    return (
        f"{provider} has read {read:,} tokens of about {sent:,}: it has probably cut the prompt to its context window, "
        "and the answer knows only a part of it; give the server a larger window, or send less",
    )
