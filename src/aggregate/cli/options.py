"""Options that several commands take."""

from pathlib import Path

import click

config_option = click.option(
    "-c",
    "--config",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("manual_slop.toml"),
    show_default=True,
    help="The project's configuration.",
)
redact_option = click.option(
    "--redact/--no-redact",
    default=None,
    help="Replace secrets, such as keys and passwords, by placeholders. [yes where a prompt is sent]",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
