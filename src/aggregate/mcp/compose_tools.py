"""The tools ``compose`` (returns a prompt, or its summary with a handle) and ``explain``."""

from collections.abc import Container
from dataclasses import replace
from itertools import chain
from typing import Final

from aggregate.base.errors import BudgetError, ToolError
from aggregate.base.task_budget import Pick, Place, Task
from aggregate.mcp.workspace import (
    Call,
    ComposeArguments,
    ExplainArguments,
    ShownPrompt,
    StoredPrompt,
    Workspace,
)
from aggregate.prompt import compose_within_budget, count_prompt
from aggregate.prompt.asking import Request, find_named, for_reader, is_named
from aggregate.prompt.audit import Audit, audit_lines, audit_of, row_lines
from aggregate.prompt.corpus import FileCorpus, check_focus

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
    check_focus(request, files.selection)
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
