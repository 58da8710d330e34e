"""What an agent looks at: files, views, definitions, names and texts, and prompts that were composed."""

import json
import os
import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from aggregate.base.errors import ToolError
from aggregate.base.files import Entry, FileItem, RenderedFile, ViewMode
from aggregate.base.text import printable
from aggregate.mcp.composing import sheet
from aggregate.mcp.workspace import (
    Connection,
    FindArguments,
    OutlineArguments,
    Progress,
    ReadArguments,
    Workspace,
    fitting,
    is_handle,
)
from aggregate.project.files import OUTSIDE, SECRET
from aggregate.prompt import FileCorpus, render_files
from aggregate.prompt.name_lookup import look_up_name, number_of, one_line
from aggregate.ranking import term_list
from aggregate.ranking.files import FileFacts

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
    ledger.record(key, text, page.lines, call=call)
    return f"{heading}\n{page.text}{page.rest}"


def _file(workspace: Workspace, asked: ReadArguments) -> RenderedFile:
    mode = ViewMode.MASKED.value if asked.symbol else asked.view
    mask = {asked.symbol: "def"} if asked.symbol else {}
    item = FileItem(asked.path, view_mode=mode, ast_mask=mask)
    request = replace(workspace.request(), entries=(Entry(item),))
    rendered = render_files(request, index=workspace.index)
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


_MOST_LINES: Final = 200  # lines that are found in texts: more are no answer to anything
_CHARACTERS: Final = 4  # of a token, about; an outline tells sizes, not bills
# Files whose definitions are looked up: those of more never fit into an answer.
_MOST_NAMED: Final = 300


def _look(
    workspace: Workspace, path: str, progress: Progress, *, tool: str
) -> tuple[FileCorpus, str, dict[int, str]]:
    request = workspace.request()
    corpus = workspace.read_files(request, progress).corpus
    workspace.index.flush()
    # Relative to the project's root, with or without ./ or a slash before it, or absolute within it.
    top = os.path.abspath(request.base_dir).replace(os.sep, "/").rstrip("/")
    place = path.replace("\\", "/")
    if place == top or place.startswith(f"{top}/"):
        place = place[len(top) :]
    place = posixpath.normpath(place.strip("/") or ".")
    place = "" if place == "." else place
    below = {
        number: printable(facts.path)  # a name may hold a line break
        for number, facts in enumerate(corpus.files)
        if place in ("", facts.path) or facts.path.startswith(f"{place}/")
    }
    if not below:
        raise ToolError(
            f"{tool}: no file of the project is at or below {path or 'its folder'}: "
            "a path is relative to the project's root"
        )
    return corpus, place, below


def find(
    workspace: Workspace, _connection: Connection, asked: FindArguments, progress: Progress
) -> str:
    query = asked.query.strip()
    task = asked.task.strip()
    if bool(query) == bool(task) or (task and asked.path):
        raise ToolError("find: name a query, and where to look with path, or a task alone")
    if task:
        return sheet(workspace, task, progress)
    corpus, place, below = _look(workspace, asked.path, progress, tool="find")
    lines = look_up_name(corpus, query, below)
    if not lines:
        matches = list(_matches(corpus, query, below))
        number = len(matches)
        most = f"the first {number:,}" if number >= _MOST_LINES else number_of(number, "line")
        where = f" below {place}" if place else ""
        lines = [f"{most} with {one_line(query)!r}{where}", *matches]
    return workspace.capped(lines, more="name a longer text, or a path to look below")


def _matches(corpus: FileCorpus, query: str, below: dict[int, str]) -> Iterator[str]:
    numbers = set(below)
    # The words at its ends may be parts of longer ones, which the tables do not know.
    for term in sorted(set(term_list(re.sub(r"^\w+|\w+$", " ", query)))):
        numbers &= corpus.files_with(term).keys()
    found = 0
    for number in sorted(numbers):
        for line_number, line in enumerate(corpus.text(number).splitlines(), start=1):
            if query.lower() in line.lower():
                yield f"{below[number]}:{line_number}: {one_line(line)}"
                found += 1
                if found >= _MOST_LINES:
                    return


def outline(
    workspace: Workspace, connection: Connection, asked: OutlineArguments, progress: Progress
) -> str:
    corpus, place, below = _look(workspace, asked.path, progress, tool="outline")
    if place in (facts.path for facts in corpus.files):
        return read(workspace, connection, ReadArguments(path=place, view="outline"))
    files = {number: corpus.files[number] for number in below}
    heading = f"{place or 'the project'}: {len(files):,} files, {_size(files.values())}"
    rows = {
        number: f"{below[number]}  {_size([facts])}{', generated' if facts.is_generated else ''}"
        for number, facts in files.items()
    }
    named = _rows_with_definitions(corpus, rows) if len(files) <= _MOST_NAMED else ()
    for way in (named, rows.values()):
        lines = [heading, *way]
        text = "".join(f"{line}\n" for line in lines)
        if len(lines) > 1 and workspace.count(text) <= workspace.cap:
            return text
    folders = _folders(files.values(), place)
    return workspace.capped([heading, *folders], more="outline a folder below")


def _size(files: Iterable[FileFacts]) -> str:
    return f"about {sum(facts.characters // _CHARACTERS for facts in files):,} tokens"


def _rows_with_definitions(corpus: FileCorpus, rows: dict[int, str]) -> Iterator[str]:
    for (number, row), analysis in zip(rows.items(), corpus.analyses([*rows]), strict=True):
        yield row
        definitions = analysis.definitions if corpus.files[number].is_code else ()
        is_alone = sum(each.outer < 0 for each in definitions) == 1
        # A namespace, or a module that holds all, says nothing: what is in it does.
        holders = {-1}
        for place, (kind, path, _, signature, _, last, outer) in enumerate(definitions):
            if outer in holders and (kind == "namespace" or (kind == "module" and is_alone)):
                holders.add(place)
            elif outer in holders:
                yield f"  {signature}-{last} {kind} {'.'.join(path)}"


def _folders(files: Iterable[FileFacts], place: str) -> Iterator[str]:
    start = len(place) + 1 if place else 0
    folders: dict[str, list[FileFacts]] = {}
    for facts in files:
        name, slash, _ = facts.path[start:].partition("/")
        folders.setdefault(name + slash, []).append(facts)
    for name, held in folders.items():
        count = f"{len(held):,} files, " if name.endswith("/") else ""
        yield f"{printable(name)}  {count}{_size(held)}"
