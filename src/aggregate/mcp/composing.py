"""``compose``: the prompt for a task, or where it is longer than an answer what is in it and a handle to read it by."""

from typing import Final

from aggregate.compose.asking import for_reader
from aggregate.compose.audit import audit_of
from aggregate.compose.audit_text import audit_lines
from aggregate.compose.within_budget import compose_within_budget
from aggregate.errors import BudgetError, ToolError
from aggregate.mcp.arguments import ComposeArguments
from aggregate.mcp.pages import capped
from aggregate.mcp.reading import text_digest
from aggregate.mcp.workspace import (
    Connection,
    KeptPrompt,
    Progress,
    ShownPrompt,
    Workspace,
)
from aggregate.models.audit import Audit
from aggregate.models.rendered_file import RenderedFile
from aggregate.models.task import Place, Task
from aggregate.tokens.count import count_prompt

_SAID: Final = 300
"""Tokens of what an answer says besides the prompt: its handle, and what is doubtful about what was asked."""
_NOTES: Final = 200
"""Tokens of these doubts."""


def compose(
    workspace: Workspace, connection: Connection, asked: ComposeArguments, progress: Progress
) -> str:
    """Return the prompt for a task, or what is in it and its handle.

    Raises:
        ToolError: The task says nothing, or what is to be shown in any case does not fit.
    """
    task = Task(
        asked.task,
        focus=tuple(map(Place.parse, asked.focus)),
        symbols=tuple(asked.symbols),
        since=asked.since,
    )
    if not (task.text.strip() or task.focus or task.symbols or task.since):
        raise ToolError("compose: the task says nothing: describe what you are about to do")
    kept = composed(workspace, task, asked.budget or workspace.cap - _SAID, progress)
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
    if tokens + _SAID <= workspace.cap:
        _record(connection, kept)
        return f"{kept.markdown}\n\n{ending}"
    head = "".join(f"{line}\n" for line in audit_lines(audit_of_prompt(workspace, kept)))
    more = f'explain "{kept.handle}" tells of single files'
    said = f'This prompt is longer than an answer: read "{kept.handle}" gives it in parts.\n\n'
    return said + capped(head, workspace.cap - _SAID, workspace.count, more=more) + ending


def _doubts(kept: KeptPrompt) -> list[str]:
    """Return what is doubtful about what was asked, and about the files, in sentences."""
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


def composed(workspace: Workspace, task: Task, budget: int, progress: Progress) -> KeptPrompt:
    """Return the prompt for a task, kept under a handle.

    Raises:
        ToolError: What is to be shown in any case does not fit.
    """
    request = workspace.request(task=task, budget=budget)
    files = workspace.read_files(request, progress)
    try:
        composition = compose_within_budget(request, index=workspace.index, files=files)
    except BudgetError as error:  # its remedies are options of the command line
        remedy = f"focus on less, or ask for a budget of {error.smallest}"
        raise ToolError(f"compose: {error.reason}: {remedy}") from None
    workspace.index.flush()
    return workspace.keep(request, composition)


def audit_of_prompt(workspace: Workspace, kept: KeptPrompt) -> Audit:
    """Return the account of a prompt."""
    prompt = kept.composition.prompt
    return audit_of(kept.request, kept.composition, count_prompt(prompt, index=workspace.index))


def _record(connection: Connection, kept: KeptPrompt) -> None:
    """Note which lines of files the reader is shown by this prompt."""
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
