"""``conduct resume``: go on with a run that was interrupted, or in which something failed."""

from pathlib import Path
from typing import Unpack

import click

from aggregate.cli.conduct.options import RunSettings, run_options, track_argument
from aggregate.cli.conduct.start import start_track
from aggregate.prompt import open_project


@click.command()
@track_argument
@run_options
def resume(
    track: str,
    config: Path,
    allow_outside: bool | None,
    allow_secrets: bool | None,
    **settings: Unpack[RunSettings],
) -> None:
    """Go on with the latest run of TRACK: what is open, and what failed, is run.

    What is done stays as it is. It ends as run does: with the report's path, and with exit code 1 if a ticket failed.
    """
    project = open_project(config, allow_outside=allow_outside, allow_secrets=allow_secrets)
    start_track(project, track, **settings, resume=True)
