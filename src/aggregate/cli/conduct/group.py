"""The group ``conduct``, which alone lists the tracks."""

from pathlib import Path

import click

from aggregate.cli.options import config_option
from aggregate.cli.program import CONDUCT, LazyGroup


class ConductGroup(LazyGroup):
    table = CONDUCT


@click.group(
    cls=ConductGroup, invoke_without_command=True, subcommand_metavar="[COMMAND] [ARGS]..."
)
@config_option
@click.pass_context
def conduct(context: click.Context, config: Path) -> None:
    """Run the tickets of a track by many workers, and look after such runs.

    Without a command: list the tracks. A track that is called like a command is reached behind run, such as aggregate
    conduct run status.
    """
    context.default_map = {name: {"config": config} for name in CONDUCT}
    if context.invoked_subcommand is None:
        from aggregate.cli.conduct.tracks import print_tracks

        print_tracks(config)
