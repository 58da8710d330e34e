"""``panel``: compose by eye."""

from importlib.util import find_spec
from pathlib import Path

import click

from aggregate.base.errors import ConfigError
from aggregate.cli import lazy
from aggregate.cli.opened_project import open_asked_project
from aggregate.cli.options import config_option
from aggregate.cli.output import say, write_result


@click.command()
@config_option
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    metavar="PORT",
    help="Listen at this port; by default at the last one of this project, or, as with 0, any that is free.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Listen on this address.")
@click.option("--no-open", is_flag=True, help="Print the address, and open no browser.")
def panel(config: Path, port: int | None, host: str, no_open: bool) -> None:
    """Compose the prompt by eye, on a page in the browser; Ctrl-C ends it.

    The page edits the configuration and its presets, and shows what a run would write, as it changes. Nothing is
    written or sent before you say so there. The address that is printed opens one browser, once: who opens it may edit
    and send.
    """
    if find_spec("starlette") is None or find_spec("uvicorn") is None:
        raise ConfigError('aggregate panel needs another package: pip install "manual-slop[panel]"')
    open_asked_project(config, is_asked=True, allow_outside=None, allow_secrets=None)
    lazy.serve_panel(config, host=host, port=port, opens=not no_open, say=say, show=write_result)
