"""``costs``: costs and savings of requests by day, project and model."""

from datetime import date, timedelta
from functools import reduce

import click

from aggregate.cli.options import json_option, number, option
from aggregate.cli.output import counted, say, write_json, write_rows
from aggregate.sending import Charge, charges
from aggregate.sending.models import saving

_FIELDS = ("day", "project", "provider", "model")


@click.command()
@number("--days", "Show the last N days, including today.", metavar="INTEGER", default=30)
@option("--by", "", "Group the costs only by this.", type=click.Choice(["day", "project", "model"]))
@json_option
def costs(days: int, by: str | None, as_json: bool) -> None:
    """Show your costs and cache savings by day, project and model.

    The sums are stored in your state folder. A request of unknown price adds only tokens.
    """
    first = (date.today() - timedelta(days=days - 1)).isoformat()
    rows = _added_up([row for row in charges() if row.day >= first], by)
    if as_json:
        write_json([_data(row) for row in rows])
        return
    for row in rows:
        write_rows(_line(row))
    if rows:
        say("in all: " + _line(_sum(rows)).replace("\t", "; "))
    else:
        say(f"no requests in the last {days:,} days")


def _data(row: Charge) -> dict[str, object]:
    return row._asdict() | {"dollars": float(row.dollars), "saved": float(row.saved)}


def _added_up(rows: list[Charge], by: str | None) -> list[Charge]:
    fields = _FIELDS if by is None else ("provider", "model") if by == "model" else (by,)
    groups: dict[tuple[str, ...], list[Charge]] = {}
    for row in rows:
        key = tuple(getattr(row, name) if name in fields else "" for name in _FIELDS)
        groups.setdefault(key, []).append(row)
    return [_sum(group, *key) for key, group in sorted(groups.items())]


def _sum(rows: list[Charge], day: str = "", project: str = "", *model: str) -> Charge:
    provider, name = model or ("", "")
    return reduce(Charge.plus, rows, Charge(day, project, provider, name))


def _line(row: Charge) -> str:
    share = f"{row.cache_read / row.input:.0%}" if row.input else "0%"
    names = [part for part in (row.day, row.project, f"{row.provider} {row.model}".strip()) if part]
    return "\t".join(
        [
            *names,
            counted(row.requests, "request"),
            f"{row.input:,} tokens in, {share} read",
            f"{row.output:,} out",
            row.price,
            *([saving(row.saved)] if row.unpriced < row.requests else []),
        ]
    )
