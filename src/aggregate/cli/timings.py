"""``--timings``: where the time of a command went, from the monitor's scopes."""

from collections.abc import Mapping
from time import perf_counter
from typing import Any

import click

from aggregate.base.monitor import Timing, get_monitor
from aggregate.cli.output import say

_STARTED = "aggregate.timings.started"
"""Where a command's context holds the time at which its options were read, if the table is asked for."""
_ALL = "all"


def _start(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        get_monitor().reset()
        context.meta[_STARTED] = perf_counter()
        context.call_on_close(lambda: say(*_table(context)))


timings_option = click.option(
    "--timings",
    is_flag=True,
    expose_value=False,
    callback=_start,
    help="Print to standard error where the time went: steps, calls, seconds, share.",
)
"""Prints the table when the command ends, also by an error."""


def timings_data() -> dict[str, Any]:
    """Return the steps so far under ``timings``, nothing where nobody asked for them."""
    context = click.get_current_context()
    if _STARTED not in context.meta:
        return {}
    seconds = _elapsed(context)
    rows = [
        {
            "scope": name,
            "calls": timing.count,
            "seconds": round(timing.total, 6),
            "share": round(share, 4),
        }
        for name, timing, share in _rows(get_monitor().timings(), seconds)
    ]
    return {"timings": rows}


def _elapsed(context: click.Context) -> float:
    return perf_counter() - float(context.meta[_STARTED])


def _rows(timings: Mapping[str, Timing], seconds: float) -> list[tuple[str, Timing, float]]:
    """Return the steps with their shares of all seconds, the longest first; a step may lie in another."""
    ordered = sorted(timings.items(), key=lambda item: (-item[1].total, item[0]))
    shares = [
        (name, timing, timing.total / seconds if seconds else 0.0) for name, timing in ordered
    ]
    return [*shares, (_ALL, Timing(1, seconds, seconds), 1.0)]


def _table(context: click.Context) -> list[str]:
    rows = _rows(get_monitor().timings(), _elapsed(context))
    width = max(len(name) for name, _, _ in rows)
    lines = [f"{'scope':<{width}}  {'calls':>7}  {'seconds':>9}  share"]
    lines += [
        f"{name:<{width}}  {timing.count:>7,}  {timing.total:>9.3f}  {share:>5.0%}"
        for name, timing, share in rows
    ]
    return lines
