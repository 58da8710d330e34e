"""``compose``: the prompt for a task, or where it is longer than an answer what is in it and a handle to read it by."""

from typing import Final

from aggregate.base.errors import BudgetError, ToolError
from aggregate.base.values import Audit, Place, RenderedFile, Task
from aggregate.mcp.arguments import ComposeArguments, ExplainArguments
from aggregate.mcp.pages import capped
from aggregate.mcp.reading import text_digest
from aggregate.mcp.workspace import (
    Connection,
    KeptPrompt,
    Progress,
    ShownPrompt,
    Workspace,
)
from aggregate.prompt import (
    audit_lines,
    audit_of,
    compose_within_budget,
    count_prompt,
    for_reader,
    is_named,
    row_lines,
)

_HANDLE: Final = 40
"""Tokens of the line that names a prompt's handle: some 25, by what its digits come to."""
_NOTES: Final = 200
"""Tokens of what is doubtful about what was asked."""


def compose(
    workspace: Workspace, connection: Connection, asked: ComposeArguments, progress: Progress
) -> str:
    """Return the prompt for a task, or what is in it and its handle."""
    task = Task(
        asked.task,
        focus=tuple(map(Place.parse, asked.focus)),
        symbols=tuple(asked.symbols),
        since=asked.since,
    )
    if not (task.text.strip() or task.focus or task.symbols or task.since):
        raise ToolError("compose: the task says nothing: describe what you are about to do")
    kept = _composed_answer(workspace, task, asked.budget or workspace.cap, progress)
    connection.last_prompt = kept.handle
    tokens = workspace.count(kept.markdown)
    if shown := connection.prompts.get(kept.handle):
        return (
            f"[{kept.handle}: {tokens:,} tokens, the same prompt as in your call {shown.call}: "
            f'read "{kept.handle}" repeats it]\n{_notes(workspace, kept, told=shown.notes)}'
        )
    connection.prompts[kept.handle] = ShownPrompt(connection.calls, frozenset(_doubts(kept)))
    ending = f"[{kept.handle}: {tokens:,} tokens; explain says why each file is in or out]\n"
    ending += _notes(workspace, kept)
    answer = f"{kept.markdown}\n\n{ending}"
    if workspace.count(answer) <= workspace.cap:
        _record(connection, kept)
        return answer
    head = "".join(f"{line}\n" for line in audit_lines(audit_of_prompt(workspace, kept)))
    more = f'explain "{kept.handle}" tells of single files'
    said = f'This prompt is longer than an answer: read "{kept.handle}" gives it in parts.\n\n'
    room = workspace.cap - workspace.count(said + ending)
    return said + capped(head, room, workspace.count, more=more) + ending


def _composed_answer(
    workspace: Workspace, task: Task, budget: int, progress: Progress
) -> KeptPrompt:
    """Return the prompt that fits into a budget together with what is said behind it."""
    kept = _composed(workspace, task, budget, progress, said=_HANDLE)
    said = _HANDLE + workspace.count(_notes(workspace, kept))
    if said > _HANDLE and workspace.count(kept.markdown) + said > budget:
        kept = _composed(workspace, task, budget, progress, said=said)
    return kept


def _doubts(kept: KeptPrompt) -> list[str]:
    empty = (
        []
        if kept.markdown.strip()
        else ["none of the files fits into the budget: ask for more tokens"]
    )
    return [*empty, *for_reader(kept.composition.warnings)]


def _notes(workspace: Workspace, kept: KeptPrompt, *, told: frozenset[str] = frozenset()) -> str:
    """Return these doubts, one line each, but for those that the reader was told with the same prompt."""
    notes = "".join(f"[{sentence}]\n" for sentence in _doubts(kept) if sentence not in told)
    return capped(notes, _NOTES, workspace.count, more="aggregate run says them")


def _composed(
    workspace: Workspace, task: Task, budget: int, progress: Progress, *, said: int
) -> KeptPrompt:
    request = workspace.request(task=task, budget=max(budget - said, 1))
    files = workspace.read_files(request, progress)
    try:
        composition = compose_within_budget(request, index=workspace.index, files=files)
    except BudgetError as error:  # its remedies are options of the command line
        most = _HANDLE + _NOTES
        remedy = f"with up to {most} tokens of the answer's own a budget of {error.smallest + most} would do"
        raise ToolError(f"compose: {error.reason}; {remedy}, or focus on less") from None
    workspace.index.flush()
    return workspace.keep(request, composition)


def audit_of_prompt(workspace: Workspace, kept: KeptPrompt) -> Audit:
    """Return the account of a prompt."""
    prompt = kept.composition.prompt
    return audit_of(kept.request, kept.composition, count_prompt(prompt, index=workspace.index))


def _record(connection: Connection, kept: KeptPrompt) -> None:
    for file in kept.composition.files:
        lines = kept.composition.source_map.verbatim_lines(file.path)
        if lines:
            _record_file(connection, file, lines)


def _record_file(connection: Connection, file: RenderedFile, lines: frozenset[int]) -> None:
    digest = text_digest(file.source)
    last = len(file.source.splitlines())
    if len(lines) >= last:
        connection.ledger.record_text(file.path, digest, file.source, call=connection.calls)
    else:
        connection.ledger.record(file.path, digest, sorted(lines), call=connection.calls)


def explain(workspace: Workspace, connection: Connection, asked: ExplainArguments) -> str:
    """Return what was decided about a prompt's files, or everything about those of one path."""
    handle = asked.handle or connection.last_prompt
    if not handle:
        raise ToolError("explain: there is no prompt yet: compose one, or name its handle")
    kept = workspace.prompt(handle)
    audit = audit_of_prompt(workspace, kept)
    if not asked.path:
        lines = list(audit_lines(audit, title=handle))
        more = "name a path to be told of one file"
    else:
        rows = [row for row in audit.rows if row.path == asked.path]
        rows = rows or [row for row in audit.rows if is_named(row.path, row.entry, [asked.path])]
        if not rows:
            raise ToolError(f"explain: no candidate of {handle} is called {asked.path}")
        lines = [line for row in rows for line in row_lines(audit, row)]
        more = "name a longer path"
    text = "".join(f"{line}\n" for line in lines)
    return capped(text, workspace.cap, workspace.count, more=more)
