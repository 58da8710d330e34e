"""The tools ``compose``, ``explain``, ``read``, ``find`` and ``outline``.

``compose`` returns a prompt, or its summary with a handle.
"""

import json
import os
import posixpath
import re
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Final, NamedTuple

from aggregate.base.errors import BudgetError, ToolError
from aggregate.base.files import Entry, FileItem, ViewMode
from aggregate.base.task_budget import Pick, Place, Task
from aggregate.base.text import printable
from aggregate.mcp.workspace import (
    Call,
    ComposeArguments,
    ExplainArguments,
    FindArguments,
    OutlineArguments,
    ReadArguments,
    ShownPrompt,
    StoredPrompt,
    Workspace,
    fitting,
    is_handle,
)
from aggregate.project.files import OUTSIDE, SECRET
from aggregate.prompt import File, compose_within_budget, count_prompt
from aggregate.prompt.asking import Request, find_named, for_reader, is_named
from aggregate.prompt.audit import Audit, audit_lines, audit_of, row_lines
from aggregate.prompt.corpus import FileCorpus, look_up_name, number_of, shown_line
from aggregate.prompt.files import render_files
from aggregate.ranking import term_list
from aggregate.ranking.files import FileFacts

_HANDLE: Final = 40  # tokens of the line with a prompt's handle, usually some 25
_NOTES: Final = 200  # tokens of warnings


def compose(call: Call, arguments: ComposeArguments) -> str:
    workspace, connection, _ = call
    focus = tuple(map(Place.parse, arguments.focus))
    symbols = tuple(arguments.symbols)
    task = Task(arguments.task, focus=focus, symbols=symbols, since=arguments.since, is_strict=True)
    if not (task.text.strip() or task.focus or task.symbols or task.since):
        raise ToolError("compose: the task is empty: describe your next step")
    budget = arguments.budget or workspace.cap
    prompt = _compose_prompt(call, task, budget - _HANDLE)
    # Notes after a prompt count against its budget.
    overhead = _HANDLE + workspace.count(_notes(workspace, prompt))
    if overhead > _HANDLE and workspace.count(prompt.markdown) + overhead > budget:
        prompt = _compose_prompt(call, task, budget - overhead)
    connection.last_prompt = handle = prompt.handle
    tokens = workspace.count(prompt.markdown)
    if earlier := connection.prompts.get(handle):
        return (
            f"[{handle}: {tokens:,} tokens, the same prompt as in your call {earlier.call}: "
            f'read "{handle}" repeats it]\n{_notes(workspace, prompt, repeated=earlier.notes)}'
        )
    workspace.composed.append(tokens)
    choices = (choice for choice in prompt.composition.choices if choice.tokens)
    workspace.shown |= {(choice.path, choice.content_hash): choice.size for choice in choices}
    connection.prompts[handle] = ShownPrompt(
        connection.calls, frozenset(for_reader(prompt.composition.warnings))
    )
    ending = f"[{handle}: {tokens:,} tokens; explain says why each file is in or out]\n"
    ending += _notes(workspace, prompt)
    answer = f"{prompt.markdown}\n\n{ending}"
    if workspace.count(answer) <= workspace.cap:
        for file in prompt.composition.files:
            if lines := prompt.composition.source_map.verbatim_lines(file.path):
                connection.ledger.record(
                    file.path, file.source.text, sorted(lines), call=connection.calls
                )
        return answer
    head = chain(*audit_lines(_audit(workspace, prompt)))
    more = f'explain "{handle}" shows single files'
    longer = f'This prompt is longer than an answer: read "{handle}" returns it in parts.\n\n'
    room = workspace.cap - workspace.count(longer + ending)
    return longer + workspace.capped(head, limit=room, more=more) + ending


def _compose_prompt(call: Call, task: Task, budget: int) -> StoredPrompt:
    workspace = call.workspace
    request = workspace.request(task, budget=max(budget, 1))
    files = workspace.read_files(request, call.progress)
    files.selection.check_focus(request)
    request = _with_picks(request, files)
    try:
        composition = compose_within_budget(request, index=workspace.index, files=files)
    except BudgetError as error:  # its fixes are options of the command line
        sufficient = error.smallest + _HANDLE + _NOTES
        raise ToolError(
            f"compose: {error.reason}; use a budget of {sufficient} or focus on less"
        ) from None
    workspace.index.flush()
    return workspace.keep(request, composition)


def _with_picks(request: Request, corpus: FileCorpus) -> Request:
    """Turn focus on symbols and whole files into picks (T-10)."""
    task = request.task or Task()
    if not task.focus:
        return request
    pairs = [
        (facts.path, file.item.path) for facts, file in zip(corpus.files, corpus.shown, strict=True)
    ]
    matches = {place: () if place.first else find_named(pairs, place.path) for place in task.focus}
    numbers = [*chain(*matches.values())]
    picks = [Pick(corpus.files[number].path) for number in numbers]
    names = [
        Pick(pick.path, ".".join(definition.path))
        for pick, analysis in zip(picks, corpus.analyses(numbers), strict=True)
        for definition in analysis.definitions
    ]
    symbols: tuple[str, ...] = ()  # that match nothing
    for name in task.symbols:
        called = [pick for pick in names if f".{pick.definition}".endswith(f".{name}")]
        picks += called
        symbols += () if called else (name,)
    focus = tuple(place for place in matches if not matches[place])
    # If only some focus files or symbols match nothing, warn instead of failing.
    is_strict = len(symbols) == len(task.symbols) and len(focus) in (0, len(task.focus))
    task = replace(task, focus=focus, symbols=symbols, picks=tuple(picks), is_strict=is_strict)
    return replace(request, task=task)


def _notes(workspace: Workspace, prompt: StoredPrompt, *, repeated: Container[str] = ()) -> str:
    notes = [
        f"[{sentence}]"
        for sentence in for_reader(prompt.composition.warnings)
        if sentence not in repeated
    ]
    return workspace.capped(notes, limit=_NOTES, more="aggregate run prints them")


def _audit(workspace: Workspace, prompt: StoredPrompt) -> Audit:
    counts = count_prompt(prompt.composition.prompt, index=workspace.index)
    return audit_of(prompt.request, prompt.composition, counts)


def explain(call: Call, arguments: ExplainArguments) -> str:
    workspace = call.workspace
    handle = arguments.handle or call.connection.last_prompt
    if not handle:
        raise ToolError("explain: compose a prompt first, or pass its handle")
    audit = _audit(workspace, workspace.prompt(handle))
    path = arguments.path
    if not path:
        lines = chain(*audit_lines(audit, title=handle))
        return workspace.capped(lines, more="pass a path to see one file")
    rows = [row for row in audit.rows if row.path == path]
    rows = rows or [row for row in audit.rows if is_named(row.path, row.entry, [path])]
    if not rows:
        raise ToolError(f"explain: no candidate of {handle} is called {path}")
    row_texts = (line for row in rows for line in row_lines(audit, row))
    return workspace.capped(row_texts, more="pass a longer path")


_OVERHEAD: Final = 120  # tokens of an answer beside the text


class _Page(NamedTuple):
    lines: range
    text: str
    rest: str = ""  # a note about omitted lines


def read(call: Call, arguments: ReadArguments) -> str:
    workspace, connection, _ = call
    if is_handle(arguments.path):
        lines = workspace.prompt(arguments.path).markdown.splitlines(keepends=True)
        page = _page(lines, arguments, workspace)
        return f"{arguments.path} {_range(page)} of {len(lines):,}\n{page.text}{page.rest}"
    file = _file(workspace, arguments)
    view = f"symbol {arguments.symbol}" if arguments.symbol else arguments.view
    is_text = view == ViewMode.FULL.value
    key = file.path if is_text else f"{file.path} ({view})"
    text, name = file.view.text, printable(key)
    lines = text.splitlines(keepends=True)
    if not lines:
        return f"{name} is empty\n"
    page = _page(lines, arguments, workspace)
    is_whole_view = not is_text and len(page.lines) == len(lines)
    heading = name if is_whole_view else f"{name} {_range(page)} of {len(lines):,}"
    ledger = connection.ledger
    earlier_call = 0 if arguments.again else ledger.call_of(key, text, page.lines)
    if earlier_call:
        return f"{heading}: unchanged since your call {earlier_call} showed it\n{page.rest}"
    ledger.record(key, text, page.lines, call=connection.calls)
    return f"{heading}\n{page.text}{page.rest}"


def _file(workspace: Workspace, arguments: ReadArguments) -> File:
    mode = ViewMode.MASKED.value if arguments.symbol else arguments.view
    mask = {arguments.symbol: "def"} if arguments.symbol else {}
    item = FileItem(arguments.path, view_mode=mode, ast_mask=mask)
    request = replace(workspace.request(), entries=(Entry(item),))
    rendered = render_files(request, index=workspace.index)
    if len(rendered.files) != 1:
        raise ToolError(f"{arguments.path} matches {len(rendered.files)} files: pass one")
    file = rendered.files[0]
    if file.is_error:
        raise ToolError(_sentence(file.view.text, arguments.path))
    if arguments.symbol and rendered.warnings:
        raise ToolError(_sentence(rendered.warnings[0], arguments.path))
    return file


def _sentence(message: str, path: str) -> str:
    line = " ".join(message.removeprefix("ERROR: ").removeprefix("NOTE: ").split())
    if line.startswith("is a directory"):
        return f"{path or '.'} is a folder: outline lists its files"
    for refusal in (OUTSIDE, SECRET):
        reason = refusal.partition(":")[0]  # without the user's options
        if line.startswith(reason):
            return f"{path}: {reason}"
    return line if path in line else f"{path}: {line}"


def _range(page: _Page) -> str:
    first, last = page.lines.start, page.lines.stop - 1
    return f"line {first:,}" if first == last else f"lines {first:,}-{last:,}"


def _page(lines: Sequence[str], arguments: ReadArguments, workspace: Workspace) -> _Page:
    if not lines:
        return _Page(range(1), "")
    start, dash, end = arguments.lines.partition("-")
    first = max(int(start or 1), 1)
    is_single = bool(start) and not dash
    last = min(first if is_single else int(end or len(lines)), len(lines))
    if first > last:
        raise ToolError(f"{arguments.path} has lines 1 to {len(lines):,}, not {arguments.lines}")
    limit = workspace.cap - _OVERHEAD
    wanted = lines[first - 1 : last]
    number = fitting(wanted, limit, workspace.count)
    if not number:
        text = wanted[0][: fitting(wanted[0], limit, workspace.count)]
        omitted = len(wanted[0]) - len(text)
        rest = f"\n[{omitted:,} more characters of line {first:,} are omitted]\n"
        return _Page(range(first, first + 1), text, rest)
    text = "".join(wanted[:number])
    text += "" if text.endswith("\n") else "\n"
    following, rest = first + number, ""
    if number < len(wanted):
        call = arguments.model_dump(exclude_defaults=True, exclude={"again"})
        call_text = json.dumps({**call, "lines": f"{following}-{last}"}, ensure_ascii=False)
        rest = f"[{last - following + 1:,} more lines: read {call_text}]\n"
    return _Page(range(first, following), text, rest)


_MOST_LINES: Final = 200  # matching lines of a text
_CHARACTERS: Final = 4  # of a token, about
_SHEET: Final = 2_500  # tokens of the likeliest files, measured to be enough
_PICK: Final = "[pass the relevant ones to compose: paths as focus, names as symbols]\n"
_MOST_NAMED: Final = 300  # files with definitions in an outline; those of more never fit


def _look(call: Call, path: str, *, tool: str) -> tuple[FileCorpus, str, dict[int, str]]:
    workspace = call.workspace
    request = workspace.request()
    corpus = workspace.read_files(request, call.progress)
    workspace.index.flush()
    # Accept paths relative to the root, also with ./ or a leading slash, and absolute ones.
    top = os.path.abspath(request.base_dir).replace(os.sep, "/").rstrip("/")
    folder = path.replace("\\", "/")
    if folder == top or folder.startswith(f"{top}/"):
        folder = folder[len(top) :]
    folder = posixpath.normpath(folder.strip("/") or ".")
    folder = "" if folder == "." else folder
    below = {
        number: printable(facts.path)  # a name may have a line break
        for number, facts in enumerate(corpus.files)
        if folder in ("", facts.path) or facts.path.startswith(f"{folder}/")
    }
    if not below:
        raise ToolError(
            f"{tool}: no file of the project is at or below {path or 'its folder'}: "
            "a path is relative to the project's root"
        )
    return corpus, folder, below


def find(call: Call, arguments: FindArguments) -> str:
    workspace = call.workspace
    query = arguments.query.strip()
    task = arguments.task.strip()
    if bool(query) == bool(task) or (task and arguments.path):
        raise ToolError("find: pass a query, perhaps with a path, or a task alone")
    if task:
        most = min(_SHEET, workspace.cap) - workspace.count(_PICK)
        sheet = workspace.sheet(Task(task), call.progress, most=most)
        workspace.index.flush()
        return f"{sheet}{_PICK}"
    corpus, folder, below = _look(call, arguments.path, tool="find")
    lines = look_up_name(corpus, query, below)
    if not lines:
        matches = list(_matches(corpus, query, below))
        number = len(matches)
        total = f"the first {number:,}" if number >= _MOST_LINES else number_of(number, "line")
        scope = f" below {folder}" if folder else ""
        lines = [f"{total} with {shown_line(query)!r}{scope}", *matches]
    return workspace.capped(lines, more="pass a longer text, or a path to search in")


def _matches(corpus: FileCorpus, query: str, below: dict[int, str]) -> Iterator[str]:
    numbers = set(below)
    # Without the first and last word, which may be parts of longer words.
    for term in sorted(set(term_list(re.sub(r"^\w+|\w+$", " ", query)))):
        numbers &= corpus.files_with(term).keys()
    matches = 0
    for number in sorted(numbers):
        for line_number, line in enumerate(corpus.text(number).splitlines(), start=1):
            if query.lower() in line.lower():
                yield f"{below[number]}:{line_number}: {shown_line(line)}"
                matches += 1
                if matches >= _MOST_LINES:
                    return


def outline(call: Call, arguments: OutlineArguments) -> str:
    workspace = call.workspace
    corpus, folder, below = _look(call, arguments.path, tool="outline")
    if folder in (facts.path for facts in corpus.files):
        return read(call, ReadArguments(path=folder, view="outline"))
    files = {number: corpus.files[number] for number in below}
    heading = f"{folder or 'the project'}: {len(files):,} files, {_size(files.values())}"
    rows = {
        number: f"{below[number]}  {_size([facts])}{', generated' if facts.is_generated else ''}"
        for number, facts in files.items()
    }
    detailed = _rows_with_definitions(corpus, rows) if len(files) <= _MOST_NAMED else ()
    for file_rows in (detailed, rows.values()):
        lines = [heading, *file_rows]
        text = "".join(f"{line}\n" for line in lines)
        if len(lines) > 1 and workspace.count(text) <= workspace.cap:
            return text
    folders = _folders(files.values(), folder)
    return workspace.capped([heading, *folders], more="outline a subfolder")


def _size(files: Iterable[FileFacts]) -> str:
    return f"about {sum(facts.characters // _CHARACTERS for facts in files):,} tokens"


def _rows_with_definitions(corpus: FileCorpus, rows: dict[int, str]) -> Iterator[str]:
    for (number, row), analysis in zip(rows.items(), corpus.analyses([*rows]), strict=True):
        yield row
        definitions = analysis.definitions if corpus.files[number].is_code else ()
        is_alone = sum(definition.outer < 0 for definition in definitions) == 1
        # List the content of namespaces and of a module with everything instead of themselves.
        holders = {-1}
        for index, (kind, path, _, signature, _, last, outer) in enumerate(definitions):
            if outer in holders and (kind == "namespace" or (kind == "module" and is_alone)):
                holders.add(index)
            elif outer in holders:
                yield f"  {signature}-{last} {kind} {'.'.join(path)}"


def _folders(files: Iterable[FileFacts], parent: str) -> Iterator[str]:
    start = len(parent) + 1 if parent else 0
    folders: dict[str, list[FileFacts]] = {}
    for facts in files:
        name, slash, _ = facts.path[start:].partition("/")
        folders.setdefault(name + slash, []).append(facts)
    for name, content in folders.items():
        count = f"{len(content):,} files, " if name.endswith("/") else ""
        yield f"{printable(name)}  {count}{_size(content)}"
