"""``conduct forget``: delete runs from the database."""

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
def forget(track: str, config: Path, database: str) -> None:
    """Delete the runs of TRACK that are over from the database; their files stay."""
    forgotten = run_control.forget(open_project(config), track, database=database)
    if not forgotten:
        write_rows("no run that is over")
    for run_id in forgotten:
        write_rows(f"forgot {run_id}")
