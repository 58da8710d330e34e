"""Prices of requests: expected and actual cost, daily sums by project and model, limits, and context windows.

Prices and windows come from shipped lists and the user's configuration. A project's file is ignored here: a wrong price
would hide costs, and a wrong window or cache would raise them.

Our counts are exact for the vocabulary o200k. Other vocabularies are not available offline, so their counts are ours
times a ratio. It is in whole thousandths, so that limits convert exactly in both directions.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal, InvalidOperation
from operator import add
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from aggregate.base.disk.writing import change_state, read_state, user_state_folder
from aggregate.base.errors import ClientSetupError, PromptTooLongError
from aggregate.project.configuration import user_config
from aggregate.project.tables import ModelTable
from aggregate.sending.known_models import bare_model_name, known_model
from aggregate.sending.models import COMPATIBLE, GATEWAY, SCRIPTED, CachePolicy, Usage

if TYPE_CHECKING:
    from genai_prices.types import PriceCalculation

_WHOLE: Final = 1000


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

    def provider_usage(self, usage: Usage) -> Usage:
        return Usage(*(round(getattr(usage, name) * self.value) for name in usage.__slots__))

    def own_tokens(self, provider_tokens: int) -> int:
        return provider_tokens * _WHOLE // self.thousandths


OWN_COUNT: Final = TokenRatio(_WHOLE, "as o200k counts them")


_MILLION: Final = 1_000_000


def own_model(name: str) -> ModelTable | None:
    models = user_config().models.items()
    return next((table for model, table in models if model.lower() == name.lower()), None)


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
    tokens: int, model: str, max_output: int, *, ratio: TokenRatio = OWN_COUNT
) -> None:
    """Raise an error if a request of so many o200k ``tokens`` exceeds the model's window.

    Nothing is checked if the context window is unknown.
    """
    size = ratio.provider_tokens(tokens)
    if size <= _ALWAYS_FITS:
        return
    window = context_window(model)
    needed = size + max_output
    if window is not None and needed > window:
        room = max(window - max_output, 0)
        counted = (
            f"{size:,} tokens (o200k)"
            if size == tokens
            else f"about {size:,} tokens ({tokens:,} by o200k; {ratio.source})"
        )
        raise PromptTooLongError(
            f"the request is {needed - window:,} tokens too long for {model}: {counted} and "
            f"{max_output:,} for the answer exceed its window of {window:,}; at most {room:,} would fit",
            tokens=needed,
            window=window,
        )


def dollars(amount: Decimal | None) -> str:
    return "price unknown" if amount is None else f"${amount:.4f}"


def _saving(amount: Decimal) -> str:
    """Describe how much a cache saved; the first request of a discussion costs more."""
    return (
        f"{dollars(amount)} saved" if amount >= 0 else f"{dollars(-amount)} of it for later reads"
    )


@dataclass(frozen=True, slots=True)
class Bill:
    """Expected and actual tokens of a request, and their prices.

    Tokens are the provider's. Amounts are in US dollars, ``None`` if the model's price is unknown.
    """

    expected: Usage
    usage: Usage
    expected_price: Decimal | None  # of the expected input and the actual output
    price: Decimal | None
    saved: Decimal | None  # the price without a cache, less ``price``
    is_estimated: bool = False  # the provider has reported only a part of the usage, or nothing

    @classmethod
    def of(
        cls, provider: str, model: str, expected: Usage, usage: Usage, *, is_estimated: bool = False
    ) -> "Bill":
        expected = replace(expected, output=usage.output)
        uncached = Usage(fresh=usage.input, output=usage.output)
        forecast = cost(expected, model, provider=provider)
        price = cost(usage, model, provider=provider)
        full = cost(uncached, model, provider=provider)
        saved = None if price is None or full is None else full - price
        return cls(expected, usage, forecast, price, saved, is_estimated)

    @property
    def sentence(self) -> str:
        if self.is_estimated:
            return f"about {dollars(self.price)}, estimated"
        if self.price is None or self.expected_price is None or self.saved is None:
            return dollars(self.price)
        forecast = dollars(self.expected_price)
        return f"{dollars(self.price)} ({forecast} expected, {_saving(self.saved)})"


_FILE: Final = "charges.json"
_VERSION: Final = 1
_MAX_ROWS: Final = 5_000  # one per day, project and model: a year with ten or more a day


class Charge(NamedTuple):
    """The summed cost of requests by day, project and model.

    An empty field covers all days, projects or models.
    """

    day: str = ""
    project: str = ""
    provider: str = ""
    model: str = ""
    requests: int = 0
    input: int = 0
    cache_read: int = 0
    output: int = 0
    dollars: Decimal = Decimal(0)
    saved: Decimal = Decimal(0)
    unpriced: int = 0  # requests whose price is not known
    estimated: int = 0  # requests stopped early, with estimated tokens

    @property
    def saving(self) -> str:
        """How much the cache saved, ``""`` if no price is known."""
        return _saving(self.saved) if self.unpriced < self.requests else ""

    def plus(self, other: "Charge") -> "Charge":
        return Charge._make((*self[:4], *map(add, self[4:], other[4:])))

    def with_one(self, bill: Bill) -> "Charge":
        usage, price, saved = bill.usage, bill.price or Decimal(0), bill.saved or Decimal(0)
        tokens = usage.input, usage.cache_read, usage.output
        counts = int(bill.price is None), int(bill.is_estimated)
        return self.plus(Charge("", "", "", "", 1, *tokens, price, saved, *counts))

    @property
    def price(self) -> str:
        if self.unpriced and not self.dollars:
            return "price unknown"
        part = "" if self.estimated == self.requests else "in part "
        estimated = f", {part}estimated" if self.estimated else ""
        return f"{'at least ' if self.unpriced else ''}{dollars(self.dollars)}{estimated}"


def keep_charge(project: Path, provider: str, model: str, bill: Bill) -> tuple[str, ...]:
    """Add the cost of a request to the stored sums.

    Return a warning if the sums cannot be written.
    """
    folder = user_state_folder()
    if folder is None or provider == SCRIPTED:
        return ()
    key = (date.today().isoformat(), str(project.resolve()), provider, model)

    def with_one(data: object) -> dict[str, Any]:
        rows = {row[:4]: row for row in _rows(data)}
        rows[key] = rows.pop(key, Charge(*key)).with_one(bill)
        newest = [row._asdict() for row in list(rows.values())[-_MAX_ROWS:]]
        return {"version": _VERSION, "charges": newest}

    problem = change_state(folder / _FILE, with_one)
    return (f"the cost of this request is not recorded: {problem}",) if problem else ()


def charges() -> list[Charge]:
    """Return the stored costs per day, project and model, the last changed one at the end."""
    folder = user_state_folder()
    return _rows(read_state(folder / _FILE)) if folder else []


def _rows(data: Any) -> list[Charge]:  # noqa: ANN401 - JSON
    """Parse the stored costs; return none if a row is malformed."""
    try:
        rows = [Charge(**row) for row in data["charges"]] if data["version"] == _VERSION else []
        if any(type(number) is not int for row in rows for number in (*row[4:8], *row[10:])):
            return []
        amounts = [(Decimal(row.dollars), Decimal(row.saved)) for row in rows]
    except (ValueError, KeyError, TypeError, InvalidOperation):
        return []
    pairs = zip(rows, amounts, strict=True)
    return [row._replace(dollars=price, saved=saved) for row, (price, saved) in pairs]


def spent_today() -> Decimal:
    today = date.today().isoformat()
    return sum((row.dollars for row in charges() if row.day == today), Decimal(0))


def daily_limit(projects: float | None) -> float | None:
    """Return the largest cost of a day in US dollars: a project can only lower the user's."""
    limits = [most for most in (projects, user_config().send.most_per_day) if most is not None]
    return min(limits, default=None)


def check_limits(
    model: str,
    could: Callable[[], Decimal | None],
    *,
    max_output: int,
    most: float | None,
    projects_daily: float | None,
) -> None:
    """Raise an error if a request could cost more than a limit allows.

    ``could`` returns its largest price in US dollars, ``None`` if unknown; ``most`` is the request's own limit.
    """
    daily = daily_limit(projects_daily)
    if most is None and daily is None:
        return
    price = could()
    if price is None:
        raise ClientSetupError(
            f"cannot apply a limit in dollars: the price of {model} is unknown: set it under "
            f'[models."{model}"] in your own configuration'
        )
    spent = spent_today() if daily is not None else Decimal(0)
    for limit, so_far, name in ((most, Decimal(0), "--most"), (daily, spent, "most_per_day")):
        if limit is not None and so_far + price > Decimal(str(limit)):
            today = f", and {dollars(so_far)} were spent today" if so_far else ""
            raise ClientSetupError(
                f"it could cost {dollars(price)}, with nothing read from a cache and {max_output:,} "
                f"tokens of answer{today}; {name} is ${limit:g}: lower --max-output or --budget, or raise the limit"
            )
