"""Everything that the page shows beside files and prompt."""

import sys
from typing import get_args
from urllib.parse import quote

from aggregate.base.errors import AggregateError
from aggregate.base.values import Section
from aggregate.panel.composing import ComposedDraft
from aggregate.panel.draft import Draft
from aggregate.panel.protocol import (
    BeadsData,
    DiscussionData,
    PresetData,
    ScreenshotData,
    StateData,
    TurnData,
)
from aggregate.panel.screenshots import images_of, known_images
from aggregate.panel.session import Session
from aggregate.project.configuration import BEADS_MODE, Project, ViewModeName, user_config
from aggregate.project.history import named_discussions
from aggregate.prompt import Strategy, discussion_turns, for_reader, scope_of, shared_personas

_BEGINNING = 200
"""Characters of a turn that tell which one it is."""
_SEARCHED = 20_000
"""Characters of a turn that are searched for secrets that begin in the former: a key has fewer."""


def state_data(session: Session) -> StateData:
    """Return the state as the page takes it."""
    now = session.now()
    edited, view = now.edited, now.view
    draft, project = edited.current, edited.project
    composed = view.composed
    warnings = [session.problem] if session.problem else []
    warnings += for_reader(composed.composition.warnings) if composed else ()
    preset = project.config.project.active_preset
    chosen = project.config.context_presets.get(preset)
    budget = chosen.budget if chosen is not None and chosen.budget is not None else None
    budget = project.config.budget.tokens if budget is None else budget
    tokens = composed.tokens.document if composed and not view.error else None
    return {
        "version": session.version,
        "revision": now.revision,
        "composed": view.revision,
        "project": project.config.project.name or project.folder.resolve().name,
        "root": str(project.folder.resolve()),
        "config": str(session.config),
        "exists": edited.exists,
        "dirty": edited.is_dirty,
        "can_undo": edited.can_undo,
        "can_redo": edited.can_redo,
        "unsaved": now.unsaved,
        "outside": edited.outside,
        "config_problem": edited.problem,
        "views": list(get_args(ViewModeName)),
        "strategy": Strategy.parse(project.config.project.aggregation_strategy).value,
        "strategies": [strategy.value for strategy in Strategy],
        "preset": preset,
        "presets": _presets(project, warnings),
        "discussion": _discussion(draft, project, composed, warnings),
        "beads": _beads(project, composed),
        "screenshots": _screenshots(draft, project, warnings),
        "task": {
            "text": project.config.task.text,
            "focus": list(draft.focus),
            "symbols": list(draft.symbols),
            "since": draft.since,
        },
        "budget": budget,
        "budget_tokens": composed.request.budget.tokens
        if composed and composed.request.budget
        else None,
        "models": [model.data(tokens) for model in session.models],
        "personas": sorted({**shared_personas(), **project.config.personas}),
        "prompt": {
            "tokens": composed.tokens.document,
            "bytes": composed.lines.size,
            "lines": composed.lines.count,
        }
        if composed and not view.error
        else None,
        "prompt_error": view.error,
        "sections": {section.value: count for section, count in composed.tokens.sections.items()}
        if composed
        else {},
        "warnings": warnings,
        "cut": [f"{cut.section}: {cut.what}: {cut.reason}" for cut in composed.composition.cut]
        if composed
        else [],
    }


def _presets(project: Project, warnings: list[str]) -> list[PresetData]:
    own = project.config.context_presets
    rows: list[PresetData] = [
        {
            "name": name,
            "description": table.description,
            "scope": "project",
            "files": len(table.files),
        }
        for name, table in own.items()
    ]
    try:
        shared = user_config().context_presets
    except AggregateError as error:
        warnings.append(str(error))
        return rows
    rows += [
        {
            "name": name,
            "description": preset.description,
            "scope": "global",
            "files": len(preset.files),
        }
        for name, preset in shared.items()
        if name not in own
    ]
    return rows


def _discussion(
    draft: Draft, project: Project, composed: ComposedDraft | None, warnings: list[str]
) -> DiscussionData:
    names = named_discussions(project.path) if project.path else []
    try:
        turns = discussion_turns(project, draft.discussion, scope=scope_of(project)).all
    except AggregateError as error:
        warnings.append(str(error))
        turns = ()
    tokens = iter(_turn_tokens(composed))
    rows: list[TurnData] = []
    for number, turn in enumerate(turns):
        is_on = draft.shows_discussion and number not in draft.turns_out
        role, text = ("", turn) if isinstance(turn, str) else (turn["role"], turn["content"])
        rows.append(
            {
                "id": number,
                "role": str(role),
                "beginning": draft.shown_text(project, str(text)[:_SEARCHED])[:_BEGINNING],
                "tokens": next(tokens, 0) if is_on else 0,
                "on": is_on,
            }
        )
    return {"name": draft.discussion, "names": names, "turns": rows}


def _turn_tokens(composed: ComposedDraft | None) -> list[int]:
    if composed is None:
        return []
    pairs = zip(composed.composition.prompt.segments, composed.tokens.segments, strict=True)
    tokens = [count for segment, count in pairs if segment.section is Section.HISTORY]
    return tokens[1:]  # behind the heading


def _beads(project: Project, composed: ComposedDraft | None) -> BeadsData | None:
    is_on = project.config.project.execution_mode == BEADS_MODE
    text = "".join(
        segment.text
        for segment in (composed.composition.prompt.segments if composed else ())
        if segment.section is Section.BEADS
    )
    folder = project.folder
    has_beads = any((folder / name).is_dir() for name in (".beads", ".beads_mock"))
    if not (is_on or has_beads):
        return None
    tokens = composed.tokens.sections.get(Section.BEADS, 0) if composed else 0
    return {"on": is_on, "text": text, "tokens": tokens}


def _screenshots(draft: Draft, project: Project, warnings: list[str]) -> list[ScreenshotData]:
    try:
        request = draft.request(project)
    except AggregateError as error:
        warnings.append(str(error))
        return []
    shown = {image.path for image in images_of(request)}
    return [
        {
            "path": image.path,
            "url": "" if image.problem else f"/api/image?path={_quoted(image.path)}",
            "problem": image.problem,
            "on": image.path in shown,
        }
        for image in known_images(request, draft)
    ]


def _quoted(path: str) -> str:
    return quote(path, errors=sys.getfilesystemencodeerrors())
