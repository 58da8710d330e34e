"""What a goal may use: the options, the user's configuration, and that of the project, which can only lower it."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

import click

from aggregate.agents.goals import EngineLimits
from aggregate.cli.options import FiniteRange
from aggregate.cli.output import warn
from aggregate.project.configuration import GoalTable, load_config, nearest_config, user_config

LIMIT_EXIT: Final = 3
"""The exit code of a goal that ended at a limit."""
Number = int | float


def limit_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add ``max_tokens``, ``max_seconds`` and ``max_steps``."""
    usual = EngineLimits()
    tokens = click.option(
        "--max-tokens",
        metavar="N",
        type=click.IntRange(min=1),
        help="Use at most this many tokens; what is read from a cache counts at its price."
        f"  [default: {usual.tokens}]",
    )
    seconds = click.option(
        "--max-seconds",
        metavar="S",
        type=FiniteRange(min=0, min_open=True),
        help=f"Take at most this many seconds.  [default: {usual.seconds:g}]",
    )
    steps = click.option(
        "--max-steps",
        metavar="N",
        type=click.IntRange(min=1),
        help=f"Do at most this many steps.  [default: {usual.steps}]",
    )
    return tokens(seconds(steps(command)))


def goal_limits(
    config: Path, *, max_tokens: int | None, max_seconds: float | None, max_steps: int | None
) -> EngineLimits:
    """Return the limits of a goal: each from its option, else as the configurations say, the user's and ``config``.

    Raises:
        ConfigError: A configuration cannot be used.
    """
    usual = EngineLimits()
    options = GoalTable(max_tokens=max_tokens, max_seconds=max_seconds, max_steps=max_steps)
    own, theirs = user_config().goal, _projects_table(config)

    def limit(name: str, default: Number) -> Number:
        option: Number | None = getattr(options, name)
        if option is not None:
            return option
        own_limit: Number = getattr(own, name) or default
        project_limit: Number | None = getattr(theirs, name)
        if project_limit is not None and project_limit > own_limit:
            warn(
                f"goal.{name}: the project allows {project_limit:g}, you allow {own_limit:g}, which counts: "
                f"raise it with --{name.replace('_', '-')} or in your own configuration"
            )
        return min(own_limit, project_limit or own_limit)

    return EngineLimits(
        tokens=int(limit("max_tokens", usual.tokens)),
        seconds=float(limit("max_seconds", usual.seconds)),
        steps=int(limit("max_steps", usual.steps)),
    )


def _projects_table(path: Path) -> GoalTable:
    """Return the table ``goal`` of a configuration, an empty one where there is none and none was named."""
    if not path.exists() and path == nearest_config():
        return GoalTable()
    return load_config(path).config.goal
