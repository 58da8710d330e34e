"""What tokens cost, from the bundled price list of ``genai-prices``; its updater is never started."""

from decimal import Decimal

from aggregate.base.values import Usage
from aggregate.sending.clients.own_models import cache_policy, own_cost

_PRICE_LIST_IDS = {
    "gemini": "google",
    "gemini-cli": "google",
    "scripted": None,
    "compatible": None,
    "bedrock": "aws",
    "vertex": None,
}


def cost(usage: Usage, model: str, *, provider: str = "") -> Decimal | None:
    """Return the price of ``usage`` in US dollars, ``None`` for a model that is not in the list.

    What the user's own configuration says goes before the list.
    """
    own = own_cost(usage, model, provider=provider)
    if own is not None:
        return Decimal(str(own)) + _long_write_surcharge(usage, model, provider)
    from genai_prices import Usage as Priced  # half a second to load
    from genai_prices import calc_price

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
    return Decimal(price.total_price) + _long_write_surcharge(usage, model, provider)


def _long_write_surcharge(usage: Usage, model: str, provider: str) -> Decimal:
    """Return what the longer lifetime costs beyond the shorter one, whose price alone the list has."""
    policy = cache_policy(provider, model)
    if not usage.cache_write_long or not policy.long_seconds:
        return Decimal(0)
    short = cost(Usage(cache_write=usage.cache_write_long), model, provider=provider)
    ratio = Decimal(str(policy.long_write)) / Decimal(str(policy.write)) - 1
    return (short or Decimal(0)) * ratio


def listed_models(provider: str) -> list[str]:
    """Return the models of a provider that the price list names, in order; none for a provider that it lacks."""
    from genai_prices.data import providers  # half a second to load

    listed_id = _PRICE_LIST_IDS.get(provider, provider)
    return [model.id for listed in providers if listed.id == listed_id for model in listed.models]


def listed_window(model: str) -> int | None:
    """Return the context window that the price list gives for a model, ``None`` where it gives none."""
    from genai_prices import Usage as Priced
    from genai_prices import calc_price

    try:
        return calc_price(Priced(input_tokens=1), model_ref=model).model.context_window
    except (LookupError, ValueError):
        return None
