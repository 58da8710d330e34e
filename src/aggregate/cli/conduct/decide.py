"""``conduct approve`` and ``conduct reject``: decide about a ticket that waits for it."""

from pathlib import Path

import click

from aggregate.agents.tracks import run_control
from aggregate.cli.conduct.options import database_option, track_argument
from aggregate.cli.options import config_option
from aggregate.cli.output import write_rows
from aggregate.prompt import open_project

_ticket_argument = click.argument("ticket")
_note_option = click.option(
    "--note", default="", metavar="TEXT", help="Say why; what depends on the ticket is shown it."
)


@click.command()
@track_argument
@_ticket_argument
@_note_option
@config_option
@database_option
def approve(track: str, ticket: str, note: str, config: Path, database: str) -> None:
    """Approve TICKET, which waits for it; what depends on it is run."""
    _decide(track, ticket, note, config=config, database=database, approved=True)


@click.command()
@track_argument
@_ticket_argument
@_note_option
@config_option
@database_option
def reject(track: str, ticket: str, note: str, config: Path, database: str) -> None:
    """Reject TICKET, which waits for approval; what depends on it is not run."""
    _decide(track, ticket, note, config=config, database=database, approved=False)


def _decide(
    track: str, ticket: str, note: str, *, config: Path, database: str, approved: bool
) -> None:
    project = open_project(config)
    run_id = run_control.decide(
        project, track, ticket, approved=approved, note=note, database=database
    )
    write_rows(f"{'approved' if approved else 'rejected'} {ticket} of {run_id}")
