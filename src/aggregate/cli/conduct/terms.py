"""What the user allows the workers of a run, from the options: tools, permissions, limits, an address."""

from collections.abc import Callable
from pathlib import Path
from typing import TypedDict

import click

from aggregate.conductor.terms import WorkerTerms, user_limits
from aggregate.conductor.worker import parse_worker
from aggregate.tools import standard_tools

_OPTIONS = (
    click.option("--base-url", metavar="URL", default="", help="Reach the provider at this address."),
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
        help="Let one attempt at a ticket use at most so many tokens; by default as [conduct] of your own configuration "
        "says, else 200,000.",
    ),
    click.option(
        "--max-seconds",
        type=click.FloatRange(min=0, min_open=True),
        metavar="N",
        help="Let one attempt take at most so many seconds; by default as the ticket says.",
    ),
    click.option(
        "--max-steps",
        type=click.IntRange(min=1),
        metavar="N",
        help="Let a ticket with tools take at most so many steps; by default 4.",
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


def open_terms(
    spec: str,
    root: Path,
    *,
    base_url: str,
    folder: Path | None,
    allow: tuple[str, ...],
    max_tokens: int | None,
    max_seconds: float | None,
    max_steps: int | None,
) -> WorkerTerms:
    """Return what the user allows.

    Args:
        spec: The worker, as ``--worker`` names it.
        root: The folder that project tools may read.
        base_url: Where its provider is reached.
        folder: Of more tools.
        allow: What tools may do besides reading.
        max_tokens: Of one attempt.
        max_seconds: Of one attempt.
        max_steps: Of a ticket with tools.

    Raises:
        TrackError: There is no such worker.
        ToolError: A tool cannot be used.
        ConfigError: The user's own configuration cannot be used, or the model's name is a slip of a known one.
    """
    provider, model = parse_worker(spec)
    registry = standard_tools(
        state_dir=root / "state", roots=(root,), permissions=("read", *allow)
    )
    if folder is not None:
        registry.discover(folder)
    limits = user_limits().changed(
        max_tokens=max_tokens, max_seconds=max_seconds, max_steps=max_steps
    )
    return WorkerTerms(provider, model, base_url, registry, limits)
