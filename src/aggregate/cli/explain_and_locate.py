"""``explain``, ``locate`` and ``prune``: inspect and delete written prompts."""

import os
import re
import shutil
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import click

from aggregate.base.disk.reading import CONTENT_BYTES, read_bytes
from aggregate.base.errors import ConfigError
from aggregate.base.nearest_names import path_meant
from aggregate.base.task_budget import FileChoice, Level
from aggregate.base.text import line_count
from aggregate.cli import output
from aggregate.cli.arguments import from_here, open_project_here
from aggregate.cli.options import config_option, json_option, option
from aggregate.project.files import decode
from aggregate.project.paths import compile_glob, is_glob
from aggregate.prompt import audit as audits, request_for
from aggregate.prompt.asking import Request, is_named
from aggregate.prompt.audit import Audit
from aggregate.prompt.document import Origin, OriginKind, SourceMap
from aggregate.prompt.output.numbered_output import is_prompt, numbered_files, prune_outputs

_HOW = "only aggregate run with --task or --budget records the sources of its prompt"


@click.command()
@click.argument("number", required=False, metavar="[N]", type=click.Path())
@click.argument("path", required=False, metavar="[PATH]", type=click.Path())
@config_option
@json_option
def explain(number: str | None, path: str | None, config: Path, as_json: bool) -> None:
    """Show how much of each file a prompt contains, and why.

    N is the number or path of a prompt for a task or a budget, by default the newest. PATH, a file or a glob, shows all
    details of these files, also of omitted ones.
    """
    request = request_for(open_project_here(config, prompt=number or ""), with_history=False)
    is_number = number is None or is_prompt(number, request.output_dir, request.namespace)
    if path is None and not is_number:
        number, path = None, number
    prompt, audit = newest_prompt(request) if number is None else audited_prompt(number, request)
    rows = _matching(audit, path, request) if path is not None else []
    if path is not None and not rows:
        hint = path_meant(path, [row.path for row in audit.rows])
        if os.path.lexists(request.base_dir / from_here(path, request.base_dir)):
            hint = ": git ignores it, it is generated or binary, or paths, --include or --exclude leave it out"
        raise ConfigError(f"{path} is not a candidate of {prompt.name}{hint}", path=str(prompt))
    if as_json:
        data = audits.audit_data(replace(audit, rows=tuple(rows) or audit.rows))
        output.write_json(data["rows"] if rows else data)
    elif rows:
        for position, row in enumerate(rows):
            output.write_rows(*([""] if position else []), *audits.row_lines(audit, row))
    else:
        print_audit(audit, title=prompt.name)


def _matching(audit: Audit, path: str, request: Request) -> list[FileChoice]:
    name = from_here(path, request.base_dir)
    exact = [row for row in audit.rows if row.path in (name, path)]
    if exact:
        return exact
    if not is_glob(name):
        return [row for row in audit.rows if is_named(row.path, row.entry, [name])]
    try:
        pattern = compile_glob(name)
    except ValueError as error:
        raise click.UsageError(f"{name[:100]}: {error}") from None
    return [row for row in audit.rows if pattern.fullmatch(row.path)]


def print_audit(audit: Audit, *, title: str = "") -> None:
    width, bold, plain = 0, "", ""
    if output.is_terminal():
        width, bold, plain = shutil.get_terminal_size().columns, "\x1b[1m", "\x1b[0m"
    lines = audits.audit_lines(audit, title=title, width=width)
    output.write_rows(*lines.heading)
    if lines.table:
        header, *rows = lines.table
        output.write_rendered(f"{bold}{header}{plain}\n" + "".join(f"{row}\n" for row in rows))
    output.write_rows(*lines.footing)


def audited_prompt(name: str, request: Request) -> tuple[Path, Audit]:
    path = find_prompt(request.output_dir, request.namespace, name)
    audit = audits.read_audit(path)
    if audit is None:
        reason = "this prompt has no audit" if path.exists() else "no such prompt"
        raise ConfigError(f"{reason}: {_HOW}", path=str(path))
    return path, audit


def newest_prompt(request: Request) -> tuple[Path, Audit]:
    newest = audits.newest_audited(request.output_dir, request.namespace)
    if newest is None:
        raise ConfigError(f"no prompt in {request.output_dir} has an audit: {_HOW}")
    return newest


@click.command()
@config_option
@option(
    "--keep", "N", "Keep this many of the newest prompts.", type=click.IntRange(0), required=True
)
def prune(config: Path, keep: int) -> None:
    """Delete all but the newest prompts; print the deleted paths."""
    request = request_for(open_project_here(config), with_history=False)
    folder, project = request.output_dir, request.written_in
    for path in prune_outputs(folder, request.namespace, keep=keep, project=project):
        output.write_path(path)


_PLACE = re.compile(r"(.+):([0-9]{1,10})", re.DOTALL)
_WHY_NOT = {
    Level.NAME: "only the file's name is shown",
    Level.LEFT_OUT: "the file was left out",
    Level.NONE: "the file's configured entry leaves its content out",
    Level.SUMMARY: "only the file's summary is shown",
}


@click.command()
@click.argument("place", metavar="PROMPT:LINE|PATH:LINE", type=click.Path())
@config_option
def locate(place: str, config: Path) -> None:
    """Find a prompt's line in the files, or a file's line in the prompt.

    PROMPT is the number or path of a prompt for a task or a budget. A source is a file, generated text, a turn, a bead,
    a result or a screenshot. A file's line is searched in the newest such prompt.
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
        reason = f"the prompt has {source_map.lines:,} lines, but no line {line:,}"
        raise ConfigError(reason, path=str(prompt))
    _report_changed_prompt(prompt, audit)
    output.write_rows(_described(origin))
    if origin.kind is OriginKind.FILE:
        if origin.stands_for:
            output.say(f"{prompt.name}:{line} is {origin.stands_for}")
        data = _content(request.base_dir / origin.source)
        copy = _verbatim_line(prompt, line, origin)
        _report_changed_file(origin.source, data, audit, origin.first, copy)


def _locate_in_file(path: str, line: int, request: Request) -> None:
    prompt, audit = newest_prompt(request)
    source_map = _map_of(prompt, audit)
    row = _row_of(path, audit)
    if row is None and not any(source_map.runs_of(path)):
        hint = path_meant(path, [row.path for row in audit.rows])
        remedy = hint or ": aggregate explain lists its files"
        raise ConfigError(f"{path} is not a file of {prompt.name}{remedy}")
    number = source_map.find(path, line) or 0
    origin = source_map.origin(number) if number else None
    data = _content(request.base_dir / path)
    if origin is None:
        lines = line_count(decode(data).text) if data is not None else line
        if not 1 <= line <= lines:
            raise ConfigError(f"the file has {lines:,} lines, but no line {line:,}", path=path)
    _report_changed_prompt(prompt, audit)
    if origin is None:
        output.write_rows(f"{path}:{line} is not in {prompt.name}: {_why_not(row)}")
    else:
        output.write_rows(f"{os.path.relpath(prompt)}:{number}")
        if not origin.is_verbatim:
            source = origin.stands_for or _described(origin)
            output.say(f"it only represents {path}:{line}: {source}")
    _report_changed_file(path, data, audit, line, _verbatim_line(prompt, number, origin))


def _row_of(path: str, audit: Audit) -> FileChoice | None:
    return next((row for row in audit.rows if row.path == path), None)


def _map_of(prompt: Path, audit: Audit) -> SourceMap:
    if audit.source_map is None:
        raise ConfigError("its audit has no source map", path=str(prompt))
    return audit.source_map


def _described(origin: Origin) -> str:
    last = f"-{origin.last}" if origin.last != origin.first else ""
    lines = f"{origin.source}:{origin.first}{last}" if origin.first else ""
    if origin.kind is OriginKind.GENERATED:
        return f"generated: {origin.stands_for}{f' ({lines})' if lines else ''}"
    if origin.kind is OriginKind.FILE:
        return lines or origin.source
    return f"{origin.kind.value} {origin.source}"


def _why_not(row: FileChoice | None) -> str:
    if row is None:
        return "the prompt shows nothing of this file"
    reason = _WHY_NOT.get(row.level, f"the file's level is {row.level.value}, without this line")
    more = f"; a budget larger by a tenth would raise it to {row.next.value}" if row.next else ""
    return f"{reason}{more}"


def _report_changed_prompt(path: Path, audit: Audit) -> None:
    try:
        size = path.stat().st_size
    except OSError:
        output.say(f"{path.name} does not exist any more")
        return
    if audit.size and size != audit.size:
        output.say(f"{path.name} has been edited since it was written: line numbers are from then")


def _report_changed_file(
    path: str, data: bytes | None, audit: Audit, line: int, copy: str | None
) -> None:
    row = _row_of(path, audit)
    if data is None:
        output.say(f"{path} does not exist any more: line numbers are from then")
        return
    if row is not None and row.content_hash:
        has_changed = sha256(data).hexdigest() != row.content_hash
    else:
        lines = decode(data).text.split("\n")[line - 1 : line]
        has_changed = copy is not None and lines != [copy]
    if has_changed:
        output.say(f"{path} has changed since the prompt was written: line numbers are from then")


def _verbatim_line(prompt: Path, line: int, origin: Origin | None) -> str | None:
    data = _content(prompt) if origin is not None and origin.is_verbatim else None
    lines = decode(data).text.split("\n") if data is not None else []
    return lines[line - 1] if 0 < line <= len(lines) else None


def _content(path: Path) -> bytes | None:
    try:
        return read_bytes(path, limit=CONTENT_BYTES)
    except (OSError, ValueError):
        return None


def find_prompt(output_dir: Path, namespace: str, name: str) -> Path:
    if re.fullmatch(r"\d+", name):
        paths = dict(numbered_files(output_dir, namespace))
        return paths.get(int(name), output_dir / f"{namespace}_{int(name):03d}.md")
    return Path(name)
