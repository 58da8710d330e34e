"""What a request was expected to cost, what it has cost and saved, and what all of a day have, by project and model."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Final, NamedTuple

from aggregate.base.disk.reading import read_text
from aggregate.base.disk.writing import (
    exclusive_access,
    private_folder,
    replace_own,
    user_state_folder,
)
from aggregate.base.errors import OutputError
from aggregate.sending.clients.client import Client
from aggregate.sending.clients.own_models import cost
from aggregate.sending.clients.protocol import Ask, ChatRequest, OnText
from aggregate.sending.models import SCRIPTED, Reply, Usage, dollars


@dataclass(frozen=True, slots=True)
class Bill:
    """What a request was expected to use, and what it has used, by the provider's count; prices in US dollars."""

    expected: Usage
    usage: Usage
    expected_price: (
        Decimal | None
    )  # with the output that has come, ``None`` where no price is known
    price: Decimal | None
    saved: (
        Decimal | None
    )  # by the cache: what the same input would have cost without one, less what it has

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
        forecast, saved = dollars(self.expected_price), dollars(self.saved)
        return f"{dollars(self.price)} ({forecast} expected, {saved} saved)"


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
        return self._replace(
            requests=self.requests + other.requests,
            input=self.input + other.input,
            cache_read=self.cache_read + other.cache_read,
            output=self.output + other.output,
            dollars=self.dollars + other.dollars,
            saved=self.saved + other.saved,
            unpriced=self.unpriced + other.unpriced,
        )

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
    path = folder / _FILE
    try:
        private_folder(folder)
        with exclusive_access(path):
            rows = {row[:4]: row for row in charges()}
            rows[key] = rows.pop(key, Charge(*key)).with_one(bill)
            newest = [row._asdict() for row in list(rows.values())[-_MOST_ROWS:]]
            text = json.dumps({"version": _VERSION, "charges": newest}, default=str, indent=0)
            replace_own(path, text + "\n")
    except (OSError, OutputError) as error:
        return (f"what this has cost is not kept: {error}",)
    return ()


def charges() -> list[Charge]:
    """Return the sums, the one that was added to last at the end."""
    folder = user_state_folder()
    if folder is None:
        return []
    try:
        data = json.loads(read_text(folder / _FILE))
        rows = data["charges"] if data.get("version") == _VERSION else []
        return [_read(Charge(**row)) for row in rows]
    except (OSError, ValueError, KeyError, TypeError, AttributeError, InvalidOperation):
        return []


def _read(row: Charge) -> Charge:
    """Return a row as it was kept, with amounts as such."""
    numbers = (*row[4:8], row.unpriced)
    if not all(type(number) is int for number in numbers) or not all(map(str.strip, row[:3])):
        raise ValueError("is no row")
    return row._replace(dollars=Decimal(row.dollars), saved=Decimal(row.saved))


def spent_today(rows: Iterable[Charge] | None = None) -> Decimal:
    today = date.today().isoformat()
    rows = charges() if rows is None else rows
    return sum((row.dollars for row in rows if row.day == today), Decimal(0))


def charged(client: Client, project: Path) -> Client:
    """Return a client whose requests are added to the sums of a project."""

    async def keep(ask: Ask, request: ChatRequest, on_text: OnText | None) -> Reply:
        reply = await ask(request, on_text)
        keep_charge(project, client.provider, request.model or client.model, reply.usage)
        return reply

    return client.through(keep)
