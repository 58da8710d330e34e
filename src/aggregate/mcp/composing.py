"""``compose``: the prompt for a task, or what is in it and a handle to read it by; ``explain`` tells of its files."""

from collections.abc import Container
from itertools import chain
from typing import Final

from aggregate.base.errors import BudgetError, ToolError
from aggregate.base.request import Place, Task
from aggregate.mcp.workspace import (
    ComposeArguments,
    Connection,
    ExplainArguments,
    KeptPrompt,
    Progress,
    ShownPrompt,
    Workspace,
)
from aggregate.prompt import compose_within_budget, count_prompt, for_reader, is_named
from aggregate.prompt.audit import Audit, audit_lines, audit_of, row_lines

# Tokens of the line that names a prompt's handle: some 25, by what its digits come to.
_HANDLE: Final = 40
_NOTES: Final = 200  # tokens of what is doubtful about what was asked


def compose(
    workspace: Workspace, connection: Connection, asked: ComposeArguments, progress: Progress
) -> str:
    task = Task(
        asked.task,
        focus=tuple(map(Place.parse, asked.focus)),
        symbols=tuple(asked.symbols),
        since=asked.since,
    )
    if not (task.text.strip() or task.focus or task.symbols or task.since):
        raise ToolError("compose: the task says nothing: describe what you are about to do")
    budget = asked.budget or workspace.cap
    kept = _composed(workspace, task, budget, progress, said=_HANDLE)
    # What is said behind a prompt counts against its budget.
    said = _HANDLE + workspace.count(_notes(workspace, kept))
    if said > _HANDLE and workspace.count(kept.markdown) + said > budget:
        kept = _composed(workspace, task, budget, progress, said=said)
    connection.last_prompt = handle = kept.handle
    tokens = workspace.count(kept.markdown)
    if shown := connection.prompts.get(handle):
        return (
            f"[{handle}: {tokens:,} tokens, the same prompt as in your call {shown.call}: "
            f'read "{handle}" repeats it]\n{_notes(workspace, kept, told=shown.notes)}'
        )
    connection.prompts[handle] = ShownPrompt(connection.calls, frozenset(_doubts(kept)))
    ending = f"[{handle}: {tokens:,} tokens; explain says why each file is in or out]\n"
    ending += _notes(workspace, kept)
    answer = f"{kept.markdown}\n\n{ending}"
    if workspace.count(answer) <= workspace.cap:
        for file in kept.composition.files:
            if lines := kept.composition.source_map.verbatim_lines(file.path):
                connection.ledger.record(
                    file.path, file.source, sorted(lines), call=connection.calls
                )
        return answer
    head = chain(*audit_lines(_audit(workspace, kept)))
    more = f'explain "{handle}" tells of single files'
    longer = f'This prompt is longer than an answer: read "{handle}" gives it in parts.\n\n'
    room = workspace.cap - workspace.count(longer + ending)
    return longer + workspace.capped(head, limit=room, more=more) + ending


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


def _doubts(kept: KeptPrompt) -> list[str]:
    nothing = "none of the files fits into the budget: ask for more tokens"
    is_empty = not kept.composition.files
    return [*([nothing] if is_empty else []), *for_reader(kept.composition.warnings)]


def _notes(workspace: Workspace, kept: KeptPrompt, *, told: Container[str] = ()) -> str:
    notes = [f"[{sentence}]" for sentence in _doubts(kept) if sentence not in told]
    return workspace.capped(notes, limit=_NOTES, more="aggregate run says them")


def _audit(workspace: Workspace, kept: KeptPrompt) -> Audit:
    prompt = kept.composition.prompt
    return audit_of(kept.request, kept.composition, count_prompt(prompt, index=workspace.index))


def explain(
    workspace: Workspace, connection: Connection, asked: ExplainArguments, _progress: Progress
) -> str:
    handle = asked.handle or connection.last_prompt
    if not handle:
        raise ToolError("explain: there is no prompt yet: compose one, or name its handle")
    audit = _audit(workspace, workspace.prompt(handle))
    if not asked.path:
        lines = chain(*audit_lines(audit, title=handle))
        return workspace.capped(lines, more="name a path to be told of one file")
    rows = [row for row in audit.rows if row.path == asked.path]
    rows = rows or [row for row in audit.rows if is_named(row.path, row.entry, [asked.path])]
    if not rows:
        raise ToolError(f"explain: no candidate of {handle} is called {asked.path}")
    told = (line for row in rows for line in row_lines(audit, row))
    return workspace.capped(told, more="name a longer path")
