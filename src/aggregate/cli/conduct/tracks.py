"""Write a track by ``conduct new``, and list those that there are."""

from datetime import UTC, datetime
from pathlib import Path

import click

from aggregate.agents.tracks import list_tracks, new_track
from aggregate.base.disk import UnreadableError, read_text
from aggregate.cli.options import config_option
from aggregate.cli.output import say, write_path, write_rows
from aggregate.prompt import open_project


@click.command()
@click.argument("name")
@click.option(
    "--question", default="", metavar="TEXT", help="Let the track answer this; by default NAME."
)
@click.option(
    "--spec",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="Make a ticket of each requirement of this specification.",
)
@config_option
def new(name: str, question: str, spec: Path | None, config: Path) -> None:
    """Write a track NAME from a question, or from a spec.md.

    Its files are made without a model; print the path of its tickets.
    """
    if spec and question:
        raise click.UsageError("--spec and --question exclude each other: take one of them")
    project = open_project(config)
    try:
        text = read_text(spec) if spec else ""
    except (UnreadableError, OSError, UnicodeDecodeError) as error:
        raise click.UsageError(f"{spec}: cannot be read ({error})") from None
    tickets = new_track(project.folder, name, time=datetime.now(UTC), question=question, spec=text)
    write_path(tickets)
    say(f"next: aggregate conduct run {tickets.parent.name} --dry-run")


def print_tracks(config: Path) -> None:
    """Print the tracks of the project with this configuration, each with its mark."""
    tracks = list_tracks(open_project(config).folder)
    if not tracks:
        say(
            "no tracks: each is a line of conductor/tracks.md and a folder in conductor/tracks/; "
            'to write one: aggregate conduct new NAME --question "..."'
        )
    for track in tracks:
        write_rows(f"[{track.checkbox.value}] {track.track_id or '(no link)'}: {track.description}")
