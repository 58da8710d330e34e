"""Expected and actual cost of a request, and daily sums by project and model."""

from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal, InvalidOperation
from operator import add
from pathlib import Path
from typing import Any, Final, NamedTuple

from aggregate.base.disk.writing import change_state, read_state, user_state_folder
from aggregate.base.errors import ClientSetupError
from aggregate.base.tokens import count
from aggregate.project.configuration import user_config
from aggregate.sending.clients.client import Client
from aggregate.sending.clients.model_prices import cost
from aggregate.sending.clients.protocol import Ask, ChatRequest, OnText
from aggregate.sending.models import SCRIPTED, Reply, Usage, dollars, saving


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

    @classmethod
    def of_stopped(cls, client: Client, request: ChatRequest, expected: Usage) -> "Bill | None":
        """Return the bill of a request that ended early, ``None`` if no model worked on it."""
        meter, model = request.meter, request.model or client.model
        if not meter.is_open or client.provider == SCRIPTED:
            return None
        written = client.ratio.provider_tokens(count("".join(meter.pieces)))
        usage = replace(meter.usage, output=meter.usage.output + written)
        if not usage.input:
            total = client.planned(request).plan.total
            usage = replace(usage, fresh=client.ratio.provider_tokens(total))
        estimated = usage != meter.usage
        return cls.of(client.provider, model, expected, usage, is_estimated=estimated)

    @property
    def sentence(self) -> str:
        if self.is_estimated:
            return f"about {dollars(self.price)}, estimated"
        if self.price is None or self.expected_price is None or self.saved is None:
            return dollars(self.price)
        forecast = dollars(self.expected_price)
        return f"{dollars(self.price)} ({forecast} expected, {saving(self.saved)})"


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
    client: Client,
    *,
    could: Decimal | None,
    max_output: int,
    most: float | None,
    daily: float | None,
) -> None:
    """Raise an error if a request could cost more than a limit allows.

    ``could`` is its largest price in US dollars, ``None`` if unknown.
    """
    if could is None:
        raise ClientSetupError(
            f"cannot apply a limit in dollars: the price of {client.model} is unknown: set it under "
            f'[models."{client.model}"] in your own configuration'
        )
    spent = spent_today() if daily is not None else Decimal(0)
    for limit, so_far, name in ((most, Decimal(0), "--most"), (daily, spent, "most_per_day")):
        if limit is not None and so_far + could > Decimal(str(limit)):
            today = f", and {dollars(so_far)} were spent today" if so_far else ""
            raise ClientSetupError(
                f"it could cost {dollars(could)}, with nothing read from a cache and {max_output:,} "
                f"tokens of answer{today}; {name} is ${limit:g}: lower --max-output or --budget, or raise the limit"
            )


def charged(client: Client, project: Path, problems: list[str] | None = None) -> Client:
    """Return a client that adds costs to a project's totals.

    Requests that end early count too. ``problems`` receives a warning for each total that cannot be written.
    """

    async def keep(ask: Ask, request: ChatRequest, on_text: OnText | None) -> Reply:
        provider, model = client.provider, request.model or client.model
        try:
            reply = await ask(request, on_text)
        except BaseException:
            if stopped := Bill.of_stopped(client, request, Usage()):
                keep_charge(project, provider, model, stopped)
            raise
        bill = Bill.of(provider, model, Usage(), reply.usage)
        warnings = keep_charge(project, provider, model, bill)
        if problems is not None:
            problems.extend(warnings)
        return reply

    return client.through(keep)
