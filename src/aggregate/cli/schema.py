"""``schema``: what a configuration may hold, and what an audit holds."""

import json

import click

from aggregate.cli import lazy
from aggregate.cli.output import write_result


@click.command()
@click.option(
    "--audit", is_flag=True, help="Print that of the audits that lie beside prompts instead."
)
def schema(audit: bool) -> None:
    """Print the JSON Schema of manual_slop.toml."""
    write_result(json.dumps(lazy.audit_schema() if audit else lazy.json_schema(), indent=2))
