"""Help texts whose options stand below headings."""

from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Any

import click

_OTHERS = "Options"


class SectionedCommand(click.Command):
    """A command whose help lists its options below the headings that ``section`` gives them, the others last."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the lists."""
        for title, rows in _sections(self, ctx):
            with formatter.section(title):
                formatter.write_dl(rows)


class _SectionedOption(click.Option):
    """An option that knows its heading."""

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
