"""The group ``conduct``, which alone lists the tracks."""

from pathlib import Path

import click

from aggregate.cli import lazy
from aggregate.cli.commands import CONDUCT, LazyGroup
from aggregate.cli.conduct.old_spelling import BY_TRACK, by_track
from aggregate.cli.options import config_option


class ConductGroup(LazyGroup):
    """Its commands; what begins with anything else is spelled as in the last release: a track and flags."""

    table = CONDUCT

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or take all arguments for those of the old spelling."""
        # The old spelling has one argument; what has two begins with a mistyped command.
        mistyped = not any(argument.startswith("-") for argument in args[:2]) and len(args) > 1
        if args[0] in self.table or mistyped or ctx.resilient_parsing:
            return super().resolve_command(ctx, args)
        return BY_TRACK, by_track, args


@click.group(
    cls=ConductGroup,
    invoke_without_command=True,
    subcommand_metavar="[COMMAND] [ARGS]...",
    context_settings={"ignore_unknown_options": True},  # flags before a track, in the old spelling
)
@config_option
@click.pass_context
def conduct(context: click.Context, config: Path) -> None:
    """Run the tickets of a track by many workers, and look after such runs.

    Without a command: list the tracks. A track that is called like a command is reached behind run, such as aggregate
    conduct run status.
    """
    context.default_map = {name: {"config": config} for name in (*CONDUCT, BY_TRACK)}
    if context.invoked_subcommand is None:
        lazy.print_tracks(config)
