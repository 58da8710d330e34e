"""Everything that the page shows beside files and prompt."""

import sys
from typing import Any, Final, get_args
from urllib.parse import quote

from aggregate.base.errors import AggregateError
from aggregate.base.values import Section
from aggregate.panel.composing import ComposedDraft
from aggregate.panel.draft import Draft
from aggregate.panel.prompt_data import beside_prompt
from aggregate.panel.screenshots import images_of, known_images
from aggregate.panel.session import Session
from aggregate.project.configuration import BEADS_MODE, Project, ViewModeName, user_config
from aggregate.project.history import NO_DISCUSSION, named_discussions
from aggregate.prompt import (
    Strategy,
    discussion_turns,
    for_reader,
    redact_text,
    scope_of,
    shared_personas,
)

_BEGINNING: Final = 200  # Characters of a turn that tell which one it is
# Characters of a turn that are searched for secrets that begin in the former: a key has fewer.
_SEARCHED: Final = 20_000


def state_data(session: Session) -> dict[str, Any]:
    now = session.now()
    edited, view = now.edited, now.view
    draft, project = edited.current, edited.project
    config = project.config
    composed = view.composed
    chosen = config.context_presets.get(config.project.active_preset)
    budget = chosen.budget if chosen is not None and chosen.budget is not None else None
    warnings = [session.problem] if session.problem else []
    warnings += for_reader(composed.composition.warnings) if composed else ()
    size = None
    if composed and not view.error:
        lines = composed.lines
        size = {"tokens": composed.tokens.document, "bytes": lines.size, "lines": lines.count}
    state = {
        "version": session.version,
        "revision": now.revision,  # of the draft and the disk
        "composed": view.revision,  # of the prompt, less while it is being composed
        "project": config.project.name or project.folder.resolve().name,
        "root": str(project.folder.resolve()),
        "config": str(session.config),
        "exists": edited.exists,
        "dirty": edited.is_dirty,
        "can_undo": bool(edited.undoable),
        "can_redo": bool(edited.redoable),
        "unsaved": now.unsaved,
        "outside": edited.outside,
        "config_problem": edited.problem,
        "views": list(get_args(ViewModeName)),
        "strategy": Strategy.parse(config.project.aggregation_strategy).value,
        "strategies": [strategy.value for strategy in Strategy],
        "preset": config.project.active_preset,
        "presets": _presets(project, warnings),
        "discussion": _discussion(draft, project, composed, warnings),
        "beads": _beads(project, composed),
        "screenshots": _screenshots(draft, project, warnings),
        "task": {
            "text": config.task.text,
            "focus": list(draft.focus),
            "symbols": list(draft.symbols),
            "since": draft.since,
        },
        "budget": config.budget.tokens if budget is None else budget,
        "budget_tokens": None,  # the same as a number, of the prompt
        "models": [beside_prompt(model, size) for model in session.models],
        "personas": sorted({**shared_personas(), **config.personas}),
        "prompt": size,
        "prompt_error": view.error,
        "sections": {},
        "warnings": warnings,
        "cut": [],  # what else than files was shortened or left out for the budget
    }
    if composed is not None:
        cut = composed.composition.cut
        if composed.request.budget:
            state["budget_tokens"] = composed.request.budget.tokens
        state["sections"] = {each.value: count for each, count in composed.tokens.sections.items()}
        state["cut"] = [f"{each.section}: {each.what}: {each.reason}" for each in cut]
    return state


def _presets(project: Project, warnings: list[str]) -> list[dict[str, Any]]:
    own = project.config.context_presets
    try:
        shared = user_config().context_presets
    except AggregateError as error:
        warnings.append(str(error))
        shared = {}
    return [
        {"name": name, "description": preset.description, "files": len(preset.files)}
        for name, preset in {**own, **shared, **own}.items()
    ]


def _discussion(
    draft: Draft, project: Project, composed: ComposedDraft | None, warnings: list[str]
) -> dict[str, Any]:
    try:
        turns = discussion_turns(project, draft.discussion, scope=scope_of(project)).all
    except AggregateError as error:
        warnings.append(str(error))
        turns = ()
    counted: list[int] = []
    if composed is not None:
        pairs = zip(composed.composition.prompt.segments, composed.tokens.segments, strict=True)
        counted = [count for segment, count in pairs if segment.section is Section.HISTORY]
    tokens = iter(counted[1:])  # behind the heading
    redaction = draft.redaction(project) if turns else None
    shows_turns = draft.has_history and draft.discussion != NO_DISCUSSION
    rows: list[dict[str, Any]] = []
    for number, turn in enumerate(turns):
        is_on = shows_turns and number not in draft.turns_out
        role, text = ("", turn) if isinstance(turn, str) else (turn["role"], turn["content"])
        beginning = str(text)[:_SEARCHED]
        if redaction is not None:
            beginning = redact_text(beginning, "", redaction)[0]
        rows.append(
            {
                "id": number,
                "role": str(role),
                "beginning": beginning[:_BEGINNING],
                "tokens": next(tokens, 0) if is_on else 0,
                "on": is_on,
            }
        )
    names = named_discussions(project.path) if project.path else []
    return {"name": draft.discussion, "names": names, "turns": rows}


def _beads(project: Project, composed: ComposedDraft | None) -> dict[str, Any] | None:
    is_on = project.config.project.execution_mode == BEADS_MODE
    folder = project.folder
    if not is_on and not any((folder / name).is_dir() for name in (".beads", ".beads_mock")):
        return None
    segments = composed.composition.prompt.segments if composed else ()
    text = "".join(each.text for each in segments if each.section is Section.BEADS)
    tokens = composed.tokens.sections.get(Section.BEADS, 0) if composed else 0
    return {"on": is_on, "text": text, "tokens": tokens}


def _screenshots(draft: Draft, project: Project, warnings: list[str]) -> list[dict[str, Any]]:
    try:
        request = draft.request(project)
    except AggregateError as error:
        warnings.append(str(error))
        return []
    shown = {image.path for image in images_of(request)}
    encoding = sys.getfilesystemencodeerrors()
    return [
        {
            "path": image.path,
            "url": "" if image.problem else f"/api/image?path={quote(image.path, errors=encoding)}",
            "problem": image.problem,
            "on": image.path in shown,
        }
        for image in known_images(request, draft)
    ]
