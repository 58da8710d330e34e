"""Edits of what a file shows: masks of its definitions, and its slices."""

from collections.abc import MutableMapping, Sequence
from typing import Any, Final, get_args

import tomlkit

from aggregate.base.errors import ToolError
from aggregate.code.anchors import FuzzyAnchor
from aggregate.panel.config_editor import Editor
from aggregate.panel.draft import Draft
from aggregate.panel.edit_fields import check_known, number_of, text_of
from aggregate.panel.entry_edits import EntryList, set_slices, slices_of
from aggregate.panel.protocol import EditData
from aggregate.project.configuration import MaskName

_MASKS: Final[tuple[str, ...]] = get_args(MaskName)


def set_mask(editor: Editor, edit: EditData) -> Draft:
    """Let a definition be shown whole, by its signature, or not at all."""
    path, name, mask = (text_of(edit, key) for key in ("path", "name", "mask"))
    if mask:
        check_known(mask, _MASKS, "mask")
    entries = editor.entries_to_add_to()
    editor.around.text(path)  # refuses what is no file of the project
    editor.exclude_no_longer([path])
    table = entries.table_of(path)
    masks = dict(table.get("ast_mask", {}))
    masks.pop(name, None)
    if mask:
        masks[name] = mask
    table = _shown_as(entries, path, "masked")
    inline = tomlkit.inline_table()
    inline.update(masks)
    if masks:
        table["ast_mask"] = inline
    else:
        table.pop("ast_mask", None)
    return editor.finished()


def _shown_as(entries: EntryList, path: str, mode: str) -> MutableMapping[str, Any]:
    """Let a file's own entry show it by a view; return the entry."""
    place = entries.find(path)
    if place is not None and entries.table_at(place).get("view_mode") != mode:
        entries.set_view(place, mode)
    return entries.table_of(path)


def add_slice(editor: Editor, edit: EditData) -> Draft:
    """Add lines of a file to its slices, and show it by these."""
    path = text_of(edit, "path")
    piece = _captured(editor, path, number_of(edit, "start"), number_of(edit, "end"), edit)
    entries = editor.entries_to_add_to()
    editor.exclude_no_longer([path])
    table = entries.table_of(path)
    slices = [*slices_of(table), piece]
    table = _shown_as(entries, path, "custom")
    set_slices(table, sorted(slices, key=lambda each: int(each.get("start_line", 0))))
    return editor.finished()


def confirm_slice(editor: Editor, edit: EditData) -> Draft:
    """Capture a slice anew: where it went, or where the user says."""
    path, number = text_of(edit, "path"), number_of(edit, "id")
    table = editor.entries.table_of(path)
    slices = slices_of(table)
    old = _slice(slices, number, path)
    if edit.get("start") is not None and edit.get("end") is not None:
        start, end = number_of(edit, "start"), number_of(edit, "end")
    else:
        place = FuzzyAnchor.resolve(old, editor.around.text(path))
        if place.found:
            start, end = place.start_line, place.end_line
        elif place.candidates:
            start, end = place.candidates[0]
        else:
            raise ToolError(f"{path}: nobody knows where these lines went: choose them anew")
    said: EditData = {
        "op": "slice",
        "tag": old.get("tag") or "",
        "comment": old.get("comment") or "",
    }
    slices[number] = _captured(editor, path, start, end, said)
    set_slices(table, slices)
    return editor.finished()


def edit_slice(editor: Editor, edit: EditData) -> Draft:
    """Change the label and the remark of a slice."""
    path, number = text_of(edit, "path"), number_of(edit, "id")
    table = editor.entries.table_of(path)
    slices = slices_of(table)
    piece = _slice(slices, number, path)
    for key in ("tag", "comment"):
        text, old = str(edit.get(key) or ""), str(piece.get(key) or "")
        # The page has a label without its secrets, which are not to be replaced in the configuration.
        if text != editor.around.without_secrets(old):
            piece[key] = text or None
    set_slices(table, slices)
    return editor.finished()


def remove_slice(editor: Editor, edit: EditData) -> Draft:
    """Remove a slice."""
    path, number = text_of(edit, "path"), number_of(edit, "id")
    table = editor.entries.table_of(path)
    slices = slices_of(table)
    _slice(slices, number, path)
    del slices[number]
    set_slices(table, slices)
    return editor.finished()


def _captured(editor: Editor, path: str, start: int, end: int, said: EditData) -> dict[str, Any]:
    tag, comment = (str(said.get(key) or "") or None for key in ("tag", "comment"))
    text = editor.around.text(path)
    return dict(FuzzyAnchor.create_slice(text, start, end, tag, comment))


def _slice(slices: Sequence[dict[str, Any]], number: int, path: str) -> dict[str, Any]:
    if not 0 <= number < len(slices):
        raise ToolError(f"{path} has no slice {number} any more: look at the file again")
    return slices[number]
