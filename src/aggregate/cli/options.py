"""Options that several commands take."""

from collections.abc import Callable
from pathlib import Path

import click

from aggregate.models.scope import ALLOW_OUTSIDE, ALLOW_SECRETS

config_option = click.option(
    "-c",
    "--config",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("manual_slop.toml"),
    show_default=True,
    help="The project's configuration.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")


def scope_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that permit what a project's own files may not."""
    outside = click.option(ALLOW_OUTSIDE, is_flag=True, help="Read files outside the project that its files name.")
    secrets = click.option(ALLOW_SECRETS, is_flag=True, help="Read files that look like secrets where they are named.")
    return outside(secrets(command))
