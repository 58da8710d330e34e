"""``conduct retry``: run tickets of a run once more."""

from pathlib import Path
from typing import Unpack

import click

from aggregate.cli.conduct.options import RunSettings, run_options, track_argument
from aggregate.cli.conduct.start import start_track
from aggregate.prompt import open_project


@click.command()
@track_argument
@click.argument("tickets", nargs=-1, required=True)
@run_options
@click.option("--only", is_flag=True, help="Leave what depends on them as it is.")
def retry(
    track: str,
    tickets: tuple[str, ...],
    config: Path,
    allow_outside: bool | None,
    allow_secrets: bool | None,
    only: bool,
    **settings: Unpack[RunSettings],
) -> None:
    """Run TICKETS of the latest run of TRACK once more, and all that depend on them.

    What they came to before is replaced. One child of a list is named as fan[2]. It ends as run does.
    """
    project = open_project(config, allow_outside=allow_outside, allow_secrets=allow_secrets)
    start_track(project, track, **settings, retry=tickets, only=only)
