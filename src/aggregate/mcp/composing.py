"""``compose``: the prompt for a task, or what is in it and a handle to read it by; ``explain`` tells of its files."""

from collections.abc import Container
from dataclasses import replace
from itertools import chain
from typing import Final

from aggregate.base.errors import BudgetError, ToolError
from aggregate.base.request import Pick, Place, Task
from aggregate.mcp.workspace import (
    ComposeArguments,
    Connection,
    ExplainArguments,
    KeptPrompt,
    Progress,
    ShownPrompt,
    Workspace,
)
from aggregate.prompt import (
    FocusIndex,
    Request,
    check_focus,
    compose_within_budget,
    count_prompt,
    for_reader,
    is_named,
    make_sheet,
)
from aggregate.prompt.audit import Audit, audit_lines, audit_of, row_lines
from aggregate.prompt.ranked_files import ReadFiles, rank_files

# Tokens of the line that names a prompt's handle: some 25, by what its digits come to.
_HANDLE: Final = 40
_NOTES: Final = 200  # tokens of what is doubtful about what was asked


def compose(
    workspace: Workspace, connection: Connection, asked: ComposeArguments, progress: Progress
) -> str:
    places = tuple(map(Place.parse, asked.focus))
    task = Task(asked.task, focus=places, symbols=tuple(asked.symbols), since=asked.since)
    task = replace(task, is_strict=True)
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
    workspace.composed.append(tokens)
    choices = (choice for choice in kept.composition.choices if choice.tokens)
    workspace.shown |= {(choice.path, choice.content_hash): choice.size for choice in choices}
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
    check_focus(request, files.selection)
    request = _with_picks(request, files)
    try:
        composition = compose_within_budget(request, index=workspace.index, files=files)
    except BudgetError as error:  # its remedies are options of the command line
        most = _HANDLE + _NOTES
        remedy = f"with up to {most} tokens of the answer's own a budget of {error.smallest + most} would do"
        raise ToolError(f"compose: {error.reason}; {remedy}, or focus on less") from None
    workspace.index.flush()
    return workspace.keep(request, composition)


def _with_picks(request: Request, files: ReadFiles) -> Request:
    """Return a request whose focus on whole files is a pick, with its symbols in them: these pin nothing (T-10)."""
    task, corpus = request.task or Task(), files.corpus
    if not task.focus:
        return request
    pairs = zip(corpus.files, corpus.shown, strict=True)
    known = FocusIndex((facts.path, file.item.path) for facts, file in pairs)
    found = {place: () if place.first else known.find(place.path) for place in task.focus}
    numbers = [number for each in found.values() for number in each]
    picks = [Pick(corpus.files[number].path) for number in numbers]
    names = [
        Pick(pick.path, ".".join(definition.path))
        for pick, analysis in zip(picks, corpus.analyses(numbers), strict=True)
        for definition in analysis.definitions
    ]
    meant = {name: [pick for pick in names if _is_called(pick, name)] for name in task.symbols}
    picks += [pick for each in meant.values() for pick in each]
    focus = tuple(place for place in found if not found[place])  # what names nothing is told
    symbols = tuple(name for name in meant if not meant[name])
    # What is left of places or names of which some match is told, and no error.
    is_strict = len(symbols) == len(task.symbols) and len(focus) in (0, len(task.focus))
    task = replace(task, focus=focus, symbols=symbols, picks=tuple(picks), is_strict=is_strict)
    return replace(request, task=task)


def _is_called(pick: Pick, name: str) -> bool:
    return f".{pick.definition}".endswith(f".{name}")


_SHEET: Final = 2_500  # tokens: as many as were measured to do
_PICK: Final = "[compose takes what matters of these: focus by paths, symbols by names]\n"


def sheet(workspace: Workspace, task: str, progress: Progress) -> str:
    request = workspace.request(task=Task(task))
    files = workspace.read_files(request, progress)
    ranked = rank_files(request, index=workspace.index, files=files)
    most = min(_SHEET, workspace.cap) - workspace.count(_PICK)
    text = make_sheet(ranked, workspace.count, most=most).text
    workspace.index.flush()
    return f"{text}{_PICK}"


def _doubts(kept: KeptPrompt) -> list[str]:
    smallest = kept.composition.smallest
    # The answer says more than the prompt, which counts.
    nothing = f"no file fits into the budget: one of {smallest + _HANDLE + _NOTES} shows one"
    return [*([nothing] if smallest else []), *for_reader(kept.composition.warnings)]


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
