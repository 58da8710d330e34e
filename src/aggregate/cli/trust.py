"""``trust``: which projects may read files outside of them."""

from pathlib import Path

import click

from aggregate.cli.output import write_path
from aggregate.project.configuration import set_trust, trusted_projects


@click.command()
@click.argument("path", default=".", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--remove", is_flag=True, help="Trust the project no longer.")
@click.option("--list", "show", is_flag=True, help="Print the projects that are trusted.")
def trust(path: Path, remove: bool, show: bool) -> None:
    """Let the project around PATH read files outside of it; print its root.

    It is written to your own configuration, which no project can change. Files that look like secrets need
    --allow-secrets all the same.
    """
    if remove and show:
        raise click.UsageError("--remove and --list exclude each other: take one of them")
    if show:
        for root in trusted_projects():
            write_path(Path(root))
    else:
        write_path(Path(set_trust(path, trusted=not remove)))
