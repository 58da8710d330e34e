"""``read``: a file as it is or as a view, one definition of it, or lines of a prompt that was composed."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from aggregate.base.errors import ToolError
from aggregate.base.text import printable, unified_diff
from aggregate.base.values import Entry, FileItem, RenderedFile, ViewMode
from aggregate.mcp.arguments import ReadArguments
from aggregate.mcp.pages import fitting
from aggregate.mcp.workspace import Connection, Progress, Workspace, is_handle
from aggregate.project.files import OUTSIDE, SECRET
from aggregate.prompt import render_files

_SAID: Final = 120  # tokens that an answer may have beside what is read


class _Page(NamedTuple):
    lines: range
    text: str
    rest: str = ""  # what is left out, and how to get it


def read(
    workspace: Workspace,
    connection: Connection,
    asked: ReadArguments,
    _progress: Progress | None = None,
) -> str:
    if is_handle(asked.path):
        lines = workspace.prompt(asked.path).markdown.splitlines(keepends=True)
        page = _page(lines, asked, workspace)
        return f"{asked.path} {_range(page)} of {len(lines):,}\n{page.text}{page.rest}"
    file = _file(workspace, asked)
    view = f"symbol {asked.symbol}" if asked.symbol else asked.view
    is_text = view == ViewMode.FULL.value
    key = file.path if is_text else f"{file.path} ({view})"
    text, name = file.content, printable(key)
    lines = text.splitlines(keepends=True)
    if not lines:
        return f"{name} is empty\n"
    page = _page(lines, asked, workspace)
    is_whole_view = not is_text and len(page.lines) == len(lines)
    heading = name if is_whole_view else f"{name} {_range(page)} of {len(lines):,}"
    ledger, call = connection.ledger, connection.calls
    shown = 0 if asked.again else ledger.call_of(key, text, page.lines)
    if shown:
        return f"{heading}: unchanged since your call {shown} showed it\n{page.rest}"
    earlier = "" if asked.again else ledger.earlier_text(key, text)
    if earlier:
        diff = "\n".join(unified_diff(earlier.split("\n"), text.split("\n")))
        said = f"{name} has changed since you were shown all of it:\n{diff}\n"
        if workspace.count(said) < workspace.count(page.text):
            ledger.record(key, text, range(1, len(lines) + 1), call=call)
            return said
    ledger.record(key, text, page.lines, call=call)
    return f"{heading}\n{page.text}{page.rest}"


def _file(workspace: Workspace, asked: ReadArguments) -> RenderedFile:
    mode = ViewMode.MASKED.value if asked.symbol else asked.view
    mask = {asked.symbol: "def"} if asked.symbol else {}
    item = FileItem(asked.path, view_mode=mode, ast_mask=mask)
    request = replace(workspace.request(), entries=(Entry(item),))
    rendered = render_files(request, index=workspace.index, workers=1)
    if len(rendered.files) != 1:
        raise ToolError(f"{asked.path} names {len(rendered.files)} files: name one")
    file = rendered.files[0]
    if file.error:
        raise ToolError(_sentence(file.content, asked.path))
    if asked.symbol and rendered.warnings:
        raise ToolError(_sentence(rendered.warnings[0], asked.path))
    return file


def _sentence(message: str, path: str) -> str:
    line = " ".join(message.removeprefix("ERROR: ").removeprefix("NOTE: ").split())
    if line.startswith("is a directory"):
        return f"{path or '.'} is a folder: outline lists its files"
    for refusal in (OUTSIDE, SECRET):
        reason = refusal.partition(":")[0]  # without how the user allows it
        if line.startswith(reason):
            return f"{path}: {reason}"
    return line if path in line else f"{path}: {line}"


def _range(page: _Page) -> str:
    first, last = page.lines.start, page.lines.stop - 1
    return f"line {first:,}" if first == last else f"lines {first:,}-{last:,}"


def _page(lines: Sequence[str], asked: ReadArguments, workspace: Workspace) -> _Page:
    if not lines:
        return _Page(range(1), "")
    start, dash, end = asked.lines.partition("-")
    first = max(int(start or 1), 1)
    last = min(int(end) if end else first if start and not dash else len(lines), len(lines))
    if first > last:
        raise ToolError(f"{asked.path} has lines 1 to {len(lines):,}, not {asked.lines}")
    limit = workspace.cap - _SAID
    wanted = lines[first - 1 : last]
    number = fitting(wanted, limit, workspace.count)
    if not number:
        text = wanted[0][: fitting(wanted[0], limit, workspace.count)]
        left = len(wanted[0]) - len(text)
        rest = f"\n[{left:,} more characters of line {first:,} are left out]\n"
        return _Page(range(first, first + 1), text, rest)
    text = "".join(wanted[:number])
    text += "" if text.endswith("\n") else "\n"
    onward, rest = first + number, ""
    if number < len(wanted):
        given = asked.model_dump(exclude_defaults=True, exclude={"again"})
        call = json.dumps({**given, "lines": f"{onward}-{last}"}, ensure_ascii=False)
        rest = f"[{last - onward + 1:,} more lines: read {call}]\n"
    return _Page(range(first, onward), text, rest)
