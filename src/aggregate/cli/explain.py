"""``explain``, ``diff`` and ``prune``: the prompts that were written, what they show, and why."""

import json
import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

import click

from aggregate.base.disk import is_file
from aggregate.base.errors import ConfigError
from aggregate.base.text import path_meant
from aggregate.base.values import Audit, FileChoice
from aggregate.cli.opened_project import from_here, open_project_here
from aggregate.cli.options import config_option, json_option
from aggregate.cli.output import (
    is_terminal,
    write_path,
    write_rendered,
    write_result,
    write_rows,
)
from aggregate.project.paths import compile_glob, is_glob
from aggregate.prompt import (
    Request,
    audit_data,
    audit_path,
    compare_manifests,
    footing_lines,
    heading_lines,
    is_named,
    newest_audited,
    numbered_files,
    prune_outputs,
    read_audit,
    request_for,
    request_log_path,
    row_data,
    row_lines,
    table_lines,
)
from aggregate.sending import find_prompt, read_request
from aggregate.sending.cache import compare_prefixes


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
    try:
        pattern = compile_glob(named)
    except ValueError as error:
        raise click.UsageError(f"{named[:100]}: {error}") from None
    return [row for row in audit.rows if pattern.fullmatch(row.path)]


def print_audit(audit: Audit, *, title: str = "") -> None:
    """Print an account: what it is about, its files by tokens, and what else takes tokens or was cut.

    Args:
        audit: The account.
        title: What the prompt is called, ``""`` where it was not written.
    """
    is_on_terminal = is_terminal()
    width = shutil.get_terminal_size().columns if is_on_terminal else 0
    bold, plain = ("\x1b[1m", "\x1b[0m") if is_on_terminal else ("", "")
    write_rows(*heading_lines(audit, title))
    if audit.rows:
        header, *rows = table_lines(audit, width=width)
        write_rendered(f"{bold}{header}{plain}\n" + "".join(f"{row}\n" for row in rows))
    write_rows(*footing_lines(audit))


def print_rows(audit: Audit, rows: Sequence[FileChoice]) -> None:
    """Print everything about some files of an account."""
    for number, row in enumerate(rows):
        write_rows(*([""] if number else []), *row_lines(audit, row))


_HOW = "aggregate run with --task or --budget records what its prompt is made of"


def is_prompt(name: str, request: Request) -> bool:
    """Tell whether a person's word names a prompt, by its number or its path, and no file of the project."""
    if re.fullmatch(r"[0-9]+", name):
        return True
    path = Path(name)
    if any(is_file(record(path)) for record in (audit_path, request_log_path) if path.name):
        return True
    written = (prompt for _, prompt in numbered_files(request.output_dir, request.namespace))
    return os.path.realpath(path) in map(os.path.realpath, written)


def audited_prompt(name: str, request: Request) -> tuple[Path, Audit]:
    """Return the prompt that a person names, and its account."""
    path = find_prompt(request.output_dir, request.namespace, name)
    audit = read_audit(path)
    if audit is None:
        reason = "nothing is recorded of what" if path.exists() else "there is no prompt"
        ending = " this prompt is made of" if path.exists() else ""
        raise ConfigError(f"{reason}{ending}: {_HOW}", path=str(path))
    return path, audit


def newest_prompt(request: Request) -> tuple[Path, Audit]:
    """Return the newest prompt that has an account, and that."""
    newest = newest_audited(request.output_dir, request.namespace)
    if newest is None:
        raise ConfigError(f"no prompt in {request.output_dir} has an account of its lines: {_HOW}")
    return newest


@click.command()
@click.argument("earlier")
@click.argument("later")
@config_option
def diff(earlier: str, later: str, config: Path) -> None:
    """Show how many tokens of the prefix of EARLIER are kept in LATER, and which file ends it.

    Both are numbers or paths of prompts that run or send has written. Where both were written for a task or a budget,
    the files follow that are new, gone, changed or shown at another level.
    """
    request = request_for(open_project_here(config), with_history=False)
    fingerprints, audits = [], []
    for name in (earlier, later):
        path = find_prompt(request.output_dir, request.namespace, name)
        logged = read_request(path)
        if logged is None:
            raise ConfigError(
                "nothing is recorded of this prompt: name one that run or send has written",
                path=str(path),
            )
        fingerprints.append(logged.fingerprint)
        audits.append(read_audit(path))
    write_rows(compare_prefixes(*fingerprints).sentence)
    before, after = audits
    if before and after:
        write_rows(*compare_manifests(before, after))


@click.command()
@config_option
@click.option(
    "--keep",
    type=click.IntRange(min=0),
    required=True,
    metavar="N",
    help="Keep this many of the newest prompts.",
)
def prune(config: Path, keep: int) -> None:
    """Delete all but the newest prompts; print what was deleted."""
    request = request_for(open_project_here(config), with_history=False)
    for path in prune_outputs(
        request.output_dir, request.namespace, keep=keep, project=request.written_in
    ):
        write_path(path)
