"""What a request was expected to cost, what it has cost and saved, and what all of a day have, by project and model."""

from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal, InvalidOperation
from operator import add
from pathlib import Path
from typing import Any, Final, NamedTuple

from aggregate.base.disk.writing import user_state_folder
from aggregate.sending.clients.client import Client
from aggregate.sending.clients.own_models import cost
from aggregate.sending.clients.protocol import Ask, ChatRequest, OnText
from aggregate.sending.kept import change_kept, read_kept
from aggregate.sending.models import SCRIPTED, Reply, Usage, dollars, saving


@dataclass(frozen=True, slots=True)
class Bill:
    """What a request was expected to use, and what it has used, by the provider's count; prices in US dollars."""

    expected: Usage
    usage: Usage
    expected_price: Decimal | None  # with the output that has come; all ``None`` without a price
    price: Decimal | None
    saved: Decimal | None  # by the cache: what the same input would have cost without, less this

    @classmethod
    def of(cls, provider: str, model: str, expected: Usage, usage: Usage) -> "Bill":
        expected = replace(expected, output=usage.output)
        afresh = Usage(fresh=usage.input, output=usage.output)
        forecast, price, full = (
            cost(each, model, provider=provider) for each in (expected, usage, afresh)
        )
        saved = None if price is None or full is None else full - price
        return cls(expected, usage, forecast, price, saved)

    @property
    def sentence(self) -> str:
        if self.price is None or self.expected_price is None or self.saved is None:
            return dollars(self.price)
        forecast = dollars(self.expected_price)
        return f"{dollars(self.price)} ({forecast} expected, {saving(self.saved)})"


_FILE: Final = "charges.json"
_VERSION: Final = 1
_MOST_ROWS: Final = 5_000  # of days, projects and models: a year of ten a day


class Charge(NamedTuple):
    """The requests of a day, a project and a model, or of all that these do not name."""

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

    def plus(self, other: "Charge") -> "Charge":
        return Charge._make((*self[:4], *map(add, self[4:], other[4:])))

    def with_one(self, bill: Bill) -> "Charge":
        usage, price, saved = bill.usage, bill.price or Decimal(0), bill.saved or Decimal(0)
        tokens = usage.input, usage.cache_read, usage.output
        return self.plus(Charge("", "", "", "", 1, *tokens, price, saved, int(bill.price is None)))

    @property
    def price(self) -> str:
        if self.unpriced and not self.dollars:
            return "price unknown"
        return f"{'at least ' if self.unpriced else ''}{dollars(self.dollars)}"


def keep_charge(project: Path, provider: str, model: str, usage: Usage) -> tuple[str, ...]:
    """Add a request to the sums; return a sentence where it is not kept. Where nobody was asked none is."""
    folder = user_state_folder()
    if folder is None or provider == SCRIPTED:
        return ()
    bill = Bill.of(provider, model, Usage(), usage)
    key = (date.today().isoformat(), str(project.resolve()), provider, model)

    def with_one(data: object) -> dict[str, Any]:
        rows = {row[:4]: row for row in _rows(data)}
        rows[key] = rows.pop(key, Charge(*key)).with_one(bill)
        newest = [row._asdict() for row in list(rows.values())[-_MOST_ROWS:]]
        return {"version": _VERSION, "charges": newest}

    problem = change_kept(folder / _FILE, with_one)
    return (f"what this has cost is not kept: {problem}",) if problem else ()


def charges() -> list[Charge]:
    """Return the sums, the one that was added to last at the end."""
    folder = user_state_folder()
    return _rows(read_kept(folder / _FILE)) if folder else []


def _rows(data: Any) -> list[Charge]:  # noqa: ANN401 - JSON
    """Return the rows as they were kept, with amounts as such; none where one is no row."""
    try:
        rows = [Charge(**row) for row in data["charges"]] if data["version"] == _VERSION else []
        if any(type(number) is not int for row in rows for number in (*row[4:8], row.unpriced)):
            return []
        amounts = [(Decimal(row.dollars), Decimal(row.saved)) for row in rows]
    except (ValueError, KeyError, TypeError, InvalidOperation):
        return []
    pairs = zip(rows, amounts, strict=True)
    return [row._replace(dollars=paid, saved=saved) for row, (paid, saved) in pairs]


def spent_today() -> Decimal:
    today = date.today().isoformat()
    return sum((row.dollars for row in charges() if row.day == today), Decimal(0))


def charged(client: Client, project: Path) -> Client:
    """Return a client whose requests are added to the sums of a project."""

    async def keep(ask: Ask, request: ChatRequest, on_text: OnText | None) -> Reply:
        reply = await ask(request, on_text)
        keep_charge(project, client.provider, request.model or client.model, reply.usage)
        return reply

    return client.through(keep)
