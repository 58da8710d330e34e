"""``conduct``: list the tracks; ``conduct new``: write one."""

from datetime import UTC, datetime
from pathlib import Path

import click

from aggregate.cli.options import config_option
from aggregate.cli.output import say, write_path, write_rows
from aggregate.cli.program import CONDUCT, LazyGroup


class ConductGroup(LazyGroup):
    table = CONDUCT


@click.group(
    cls=ConductGroup, invoke_without_command=True, subcommand_metavar="[COMMAND] [ARGS]..."
)
@config_option
@click.pass_context
def conduct(context: click.Context, config: Path) -> None:
    """Run the tickets of a track with many workers.

    Without a command, list the tracks. Run a track named like a command so: aggregate conduct run status.
    """
    context.default_map = {name: {"config": config} for name in CONDUCT}
    if context.invoked_subcommand is None:
        _print_tracks(config)


def _print_tracks(config: Path) -> None:
    from aggregate.agents.tracks import list_tracks  # the help loads neither
    from aggregate.prompt import open_project

    tracks = list_tracks(open_project(config).folder)
    if not tracks:
        say(
            "no tracks: each is a line of conductor/tracks.md and a folder in conductor/tracks/; "
            'to write one: aggregate conduct new NAME --question "..."'
        )
    for track in tracks:
        write_rows(f"[{track.checkbox.value}] {track.track_id or '(no link)'}: {track.description}")


@click.command()
@click.argument("name")
@click.option(
    "--question", default="", metavar="TEXT", help="The question to answer; by default NAME."
)
@config_option
def new(name: str, question: str, config: Path) -> None:
    """Write a track NAME from a question; print its tickets' path.

    No model is asked.
    """
    from aggregate.agents.tracks import new_track  # the help loads neither
    from aggregate.prompt import open_project

    folder = open_project(config).folder
    tickets = new_track(folder, name, time=datetime.now(UTC), question=question)
    write_path(tickets)
    say(f"next: aggregate conduct run {tickets.parent.name} --dry-run")
