"""``locate``: where a line of a prompt comes from, and where in a prompt a line of a file stands."""

import os
import re
from hashlib import sha256
from pathlib import Path

import click

from aggregate.base.disk import CONTENT_BYTES, read_bytes
from aggregate.base.errors import ConfigError
from aggregate.base.text import path_meant
from aggregate.base.values import Audit, FileChoice, Level, Origin, OriginKind, SourceMap
from aggregate.cli.explain import audited_prompt, is_prompt, newest_prompt
from aggregate.cli.opened_project import from_here, open_project_here
from aggregate.cli.options import config_option
from aggregate.cli.output import say, write_rows
from aggregate.project.files import decode
from aggregate.prompt import Request, request_for

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
    """Print where a line of a prompt comes from, or where in the newest prompt a line of a file stands.

    PROMPT is the number or path of a prompt that was written for a task or a budget. What no file holds is named:
    generated, a turn, a bead, a result, a screenshot.
    """
    match = _PLACE.fullmatch(place)
    if match is None:
        raise click.UsageError(f"{place}: name a line, as in 3:120 or src/a.py:12")
    name, line = match[1], int(match[2])
    request = request_for(open_project_here(config), with_history=False)
    if is_prompt(name, request):
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
        data = _content(origin.source, request)
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
    data = _content(path, request)
    if origin is None:
        lines = data.count(b"\n") + (not data.endswith(b"\n")) if data is not None else line
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


def _content(path: str, request: Request) -> bytes | None:
    try:
        return read_bytes(request.base_dir / path, limit=CONTENT_BYTES)
    except (OSError, ValueError):
        return None


def _shown(prompt: Path, line: int, origin: Origin | None) -> str | None:
    """Return a line of a prompt as it is now, ``None`` where it shows no line of a file as it is."""
    if origin is None or not origin.is_verbatim:
        return None
    try:
        lines = decode(read_bytes(prompt, limit=CONTENT_BYTES)).text.split("\n")
    except (OSError, ValueError):
        return None
    return lines[line - 1] if line <= len(lines) else None


def _tell_changed_prompt(path: Path, audit: Audit) -> None:
    """Say so where a prompt is not as it was written: its lines may have moved."""
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
    """Say so where a file is not as the prompt was made of it, or at least its line not as it was shown."""
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
