"""``schema``: what a configuration may hold."""

import json

import click

from aggregate.cli.output import write_result
from aggregate.config.schema import json_schema


@click.command()
def schema() -> None:
    """Print the JSON Schema of manual_slop.toml."""
    write_result(json.dumps(json_schema(), indent=2))
