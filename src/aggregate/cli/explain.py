"""``explain``: which files a prompt shows, how much of each, and why."""

import json
import re
from pathlib import Path

import click

from aggregate.base.errors import ConfigError
from aggregate.base.text import path_meant
from aggregate.base.values import Audit, FileChoice
from aggregate.cli.audit_table import print_audit, print_rows
from aggregate.cli.audited_prompts import audited_prompt, is_prompt, newest_prompt
from aggregate.cli.opened_project import open_project_here
from aggregate.cli.options import config_option, json_option
from aggregate.cli.output import write_result
from aggregate.cli.path_arguments import from_here
from aggregate.project.paths import compile_glob, is_glob
from aggregate.prompt import Request, audit_data, is_named, request_for, row_data


@click.command()
@click.argument("number", required=False, metavar="[N]", type=click.Path())
@click.argument("path", required=False, metavar="[PATH]", type=click.Path())
@config_option
@json_option
def explain(number: str | None, path: str | None, config: Path, as_json: bool) -> None:
    """Show what was decided about each file of a prompt, and why.

    N is the number or path of a prompt that was written for a task or a budget, by default the newest; PATH, a file or
    a glob, tells everything about these, also about what was left out.
    """
    project = open_project_here(config)
    request = request_for(project, with_history=False)
    if number is not None and path is None and not is_prompt(number, request):
        number, path = None, number
    prompt, audit = newest_prompt(request) if number is None else audited_prompt(number, request)
    if path is None:
        if as_json:
            write_result(json.dumps(audit_data(audit), indent=2))
        else:
            print_audit(audit, title=prompt.name)
        return
    rows = _matching(audit, path, request)
    if not rows:
        meant = path_meant(path, [row.path for row in audit.rows])
        raise ConfigError(
            f"no candidate of {prompt.name} is called {path}{meant}", path=str(prompt)
        )
    if as_json:
        write_result(json.dumps([row_data(row) for row in rows], indent=2))
    else:
        print_rows(audit, rows)


def _matching(audit: Audit, path: str, request: Request) -> list[FileChoice]:
    """Return the rows that a path or a glob of the current folder names, else by a part of their paths."""
    named = from_here([path], request.base_dir)[0]
    exact = [row for row in audit.rows if row.path in (named, path)]
    if exact:
        return exact
    if not is_glob(named):
        return [row for row in audit.rows if is_named(row.path, row.entry, [named])]
    pattern = _compiled(named)
    return [row for row in audit.rows if pattern.fullmatch(row.path)]


def _compiled(glob: str) -> re.Pattern[str]:
    try:
        return compile_glob(glob)
    except ValueError as error:
        raise click.UsageError(f"{glob[:100]}: {error}") from None
