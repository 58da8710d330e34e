"""The page's edits, each a change of a draft; nothing is written here."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from aggregate.base.errors import ToolError
from aggregate.panel import setting_edits, slice_edits, view_edits
from aggregate.panel.config_editor import Editor, Surroundings
from aggregate.panel.draft import Draft
from aggregate.panel.protocol import EditData
from aggregate.project.configuration import MOST_BYTES

_MOST_EDITS: Final = 100
"""Edits of one step: the page makes one, of as many files as it likes."""


_CHANGES: Final[Mapping[str, Callable[[Editor, EditData], Draft]]] = {
    "view": view_edits.set_views,
    "mask": slice_edits.set_mask,
    "slice": slice_edits.add_slice,
    "confirm_slice": slice_edits.confirm_slice,
    "edit_slice": slice_edits.edit_slice,
    "remove_slice": slice_edits.remove_slice,
    "task": setting_edits.set_task,
    "strategy": setting_edits.set_strategy,
    "discussion": setting_edits.set_discussion,
    "turn": setting_edits.set_turn,
    "section": setting_edits.set_section,
    "screenshot": setting_edits.set_screenshot,
    "preset": setting_edits.set_preset,
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
