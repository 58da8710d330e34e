"""Commands for all projects of a user: ``cache``, ``costs``, ``trust``, ``languages`` and ``schema``."""

from datetime import date, timedelta
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from aggregate.base.errors import ConfigError
from aggregate.base.messages import install_command
from aggregate.cli.options import flag, json_option, number, option
from aggregate.cli.output import counted, say, warn, write_json, write_path, write_rows
from aggregate.cli.program import Described
from aggregate.code.syntax import LANGUAGES
from aggregate.project.configuration import forget_configs, set_trust, user_config
from aggregate.project.git import forget_remotes
from aggregate.project.index import byte_limit, clear_index, index_path, read_report

if TYPE_CHECKING:
    from aggregate.sending import Charge


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


_FIELDS = ("day", "project", "provider", "model")


@click.command()
@number("--days", "Show the last N days, including today.", metavar="INTEGER", default=30)
@option("--by", "", "Group the costs only by this.", type=click.Choice(["day", "project", "model"]))
@json_option
def costs(days: int, by: str | None, as_json: bool) -> None:
    """Show your costs and cache savings by day, project and model.

    The sums are stored in your state folder. A request of unknown price adds only tokens.
    """
    from aggregate.sending import Charge, charges  # slow to load

    first = (date.today() - timedelta(days=days - 1)).isoformat()
    names = {None: _FIELDS, "model": ("provider", "model")}.get(by, (by,))
    blanks: dict[str, Any] = {name: "" for name in _FIELDS if name not in names}
    sums: dict[tuple[str, ...], Charge] = {}
    for row in charges():
        if row.day >= first:
            charge = row._replace(**blanks)
            key = charge[:4]  # of ``_FIELDS``
            sums[key] = sums[key].plus(charge) if key in sums else charge
    rows = [sums[key] for key in sorted(sums)]
    if as_json:
        amounts = [{"dollars": float(row.dollars), "saved": float(row.saved)} for row in rows]
        write_json([row._asdict() | amount for row, amount in zip(rows, amounts, strict=True)])
        return
    write_rows(*map(_charge_line, rows))
    if rows:
        total = reduce(Charge.plus, rows, Charge())
        say("in all: " + _charge_line(total).replace("\t", "; "))
    else:
        say(f"no requests in the last {days:,} days")


def _charge_line(row: "Charge") -> str:
    names = (row.day, row.project, f"{row.provider} {row.model}".strip())
    share = f"{row.cache_read / row.input:.0%}" if row.input else "0%"
    tokens = (f"{row.input:,} tokens in, {share} read", f"{row.output:,} out")
    columns = (*names, counted(row.requests, "request"), *tokens, row.price, row.saving)
    return "\t".join(filter(None, columns))


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
    for root in user_config().trust.projects if show else [set_trust(path, trusted=not remove)]:
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
