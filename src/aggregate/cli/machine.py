"""``cache``, ``trust``, ``languages`` and ``schema``: commands for all projects of this machine."""

from pathlib import Path

import click

from aggregate.base.errors import ConfigError
from aggregate.base.messages import install_command
from aggregate.cli.options import flag, json_option
from aggregate.cli.output import say, warn, write_json, write_path, write_rows
from aggregate.cli.program import Described
from aggregate.code.syntax import LANGUAGES
from aggregate.project.configuration import forget_configs, set_trust, trusted_projects
from aggregate.project.git import forget_remotes
from aggregate.project.index import byte_limit, clear_index, index_path, read_report


@click.group(cls=Described, invoke_without_command=True, subcommand_metavar="[COMMAND] [ARGS]...")
@json_option
@click.pass_context
def cache(context: click.Context, as_json: bool) -> None:
    """Show the cache's path, entries, size and hits."""
    context.obj = index_path()
    if context.obj is None:
        raise ConfigError(
            "there is no home folder for the cache: set AGGREGATE_CACHE_DIR to a folder"
        )
    if context.invoked_subcommand is not None:
        if as_json:
            raise click.UsageError("--json only shows the cache: leave it out with a command")
        return
    report, warning = read_report(context.obj, byte_limit())
    if as_json:
        write_json(report._asdict() | {"path": str(report.path)})
    else:
        for name, value in report._asdict().items():
            write_rows(f"{name:<8} {value:,}" if isinstance(value, int) else f"{name:<8} {value}")
    if warning:
        warn(warning)


@cache.command()
@click.pass_obj
def clear(path: Path) -> None:
    """Delete the cache; print its path."""
    forget_configs()
    forget_remotes(path.parents[1])
    if clear_index(path):
        write_path(path)


@click.command()
@click.argument("path", default=".", type=click.Path(path_type=Path, exists=True, file_okay=False))
@flag("--remove", "Stop trusting the project.")
@flag("--list show", "Print the trusted projects.")
def trust(path: Path, remove: bool, show: bool) -> None:
    """Let the project around PATH read files outside; print its root.

    Your own configuration stores this; projects cannot change it. Files that look like secrets still need
    --allow-secrets.
    """
    if remove and show:
        raise click.UsageError("--remove and --list exclude each other: use one of them")
    for root in trusted_projects() if show else [set_trust(path, trusted=not remove)]:
        write_path(Path(root))


@click.command()
def languages() -> None:
    """List the languages with their suffixes."""
    width = max(len(language.name) for language in LANGUAGES)
    for language in LANGUAGES:
        names = " ".join((*language.suffixes, *language.names))
        missing = "" if language.is_installed else "  (not installed)"
        write_rows(f"{language.name:<{width}}  {language.kind.value}  {names}{missing}")
    if not all(language.is_installed for language in LANGUAGES):
        say(f"to install the others: {install_command('languages')}")


@click.command()
@flag("--audit", "Print the schema of prompts' audits instead.")
def schema(audit: bool) -> None:
    """Print the JSON Schema of manual_slop.toml."""
    if audit:
        from aggregate.prompt.audit import audit_schema as schema_of
    else:
        from aggregate.project.tables import json_schema as schema_of
    write_json(schema_of())
