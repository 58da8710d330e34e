"""``explain``, ``locate`` and ``prune``: the prompts that were written, what they show, and why."""

import json
import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import click

from aggregate.base.disk.reading import CONTENT_BYTES, read_bytes
from aggregate.base.errors import ConfigError
from aggregate.base.messages import path_meant
from aggregate.base.request import FileChoice, Level
from aggregate.base.text import line_count
from aggregate.cli.asking import from_here, open_project_here
from aggregate.cli.options import config_option, json_option
from aggregate.cli.output import (
    is_terminal,
    say,
    write_path,
    write_rendered,
    write_result,
    write_rows,
)
from aggregate.project.files import decode
from aggregate.project.paths import compile_glob, is_glob
from aggregate.prompt import Request, is_named, request_for
from aggregate.prompt.audit import (
    Audit,
    audit_data,
    audit_lines,
    newest_audited,
    read_audit,
    row_lines,
)
from aggregate.prompt.document import Origin, OriginKind, SourceMap
from aggregate.prompt.numbered_output import is_prompt, prune_outputs
from aggregate.sending import find_prompt

_HOW = "aggregate run with --task or --budget records what its prompt is made of"


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
    request = request_for(open_project_here(config, prompt=number or ""), with_history=False)
    if (
        number is not None
        and path is None
        and not is_prompt(number, request.output_dir, request.namespace)
    ):
        number, path = None, number
    prompt, audit = newest_prompt(request) if number is None else audited_prompt(number, request)
    rows = _matching(audit, path, request) if path is not None else []
    if path is not None and not rows:
        meant = path_meant(path, [row.path for row in audit.rows])
        raise ConfigError(
            f"no candidate of {prompt.name} is called {path}{meant}", path=str(prompt)
        )
    if as_json:
        data = audit_data(replace(audit, rows=tuple(rows) or audit.rows))
        write_result(json.dumps(data["rows"] if rows else data, indent=2))
    elif rows:
        print_rows(audit, rows)
    else:
        print_audit(audit, title=prompt.name)


def _matching(audit: Audit, path: str, request: Request) -> list[FileChoice]:
    named = from_here(path, request.base_dir)
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
    width, bold, plain = 0, "", ""
    if is_terminal():
        width, bold, plain = shutil.get_terminal_size().columns, "\x1b[1m", "\x1b[0m"
    lines = audit_lines(audit, title=title, width=width)
    write_rows(*lines.heading)
    if lines.table:
        header, *rows = lines.table
        write_rendered(f"{bold}{header}{plain}\n" + "".join(f"{row}\n" for row in rows))
    write_rows(*lines.footing)


def print_rows(audit: Audit, rows: Sequence[FileChoice]) -> None:
    for number, row in enumerate(rows):
        write_rows(*([""] if number else []), *row_lines(audit, row))


def audited_prompt(name: str, request: Request) -> tuple[Path, Audit]:
    path = find_prompt(request.output_dir, request.namespace, name)
    audit = read_audit(path)
    if audit is None:
        reason = "there is no prompt"
        if path.exists():
            reason = "nothing is recorded of what this prompt is made of"
        raise ConfigError(f"{reason}: {_HOW}", path=str(path))
    return path, audit


def newest_prompt(request: Request) -> tuple[Path, Audit]:
    newest = newest_audited(request.output_dir, request.namespace)
    if newest is None:
        raise ConfigError(f"no prompt in {request.output_dir} has an account of its lines: {_HOW}")
    return newest


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


_PLACE = re.compile(r"(.+):([0-9]{1,10})", re.DOTALL)
_WHY_NOT = {
    Level.NAME: "only the file's name is shown",
    Level.LEFT_OUT: "the file was left out",
    Level.NONE: "the file's content is left out as its entry asks",
    Level.SUMMARY: "the file is shown by its summary",
}


@click.command()
@click.argument("place", metavar="PROMPT:LINE|PATH:LINE", type=click.Path())
@config_option
def locate(place: str, config: Path) -> None:
    """Print where a line of a prompt comes from, or a file's line stands.

    PROMPT is the number or path of a prompt that was written for a task or a budget. What no file holds is named:
    generated, a turn, a bead, a result, a screenshot. A line of a file is looked for in the newest such prompt.
    """
    match = _PLACE.fullmatch(place)
    if match is None:
        raise click.UsageError(f"{place}: name a line, as in 3:120 or src/a.py:12")
    name, line = match[1], int(match[2])
    request = request_for(open_project_here(config, prompt=name), with_history=False)
    if is_prompt(name, request.output_dir, request.namespace):
        _locate_in_prompt(name, line, request)
    else:
        _locate_in_file(from_here(name, request.base_dir), line, request)


def _locate_in_prompt(name: str, line: int, request: Request) -> None:
    prompt, audit = audited_prompt(name, request)
    source_map = _map_of(prompt, audit)
    origin = source_map.origin(line)
    if origin is None:
        raise ConfigError(
            f"the prompt has {source_map.lines:,} lines: there is no line {line:,}",
            path=str(prompt),
        )
    _tell_changed_prompt(prompt, audit)
    write_rows(_told(origin))
    if origin.kind is OriginKind.FILE:
        if origin.stands_for:
            say(f"{prompt.name}:{line} is {origin.stands_for}")
        data = _content(request.base_dir / origin.source)
        _tell_changed_file(origin.source, data, audit, origin.first, _shown(prompt, line, origin))


def _locate_in_file(path: str, line: int, request: Request) -> None:
    prompt, audit = newest_prompt(request)
    source_map = _map_of(prompt, audit)
    row = _row_of(path, audit)
    if row is None and path not in source_map.runs.sources:
        meant = path_meant(path, [row.path for row in audit.rows])
        remedy = meant or ": name one of those it was made of"
        raise ConfigError(f"{path} is no file of {prompt.name}{remedy}")
    number = source_map.find(path, line) or 0
    origin = source_map.origin(number) if number else None
    data = _content(request.base_dir / path)
    if origin is None:
        lines = line_count(decode(data).text) if data is not None else line
        if not 1 <= line <= lines:
            raise ConfigError(f"the file has {lines:,} lines: there is no line {line:,}", path=path)
    _tell_changed_prompt(prompt, audit)
    if origin is None:
        write_rows(f"{path}:{line} is not in {prompt.name}: {_why_not(row)}")
    else:
        write_rows(f"{os.path.relpath(prompt)}:{number}")
        if not origin.is_verbatim:
            say(f"it only stands for {path}:{line}: {origin.stands_for or _told(origin)}")
    _tell_changed_file(path, data, audit, line, _shown(prompt, number, origin))


def _row_of(path: str, audit: Audit) -> FileChoice | None:
    return next((row for row in audit.rows if row.path == path), None)


def _map_of(prompt: Path, audit: Audit) -> SourceMap:
    if audit.source_map is None:
        raise ConfigError("it is not recorded where its lines come from", path=str(prompt))
    return audit.source_map


def _told(origin: Origin) -> str:
    last = f"-{origin.last}" if origin.last != origin.first else ""
    lines = f"{origin.source}:{origin.first}{last}" if origin.first else ""
    if origin.kind is OriginKind.GENERATED:
        return f"generated: {origin.stands_for}{f' ({lines})' if lines else ''}"
    if origin.kind is OriginKind.FILE:
        return lines or origin.source
    return f"{origin.kind.value} {origin.source}"


def _why_not(row: FileChoice | None) -> str:
    if row is None:
        return "no part of the prompt is made of it"
    reason = _WHY_NOT.get(row.level, f"its level is {row.level.value}, which does not show it")
    more = f"; another tenth of the budget would make it {row.next.value}" if row.next else ""
    return f"{reason}{more}"


def _tell_changed_prompt(path: Path, audit: Audit) -> None:
    try:
        size = path.stat().st_size
    except OSError:
        say(f"{path.name} is not there any more")
        return
    if audit.size and size != audit.size:
        say(f"{path.name} has been edited since it was written: lines are those of then")


def _tell_changed_file(
    path: str, data: bytes | None, audit: Audit, line: int, shown: str | None
) -> None:
    row = _row_of(path, audit)
    if data is None:
        say(f"{path} is not there any more: lines are those of then")
        return
    if row is not None and row.content_hash:
        has_changed = sha256(data).hexdigest() != row.content_hash
    else:
        now = decode(data).text.split("\n")[line - 1 : line]
        has_changed = shown is not None and now != [shown]
    if has_changed:
        say(f"{path} has changed since the prompt was written: lines are those of then")


def _shown(prompt: Path, line: int, origin: Origin | None) -> str | None:
    """Return a line of a prompt as it is now, ``None`` where it shows no line of a file as it is."""
    data = _content(prompt) if origin is not None and origin.is_verbatim else None
    lines = decode(data).text.split("\n") if data is not None else []
    return lines[line - 1] if 0 < line <= len(lines) else None


def _content(path: Path) -> bytes | None:
    try:
        return read_bytes(path, limit=CONTENT_BYTES)
    except (OSError, ValueError):
        return None
