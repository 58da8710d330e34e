"""The list of a project's tracks."""

from pathlib import Path

from aggregate.agents.tracks import list_tracks
from aggregate.cli.output import say, write_rows
from aggregate.prompt import open_project


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
