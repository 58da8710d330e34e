"""Edits of what is no file: task, budget, strategy, discussion, sections, screenshots, and the preset."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import tomlkit

from aggregate.base.errors import ToolError
from aggregate.base.values import parse_amount
from aggregate.panel import file_edits
from aggregate.panel.config_editor import (
    Editor,
    Surroundings,
    check_known,
    number_of,
    text_of,
    texts_of,
)
from aggregate.panel.draft import Draft
from aggregate.panel.protocol import EditData
from aggregate.project.configuration import BEADS_MODE, MOST_BYTES
from aggregate.prompt import Strategy, display_path, find_preset


def set_task(editor: Editor, edit: EditData) -> Draft:
    """Set what the prompt is for: text, places, names, revision and budget, as far as the edit has them."""
    changes: dict[str, Any] = {}
    if "task" in edit:
        text = text_of(edit, "task")
        editor.set("task", "text", text or None)
    if "budget" in edit:
        _set_budget(editor, edit["budget"])
    if "focus" in edit:
        changes["focus"] = tuple(texts_of(edit, "focus"))
    if "symbols" in edit:
        changes["symbols"] = tuple(name for name in texts_of(edit, "symbols") if name.strip())
    if "since" in edit:
        changes["since"] = text_of(edit, "since")
    return editor.finished(**changes)


def _set_budget(editor: Editor, budget: int | str | None) -> None:
    """Set the budget where the one in force stands: in the active preset if that has one."""
    if budget is not None:
        try:
            parse_amount(budget)
        except ValueError as error:
            raise ToolError(f"the budget {error}, not {str(budget)[:40]!r}") from None
    name = editor.project.config.project.active_preset
    preset = editor.project.config.context_presets.get(name)
    if preset is None or preset.budget is None:
        editor.set("budget", "tokens", budget)
    elif budget is None:
        editor.composition.pop("budget")
    else:
        editor.composition["budget"] = budget


def set_strategy(editor: Editor, edit: EditData) -> Draft:
    """Set the strategy of the Files section."""
    name = text_of(edit, "name")
    check_known(name, [strategy.value for strategy in Strategy], "strategy")
    editor.set("project", "aggregation_strategy", name)
    return editor.finished()


def set_discussion(editor: Editor, edit: EditData) -> Draft:
    """Show another discussion, whole."""
    return editor.finished(
        discussion=text_of(edit, "name"), turns_out=frozenset[int](), has_history=True
    )


def set_turn(editor: Editor, edit: EditData) -> Draft:
    """Let a turn of the discussion in or out."""
    number = frozenset({number_of(edit, "id")})
    out = editor.draft.turns_out
    return editor.finished(turns_out=out - number if edit.get("on") else out | number)


def set_section(editor: Editor, edit: EditData) -> Draft:
    """Switch the discussion or the beads on or off."""
    name, is_on = text_of(edit, "name"), bool(edit.get("on"))
    if name == "history":
        return editor.finished(has_history=is_on)
    check_known(name, ["beads"], "section")
    editor.set("project", "execution_mode", BEADS_MODE if is_on else "native")
    return editor.finished()


def set_screenshot(editor: Editor, edit: EditData) -> Draft:
    """Let a screenshot in or out; what was let out can be let in again."""
    path, is_on = text_of(edit, "path"), bool(edit.get("on"))
    has_preset = bool(editor.project.config.project.active_preset)
    table = editor.composition if has_preset else editor.table("screenshots")
    key = "screenshots" if has_preset else "paths"
    if key not in table:
        table[key] = tomlkit.array()
    # Pages name images from the project's folder, a configuration from one of its own.
    folder = editor.project.folder
    base_dir = folder / editor.project.config.screenshots.base_dir
    places = [
        i
        for i, written in enumerate(table[key])
        if display_path(base_dir / str(written), folder) == path
    ]
    entry = display_path(folder / path, base_dir)
    if is_on and not places:
        table[key].append(entry)
    elif not is_on and not places:
        raise ToolError(
            f"{path[:100]}: a pattern stands for this screenshot, not its own path: change the pattern"
        )
    elif not is_on:
        for index in reversed(places):
            del table[key][index]
    known = dict.fromkeys((*editor.draft.images, entry))
    return editor.finished(images=tuple(known))


def set_preset(editor: Editor, edit: EditData) -> Draft:
    """Compose by another preset, or by none."""
    name = text_of(edit, "name")
    if name:
        find_preset(editor.project, name)
    editor.set("project", "active_preset", name or None)
    return editor.finished()


_MOST_EDITS: Final = 100
"""Edits of one step: the page makes one, of as many files as it likes."""


_CHANGES: Final[Mapping[str, Callable[[Editor, EditData], Draft]]] = {
    "view": file_edits.set_views,
    "mask": file_edits.set_mask,
    "slice": file_edits.add_slice,
    "confirm_slice": file_edits.confirm_slice,
    "edit_slice": file_edits.edit_slice,
    "remove_slice": file_edits.remove_slice,
    "task": set_task,
    "strategy": set_strategy,
    "discussion": set_discussion,
    "turn": set_turn,
    "section": set_section,
    "screenshot": set_screenshot,
    "preset": set_preset,
}


def apply_edits(draft: Draft, edits: Sequence[EditData], around: Surroundings) -> Draft:
    """Return the draft after some edits."""
    if len(edits) > _MOST_EDITS:
        raise ToolError(f"these are {len(edits):,} edits at once: {_MOST_EDITS} is the most")
    for edit in edits:
        change = _CHANGES.get(str(edit.get("op")))
        if change is None:
            raise ToolError(
                f"there is no edit {str(edit.get('op'))[:40]!r}: reload the page, it is of another version"
            )
        draft = change(Editor(draft, around), edit)
        draft.project(around.config)  # what cannot be loaded is no draft
    if len(draft.text.encode()) > MOST_BYTES:
        raise ToolError(
            f"the configuration would have more than {MOST_BYTES:,} bytes, which is the most: name folders by globs"
        )
    return draft
