"""Write a track by ``conduct new``, and list those that there are."""

from datetime import UTC, datetime
from pathlib import Path

import click

from aggregate.agents.tracks import list_tracks, new_track
from aggregate.cli.options import config_option
from aggregate.cli.output import say, write_path, write_rows
from aggregate.prompt import open_project


@click.command()
@click.argument("name")
@click.option(
    "--question", default="", metavar="TEXT", help="Let the track answer this; by default NAME."
)
@config_option
def new(name: str, question: str, config: Path) -> None:
    """Write a track NAME from a question.

    Its files are made without a model; print the path of its tickets.
    """
    folder = open_project(config).folder
    tickets = new_track(folder, name, time=datetime.now(UTC), question=question)
    write_path(tickets)
    say(f"next: aggregate conduct run {tickets.parent.name} --dry-run")


def print_tracks(config: Path) -> None:
    tracks = list_tracks(open_project(config).folder)
    if not tracks:
        say(
            "no tracks: each is a line of conductor/tracks.md and a folder in conductor/tracks/; "
            'to write one: aggregate conduct new NAME --question "..."'
        )
    for track in tracks:
        write_rows(f"[{track.checkbox.value}] {track.track_id or '(no link)'}: {track.description}")
