"""``cache``: show and empty the index of what was computed from files' contents."""

import json
from pathlib import Path

import click

from aggregate.base.errors import ConfigError
from aggregate.cli.commands import Described
from aggregate.cli.options import json_option
from aggregate.cli.output import warn, write_path, write_result, write_rows
from aggregate.project.index import byte_limit, clear_index, index_path, read_report


@click.group(cls=Described, invoke_without_command=True, subcommand_metavar="[COMMAND] [ARGS]...")
@json_option
@click.pass_context
def cache(context: click.Context, as_json: bool) -> None:
    """Show where results are kept for the next run, how many, and how often they were of use."""
    if context.invoked_subcommand is not None:
        if as_json:
            raise click.UsageError("--json is for showing the cache: leave it out here")
        return
    report, warning = read_report(_path(), byte_limit())
    if as_json:
        write_result(json.dumps(report._asdict() | {"path": str(report.path)}, indent=2))
    else:
        for name, value in report._asdict().items():
            write_rows(f"{name:<8} {value:,}" if isinstance(value, int) else f"{name:<8} {value}")
    if warning:
        warn(warning)


@cache.command()
def clear() -> None:
    """Delete all that is kept; print the path of what was deleted."""
    path = _path()
    if clear_index(path):
        write_path(path)


def _path() -> Path:
    path = index_path()
    if path is None:
        raise ConfigError("there is no home folder to keep anything in: set AGGREGATE_CACHE_DIR")
    return path
