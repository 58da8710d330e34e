"""Prices, context windows and token ratios of models.

They come from shipped tables and the user's configuration. A project's file is ignored here: a wrong price would hide
costs, and a wrong window or cache would raise them.

Our counts are exact for the vocabulary o200k. Other vocabularies are not available offline, so their counts are ours
times a ratio. It is in whole thousandths, so that limits convert exactly in both directions.
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
LOWEST: Final = 600  # thousandths; Chinese text has 750, and too low a ratio makes prompts too long
HIGHEST: Final = 3000  # thousandths; the oldest vocabularies need 2000 for code


class TokenRatio(NamedTuple):
    """A provider's tokens per thousand o200k tokens (B-10).

    The source of the figure is recorded too.
    """

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
        return OWN_COUNT
    model_facts = known_model(provider, model)
    if model_facts.ratio is None:
        return TokenRatio(_WHOLE, "as o200k counts them, since no ratio is known for this model")
    return TokenRatio(
        model_facts.ratio,
        f"an estimate as of {model_facts.as_of}, used until {provider} has reported its own counts",
    )


_MILLION: Final = 1_000_000


def own_model(name: str) -> ModelTable | None:
    models = user_config().models.items()
    return next((table for model, table in models if model.lower() == name.lower()), None)


def takes_tools(provider: str, model: str) -> bool:
    return known_model(provider, model).takes.takes_tools


def cache_policy(provider: str, model: str) -> CachePolicy:
    policy = known_model(provider, model).cache
    table = own_model(model)
    if table is None:
        return policy
    changes: dict[str, Any] = {"minimum": table.minimum, "seconds": table.lifetime}
    # Without a price for cache reads, a compatible server is assumed to charge the full one.
    read = table.input if table.cache_read is None and provider == COMPATIBLE else table.cache_read
    prices = {"read": read, "write": table.cache_write}
    if table.input:
        changes |= {name: price and price / table.input for name, price in prices.items()}
    return replace(policy, **{name: value for name, value in changes.items() if value is not None})


_PRICE_LIST_IDS = {"gemini": "google", SCRIPTED: None, COMPATIBLE: None, GATEWAY: None}


def cost(usage: Usage, model: str, *, provider: str = "") -> Decimal | None:
    """Return the price of a request in US dollars.

    ``None`` if the model's price is unknown. Prices in the user's configuration take precedence over the shipped list.
    """
    table, policy = own_model(model), cache_policy(provider, model)
    # The price list only has the price of short cache entries.
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
    # A gateway prefixes the model with its maker.
    name = bare_model_name(model) if provider == GATEWAY else model
    maker = _PRICE_LIST_IDS.get(provider, provider or None)
    try:
        return calc_price(priced, model_ref=name, provider_id=maker)
    except (LookupError, ValueError):
        return None


# Below this size no window is looked up: the price list takes half a second to load.
_ALWAYS_FITS = 30_000


def context_window(model: str) -> int | None:
    table = own_model(model)
    if window := (table and table.window) or known_model("", model).window:
        return window
    listed = _listed(Usage(fresh=1), model)
    return listed.model.context_window if listed else None


# The largest window of the providers' default models; a test compares it with the price list.
USUAL_WINDOW: Final = 1_050_000


def exceeded_window(tokens: int) -> int | None:
    """Return the largest context window of the user's models if ``tokens`` do not fit into it."""
    config = user_config()
    personas = (persona.model for persona in config.personas.values())
    models = {config.send.model, *personas, *config.models}
    window = max([USUAL_WINDOW, *(context_window(model) or 0 for model in models if model)])
    return window if window < tokens else None


def check_window(
    plan: "RequestPlan", model: str, max_output: int, *, ratio: TokenRatio = OWN_COUNT
) -> None:
    """Raise an error if a request exceeds the model's window.

    Nothing is checked if the context window is unknown.
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
