"""Options that several commands take."""

from collections.abc import Callable, Iterator, Mapping
from itertools import groupby
from math import isfinite
from pathlib import Path
from time import perf_counter
from typing import Any

import click

from aggregate.base.monitor import Timing, get_monitor
from aggregate.base.values import ALLOW_OUTSIDE, ALLOW_SECRETS, GeneratedView
from aggregate.cli.output import say
from aggregate.project.configuration import CONFIG_NAME, nearest_config

_PATH = click.Path(path_type=Path, dir_okay=False)


class FiniteRange(click.FloatRange):
    """A number within bounds; ``nan`` and ``inf`` are none, though Python reads them and no bound excludes them."""

    def convert(
        self, value: float, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the number."""
        number = float(super().convert(value, param, ctx))
        if not isfinite(number):
            self.fail(f"{value!r} is not a finite number.", param, ctx)
        return number


config_option = click.option(
    "-c",
    "--config",
    type=_PATH,
    callback=lambda _context, _option, named: nearest_config() if named is None else named,
    help=f"Read this configuration; by default the nearest {CONFIG_NAME}, up to the root of the repository.",
)
new_config_option = click.option(
    "-c",
    "--config",
    type=_PATH,
    default=Path(CONFIG_NAME),
    show_default=True,
    help="Write this file.",
)
quiet_option = click.option(
    "-q", "--quiet", is_flag=True, help="Print nothing but the result and errors."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")


def cache_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that work without what earlier runs have kept: ``no_cache`` and ``verify``."""
    no_cache = click.option(
        "--no-cache",
        is_flag=True,
        help="Compute everything anew and keep nothing for the next run.",
    )
    verify = click.option(
        "--verify",
        is_flag=True,
        help="Read every file, also those that seem unchanged since an earlier run.",
    )
    return no_cache(verify(command))


def discussion_option(
    text: str, usual: str = "the one without a name"
) -> Callable[..., Callable[..., None]]:
    """Return the option ``--discussion``; its help begins with ``text``, and says which is the usual one."""
    return click.option(
        "--discussion",
        metavar="NAME",
        default="",
        help=f"{text} in this discussion; by default in {usual}, and with none outside of all.",
    )


generated_option = click.option(
    "--generated",
    type=click.Choice([view.value for view in GeneratedView]),
    help="Show generated files that a glob stands for like this; by default as the configuration says, else by name.",
)


def redact_option(*, sending: bool) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add the choice whether secrets are replaced, whose default the configuration may change."""
    usual = "" if sending else " with a task or a budget"
    text = f"Replace secrets, such as keys and passwords, by placeholders; by default they are replaced{usual}."
    return click.option("--redact/--no-redact", default=None, help=text)


def scope_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that permit what a project's own files may not; ``None`` leaves it to the configuration."""
    outside = click.option(
        ALLOW_OUTSIDE,
        is_flag=True,
        default=None,
        help="Read files outside the project that its files name.",
    )
    secrets = click.option(
        ALLOW_SECRETS,
        is_flag=True,
        default=None,
        help="Read files that look like secrets where they are named.",
    )
    return outside(secrets(command))


_OTHERS = "Options"


class SectionedCommand(click.Command):
    """A command whose help lists its options below the headings that ``section`` gives them, the others last."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the lists."""
        for title, rows in _sections(self, ctx):
            with formatter.section(title):
                formatter.write_dl(rows)


class _SectionedOption(click.Option):
    def __init__(self, *args: Any, heading: str, **kwargs: Any) -> None:  # noqa: ANN401 - those of an option
        super().__init__(*args, **kwargs)
        self.heading = heading


def section(heading: str) -> Callable[..., Callable[..., Any]]:
    """Return what ``click.option`` is, for options that stand below ``heading``."""

    def option(*names: str, **settings: Any) -> Callable[..., Any]:  # noqa: ANN401 - those of an option
        return click.option(*names, cls=_SectionedOption, heading=heading, **settings)

    return option


def _sections(
    command: click.Command, context: click.Context
) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield the headings with the names and helps of their options, in the order in which they first stand."""
    listed = [
        (getattr(option, "heading", _OTHERS), record)
        for option in command.get_params(context)
        if (record := option.get_help_record(context)) is not None
    ]
    titles = list(dict.fromkeys(title for title, _ in listed if title != _OTHERS))
    order = {title: place for place, title in enumerate([*titles, _OTHERS])}
    listed.sort(key=lambda row: order[row[0]])
    for title, rows in groupby(listed, key=lambda row: row[0]):
        yield title, [record for _, record in rows]


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
