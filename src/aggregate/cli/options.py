"""Options that several commands take."""

from pathlib import Path

import click

from aggregate.config.discover import CONFIG_NAME, nearest_config

_PATH = click.Path(path_type=Path, dir_okay=False)

config_option = click.option(
    "-c",
    "--config",
    type=_PATH,
    callback=lambda _context, _option, named: nearest_config() if named is None else named,
    help=f"Read this configuration; by default the nearest {CONFIG_NAME}, up to the root of the repository.",
)
new_config_option = click.option(
    "-c", "--config", type=_PATH, default=Path(CONFIG_NAME), show_default=True, help="Write this file."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
