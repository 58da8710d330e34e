"""Prices, context windows and token ratios of models, and statistics of earlier requests.

They come from shipped tables and the user's configuration. A project's file is ignored here: a wrong price would hide
costs, and a wrong window or cache would raise them.

Our counts are exact for the vocabulary o200k. Other vocabularies are not available offline, so their counts are ours
times a ratio. It is in whole thousandths, so that limits convert exactly in both directions.
"""

from dataclasses import replace
from decimal import Decimal
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from aggregate.base.disk.writing import change_state, read_state, user_state_folder
from aggregate.base.errors import PromptTooLongError
from aggregate.project.configuration import user_config
from aggregate.project.tables import ModelTable
from aggregate.sending.known_models import known_model
from aggregate.sending.models import (
    COMPATIBLE,
    GATEWAY,
    SCRIPTED,
    CachePolicy,
    Reply,
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
    return known_model(provider, model).takes_tools


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


# The statistics of requests are stored in the user's state folder and only used for forecasts: the bill uses the usage
# in the reply.
LEARNED_FILE: Final = "learned_models.json"
_VERSION: Final = 1
_MOST_MODELS: Final = 200  # the least recently used models are dropped first
_FEWEST_TOKENS: Final = 200  # of a shorter request the server's own wrapping distorts the ratio
# Weight of earlier requests after each new one: the next request resembles the last, and two normal reports outweigh
# an odd one.
_FADE: Final = 3 / 4
# Weight of earlier cache reads: a provider whose cache failed is retried after some thirty requests.
_SLOW_FADE: Final = 0.97
_LARGEST: Final = 2.0**60  # upper bound of a plausible sum of tokens
_MISSES: Final = 2  # consecutive misses before one-hour entries are given up; one may be chance
_FEW_HOURS: Final = 1.5
_PRIOR_READS: Final = 4  # successful reads assumed in advance
_LOWEST_SHARE: Final = 2 / 3  # of o200k's tokens: no vocabulary needs fewer
# Windows are multiples of 1,024: a server reports exactly its window after cutting a prompt to it.
_WINDOW_STEP: Final = 1024
_CUT_SHARE: Final = 0.95
_FEWEST_TO_JUDGE: Final = 512  # shorter prompts vary too much with a server's own wrapping


class Endpoint(NamedTuple):
    """A model at an address."""

    provider: str
    model: str
    address: str = ""  # ``""``: the provider's default


class Learned(NamedTuple):
    """Weighted sums over the requests to an endpoint; older requests count less."""

    sent: float = 0.0
    reported: float = 0.0
    requests: float = 0.0
    expected: float = 0.0  # requests with an expected cache read
    failed: float = 0.0  # of these, reads below half of the expected tokens
    misses: float = 0.0  # consecutive failures
    hours: float = 0.0  # expected reads needing a one-hour entry
    hours_failed: float = 0.0
    first_piece: float = 0.0  # seconds until the first piece of an answer, 0 if unknown

    @property
    def miss_share(self) -> float:
        return self.failed / (self.expected + _PRIOR_READS)

    @property
    def distrusts_hours(self) -> bool:
        """Whether the endpoint often lost one-hour cache entries early."""
        never_held = self.hours_failed > max(_FEW_HOURS, self.hours / 2)
        return self.misses >= _MISSES or never_held

    def ratio(self, endpoint: Endpoint) -> TokenRatio:
        if not self.sent:
            return shipped_ratio(endpoint.provider, endpoint.model)
        requests = round(self.requests)
        many = f"{requests:,} requests" if requests != 1 else "one request"
        thousandths = ceil(round(self.reported) * 1000 / round(self.sent))
        bounded = min(max(thousandths, LOWEST), HIGHEST)
        return TokenRatio(bounded, f"as {endpoint.provider} has reported for {many}")

    def after(
        self, reply: Reply, *, sent: int, expected_read: int = 0, needs_hour: bool = False
    ) -> "Learned":
        """Return these sums with one more request.

        ``sent`` counts the request by o200k. With ``needs_hour`` a cache entry of five minutes would have expired
        before the request.
        """
        learned = self._replace(
            sent=self.sent * _FADE + sent,
            reported=self.reported * _FADE + _bounded(reply.usage.input, sent),
            requests=self.requests + 1,
        )
        if expected_read:
            has_failed = reply.usage.cache_read < expected_read / 2
            learned = learned._replace(
                expected=self.expected * _SLOW_FADE + 1,
                failed=self.failed * _SLOW_FADE + has_failed,
                misses=self.misses + 1 if has_failed else 0.0,
                hours=self.hours * _SLOW_FADE + needs_hour,
                hours_failed=self.hours_failed * _SLOW_FADE + (needs_hour and has_failed),
            )
        if reply.first_piece is None:
            return learned
        earlier = self.first_piece or reply.first_piece
        return learned._replace(first_piece=earlier * _FADE + reply.first_piece * (1 - _FADE))


NOTHING: Final = Learned()


def learned_of(endpoint: Endpoint) -> Learned:
    path = _path(endpoint.provider)
    return _rows(read_state(path)).get(endpoint, NOTHING) if path else NOTHING


def token_ratio(provider: str, model: str, address: str = "") -> TokenRatio:
    endpoint = Endpoint(provider, model, address)
    return learned_of(endpoint).ratio(endpoint)


def record_reply(
    endpoint: Endpoint, reply: Reply, *, sent: int, expected_read: int = 0, needs_hour: bool = False
) -> tuple[str, ...]:
    """Store the statistics of a request; return warnings."""
    provider, path, read = endpoint.provider, _path(endpoint.provider), reply.usage.input
    if path is None or not read or sent < _FEWEST_TOKENS:
        return ()

    def with_request(data: object) -> dict[str, Any]:
        rows = _rows(data)
        rows[endpoint] = rows.pop(endpoint, NOTHING).after(
            reply, sent=sent, expected_read=expected_read, needs_hour=needs_hour
        )
        newest = list(rows.items())[-_MOST_MODELS:]
        models = [{**endpoint._asdict(), **row._asdict()} for endpoint, row in newest]
        return {"version": _VERSION, "encoding": "o200k_base", "models": models}

    if problem := change_state(path, with_request):
        return (f"cannot save how {provider} counts tokens: {problem}",)
    reported = _bounded(read, sent)
    if reported == read:
        return ()
    return (
        f"{provider} reports {read:,} tokens where o200k has {sent:,}; no vocabulary differs so much, so "
        f"{reported:,} are used",
    )


def truncation_warning(sent: int, read: int, provider: str) -> tuple[str, ...]:
    """Return a warning if the server probably cut the prompt to the ``read`` tokens.

    Local servers do so silently, Ollama at 4,096 tokens.
    """
    if not read or sent < _FEWEST_TO_JUDGE:
        return ()
    equals_a_window = read % _WINDOW_STEP == 0 and read < sent * _CUT_SHARE
    if read >= sent * _LOWEST_SHARE and not equals_a_window:
        return ()
    return (
        f"{provider} has read {read:,} tokens of about {sent:,}: it has probably cut the prompt to its context window; "
        "give the server a larger window, or send less",
    )


def _bounded(reported: int, sent: int) -> int:
    return min(max(reported, sent * LOWEST // 1000), sent * HIGHEST // 1000)


def _rows(data: Any) -> dict[Endpoint, Learned]:  # noqa: ANN401 - JSON
    rows: dict[Endpoint, Learned] = {}
    try:
        for row in data["models"] if data["version"] == _VERSION else ():
            endpoint = Endpoint(*(str(row[name]) for name in Endpoint._fields))
            rows[endpoint] = Learned(*(_number(row[name]) for name in Learned._fields))
    except (ValueError, KeyError, TypeError):
        return {}
    return rows


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _LARGEST:
        raise ValueError("not a valid sum")
    return float(value)


def _path(provider: str) -> Path | None:
    folder = user_state_folder()
    return folder / LEARNED_FILE if folder and provider != SCRIPTED else None
