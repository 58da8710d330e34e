"""Options of what the user allows the workers of a run: tools, permissions, limits, an address."""

from collections.abc import Callable
from pathlib import Path
from typing import TypedDict

import click

from aggregate.cli.options import FiniteRange

_OPTIONS = (
    click.option(
        "--base-url", metavar="URL", default="", help="Reach the provider at this address."
    ),
    click.option(
        "--tools",
        "folder",
        metavar="DIR",
        type=click.Path(path_type=Path),
        help="Let tickets name tools from the Python files in this folder too; they are run.",
    ),
    click.option(
        "--allow",
        multiple=True,
        type=click.Choice(["write", "network"]),
        help="Let tools do this besides reading. Repeatable.",
    ),
    click.option(
        "--max-tokens",
        type=click.IntRange(min=1),
        metavar="N",
        help="Let one attempt at a ticket use at most this many tokens; by default as [conduct] of your own "
        "configuration says, else 200,000.",
    ),
    click.option(
        "--max-seconds",
        type=FiniteRange(min=0, min_open=True),
        metavar="N",
        help="Let one attempt take at most this many seconds; by default as the ticket says.",
    ),
    click.option(
        "--max-steps",
        type=click.IntRange(min=1),
        metavar="N",
        help="Let a ticket with tools take at most this many steps; by default 4.",
    ),
)


class TermsSettings(TypedDict):
    """The values of these options."""

    base_url: str
    folder: Path | None
    allow: tuple[str, ...]
    max_tokens: int | None
    max_seconds: float | None
    max_steps: int | None


def terms_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that say what workers may do."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
