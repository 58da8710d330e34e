"""``conduct cancel``: end a run."""

from pathlib import Path

import click

from aggregate.agents.tracks import run_control
from aggregate.cli.conduct.options import database_option, track_argument
from aggregate.cli.options import config_option
from aggregate.cli.output import write_rows
from aggregate.prompt import open_project


@click.command()
@track_argument
@config_option
@database_option
def cancel(track: str, config: Path, database: str) -> None:
    """End the run of TRACK that is under way."""
    run_id = run_control.cancel(open_project(config), track, database=database)
    write_rows(f"cancelled {run_id}")
