"""What models cost and hold: the shipped tables, and what the user's own configuration says where these lack it.

A project's file says nothing here: a wrong price would hide what is paid, and a wrong window or cache would cost more.
"""

from dataclasses import replace
from datetime import date
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Final

from aggregate.base.errors import PromptTooLongError
from aggregate.base.values import Usage
from aggregate.project.configuration import ModelTable, global_config_path, load_config
from aggregate.sending.cache.policy import (
    AS_OF,
    COMPATIBLE,
    SCRIPTED,
    CachePolicy,
    known_window,
    policy_for,
)
from aggregate.sending.cache.request_plan import RequestPlan
from aggregate.sending.clients.token_ratios import OWN_COUNT, TokenRatio

_OLD_DAYS: Final = 90  # providers change prices and rules of caches about once in a quarter
_MILLION: Final = 1_000_000


def own_model(name: str) -> ModelTable | None:
    path = global_config_path()
    try:
        info = path.stat()
    except OSError:
        return None
    return _tables(path, info.st_mtime_ns, info.st_size).get(name.lower())


def cache_policy(provider: str, model: str) -> CachePolicy:
    policy = policy_for(provider, model)
    table = own_model(model)
    if table is None:
        return policy
    if table.minimum is not None:
        policy = replace(policy, minimum=table.minimum)
    if table.lifetime is not None:
        policy = replace(policy, seconds=table.lifetime)
    if table.input and table.cache_read is not None:
        policy = replace(policy, read=table.cache_read / table.input)
    if table.input and table.cache_write is not None:
        policy = replace(policy, write=table.cache_write / table.input)
    return policy


def age_note(provider: str, model: str, today: date) -> str:
    days = (today - date.fromisoformat(AS_OF)).days
    table = own_model(model)
    if days <= _OLD_DAYS or provider in (COMPATIBLE, SCRIPTED):
        return ""
    if table is not None and table.input is not None and table.window is not None:
        return ""
    return (
        f"prices, windows and rules of caches are those of {AS_OF}, {days:,} days ago: update the program, or write "
        f'what has changed to [models."{model}"] in {global_config_path()}'
    )


@lru_cache(maxsize=1)
def _tables(path: Path, _modified: int, _size: int) -> dict[str, ModelTable]:
    return {name.lower(): table for name, table in load_config(path).config.models.items()}


_PRICE_LIST_IDS = {
    "gemini": "google",
    "gemini-cli": "google",
    "scripted": None,
    "compatible": None,
    "bedrock": "aws",
    "vertex": None,
}


def cost(usage: Usage, model: str, *, provider: str = "") -> Decimal | None:
    """Return the price in US dollars, by the user's own configuration, then the list; ``None`` where it is in none."""
    table, policy = own_model(model), cache_policy(provider, model)
    # Of the longer lifetime, beyond the shorter one, whose price alone the list has
    surcharge = Decimal(0)
    if usage.cache_write_long and policy.long_seconds:
        short = cost(Usage(cache_write=usage.cache_write_long), model, provider=provider)
        ratio = Decimal(str(policy.long_write)) / Decimal(str(policy.write)) - 1
        surcharge = (short or Decimal(0)) * ratio
    if table is not None and table.input is not None and table.output is not None:
        read = table.input * policy.read if table.cache_read is None else table.cache_read
        write = table.input * policy.write if table.cache_write is None else table.cache_write
        total = (
            usage.fresh * table.input
            + usage.cache_read * read
            + usage.cache_write * write
            + usage.output * table.output
        )
        return Decimal(str(total / _MILLION)) + surcharge
    from genai_prices import (
        Usage as Priced,  # half a second to load
        calc_price,
    )

    priced = Priced(
        input_tokens=usage.input,
        cache_read_tokens=usage.cache_read,
        cache_write_tokens=usage.cache_write,
        output_tokens=usage.output,
    )
    try:
        price = calc_price(
            priced, model_ref=model, provider_id=_PRICE_LIST_IDS.get(provider, provider or None)
        )
    except (LookupError, ValueError):
        return None
    return Decimal(price.total_price) + surcharge


# Below this size no window is looked up: the price list takes half a second to load.
_ALWAYS_FITS = 30_000

_LOWEST_SHARE = 2 / 3  # of o200k's tokens: no vocabulary needs fewer
_WINDOW_STEP = 1024
# Windows are multiples of 1,024; a server that cut a prompt to its window reports just that, and others hit one by
# chance once in a thousand requests.
_CUT_SHARE = 0.95
_FEWEST_TO_JUDGE = 512  # below, what a server adds or leaves out of its own weighs too much


def context_window(model: str) -> int | None:
    own = own_model(model)
    if own is not None and own.window is not None:
        return own.window
    if known := known_window(model):
        return known
    from genai_prices import Usage as Priced, calc_price

    try:
        return calc_price(Priced(input_tokens=1), model_ref=model).model.context_window
    except (LookupError, ValueError):
        return None


def check_window(
    plan: RequestPlan, model: str, max_output: int, *, ratio: TokenRatio = OWN_COUNT
) -> None:
    """Refuse a request that cannot fit by the provider's own count; an unknown window refuses nothing."""
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
    """Servers on one's own machine cut what exceeds their window in silence: Ollama reads 4,096 tokens by default."""
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
