"""What models cost and hold, and how they count: shipped tables and the user's own configuration.

A project's file says nothing here: a wrong price would hide what is paid, and a wrong window or cache would cost more.

Our counts are exact for the vocabulary o200k. Other vocabularies are not to be had offline, so their counts are ours
times a ratio. It is a whole number of thousandths, so that a limit in one count and the same limit in the other are
exact inverses of each other.
"""

from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from aggregate.base.errors import PromptTooLongError
from aggregate.project.configuration import user_config
from aggregate.project.tables import ModelTable
from aggregate.sending.known_models import known_model
from aggregate.sending.models import (
    COMPATIBLE,
    GATEWAY,
    SCRIPTED,
    CachePolicy,
    Usage,
    bare_model_name,
)

if TYPE_CHECKING:
    from genai_prices.types import PriceCalculation

    from aggregate.sending.cache.request_plan import RequestPlan

_WHOLE: Final = 1000
LOWEST: Final = 600  # thousandths: Chinese comes nearest with 750, and a ratio that is too low makes a prompt too long
HIGHEST: Final = 3000  # twice is what the oldest vocabularies need for code; beyond, something else has been counted


class TokenRatio(NamedTuple):
    """A provider's tokens for each thousand of ours (rule B-10); ``source`` is the end of a sentence."""

    thousandths: int
    source: str

    @property
    def value(self) -> float:
        return self.thousandths / _WHOLE

    def provider_tokens(self, tokens: int) -> int:
        return -(-tokens * self.thousandths // _WHOLE)

    def own_tokens(self, provider_tokens: int) -> int:
        return provider_tokens * _WHOLE // self.thousandths


OWN_COUNT: Final = TokenRatio(_WHOLE, "as o200k counts them")


def shipped_ratio(provider: str, model: str) -> TokenRatio:
    if provider == SCRIPTED:
        return OWN_COUNT  # its counts are ours, whichever model it plays
    known = known_model(provider, model)
    if known.ratio is None:
        return TokenRatio(_WHOLE, "no ratio is known of this model, so by o200k")
    return TokenRatio(
        known.ratio, f"an estimate of {known.as_of}, until {provider} has reported its own"
    )


_MILLION: Final = 1_000_000


def own_model(name: str) -> ModelTable | None:
    models = user_config().models.items()
    return next((table for own, table in models if own.lower() == name.lower()), None)


def takes_tools(provider: str, model: str) -> bool:
    return known_model(provider, model).takes.takes_tools


def cache_policy(provider: str, model: str) -> CachePolicy:
    policy = known_model(provider, model).cache
    table = own_model(model)
    if table is None:
        return policy
    said: dict[str, Any] = {"minimum": table.minimum, "seconds": table.lifetime}
    # A server of one's own that has prices is not known to have another one for what it reads again.
    read = table.input if table.cache_read is None and provider == COMPATIBLE else table.cache_read
    prices = {"read": read, "write": table.cache_write}
    if table.input:
        said |= {name: price and price / table.input for name, price in prices.items()}
    return replace(policy, **{name: value for name, value in said.items() if value is not None})


_PRICE_LIST_IDS = {"gemini": "google", SCRIPTED: None, COMPATIBLE: None, GATEWAY: None}


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
        units = usage.fresh + usage.cache_read * policy.read + usage.cache_write * policy.write
        total = units * table.input + usage.output * table.output
        return Decimal(str(total / _MILLION)) + surcharge
    listed = _listed(usage, model, provider)
    return None if listed is None else Decimal(listed.total_price) + surcharge


def _listed(usage: Usage, model: str, provider: str = "") -> "PriceCalculation | None":
    from genai_prices import Usage as Priced, calc_price  # half a second to load

    priced = Priced(
        input_tokens=usage.input,
        cache_read_tokens=usage.cache_read,
        cache_write_tokens=usage.cache_write,
        output_tokens=usage.output,
    )
    # A gateway writes the maker's name before the model's.
    name = bare_model_name(model) if provider == GATEWAY else model
    maker = _PRICE_LIST_IDS.get(provider, provider or None)
    try:
        return calc_price(priced, model_ref=name, provider_id=maker)
    except (LookupError, ValueError):
        return None


# Below this size no window is looked up: the price list takes half a second to load.
_ALWAYS_FITS = 30_000


def context_window(model: str) -> int | None:
    own = own_model(model)
    window = own.window if own else None
    if known := window or known_model("", model).window:
        return known
    listed = _listed(Usage(fresh=1), model)
    return listed.model.context_window if listed else None


# The largest of the models that providers are asked for where nobody names another; a test asks the price list.
USUAL_WINDOW: Final = 1_050_000


def exceeded_window(tokens: int) -> int | None:
    """Return the largest window of the models to choose from if so many tokens are more than it holds."""
    own = user_config()
    named = {own.send.model, *(persona.model for persona in own.personas.values()), *own.models}
    window = max([USUAL_WINDOW, *(context_window(model) or 0 for model in named if model)])
    return window if window < tokens else None


def check_window(
    plan: "RequestPlan", model: str, max_output: int, *, ratio: TokenRatio = OWN_COUNT
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
