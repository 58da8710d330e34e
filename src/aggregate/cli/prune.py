"""``prune``: delete old prompts."""

from pathlib import Path

import click

from aggregate.cli.opened_project import open_project_here
from aggregate.cli.options import config_option
from aggregate.cli.output import write_path
from aggregate.prompt import prune_outputs, request_for


@click.command()
@config_option
@click.option(
    "--keep",
    type=click.IntRange(min=0),
    required=True,
    metavar="N",
    help="Keep this many of the newest prompts.",
)
def prune(config: Path, keep: int) -> None:
    """Delete all but the newest prompts; print what was deleted."""
    request = request_for(open_project_here(config), with_history=False)
    for path in prune_outputs(
        request.output_dir, request.namespace, keep=keep, project=request.written_in
    ):
        write_path(path)
