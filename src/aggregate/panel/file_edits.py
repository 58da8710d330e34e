"""Edits of views: of one file or of many, in as few entries as say it."""

from collections.abc import Mapping, MutableMapping, Sequence
from typing import Any, Final, get_args

import tomlkit

from aggregate.base.errors import ToolError
from aggregate.code.anchors import FuzzyAnchor
from aggregate.panel.config_editor import Editor, check_known, number_of, text_of, texts_of
from aggregate.panel.draft import Draft
from aggregate.panel.entry_edits import (
    EntryList,
    append_all,
    exclude_pattern,
    set_slices,
    slices_of,
)
from aggregate.panel.protocol import EditData
from aggregate.project.configuration import MaskName, ViewModeName
from aggregate.project.paths import is_glob
from aggregate.prompt import ResolvedFile

OUT: Final = "out"
"""The view of a file that is not in the prompt."""
_VIEWS: Final[tuple[str, ...]] = get_args(ViewModeName)
_WORTH_A_GLOB: Final = 4
"""Files of a folder from which one glob says it for all of them."""


def set_views(editor: Editor, edit: EditData) -> Draft:
    """Show files by a view, or not at all."""
    paths, mode = texts_of(edit, "paths"), text_of(edit, "mode")
    if mode == OUT:
        return _take_out(editor, paths)
    check_known(mode, _VIEWS, "view")
    shown = editor.around.select(editor.draft)
    entries = editor.entries_to_add_to()
    left = dict.fromkeys(paths)
    for glob in _whole_globs(shown, left):
        if glob in entries.names():
            entries.set_view(entries.index(glob), mode)
            for path in [path for path in left if _is_of(shown, path, glob)]:
                del left[path]
    editor.exclude_no_longer(left)
    for glob in _folder_globs(left, editor.around.listed):
        entries.remove_written(glob)
        entries.set_view(entries.add(glob), mode)
        named = set(entries.named_files())
        for path in [
            path
            for path in left
            if path.startswith(glob.removesuffix("**/*")) and path not in named
        ]:
            del left[path]
    places = entries.places(left)
    places |= entries.add_all([path for path in left if path not in places])
    for path in left:
        entries.set_view(places[path], mode)
    return editor.finished()


def _folder_globs(paths: Mapping[str, None], listed: Mapping[str, ResolvedFile]) -> list[str]:
    """Return globs for the outermost folders all of whose files are among ``paths``: one line, and not hundreds."""
    chosen, every = _per_folder([*paths]), _per_folder([*listed])
    whole = [
        folder
        for folder, count in chosen.items()
        if count >= _WORTH_A_GLOB and every.get(folder) == count and not is_glob(folder)
    ]
    outermost = [
        folder for folder in whole if not any(folder.startswith(f"{other}/") for other in whole)
    ]
    return [f"{folder}/**/*" for folder in sorted(outermost)]


def _whole_globs(shown: Mapping[str, ResolvedFile], paths: Mapping[str, None]) -> list[str]:
    """Return the globs all of whose files are among ``paths``, so that one entry says it for all of them."""
    files: dict[str, int] = {}
    chosen: dict[str, int] = {}
    for path, file in shown.items():
        if file.by_glob:
            files[file.item.path] = files.get(file.item.path, 0) + 1
            chosen[file.item.path] = chosen.get(file.item.path, 0) + (path in paths)
    return [glob for glob, count in files.items() if count > 1 and chosen[glob] == count]


def _is_of(shown: Mapping[str, ResolvedFile], path: str, glob: str) -> bool:
    file = shown.get(path)
    return file is not None and file.by_glob and file.item.path == glob


def _take_out(editor: Editor, paths: Sequence[str]) -> Draft:
    """Remove the entries of files; what a glob would still take is excluded from globs."""
    entries = editor.entries
    if len(entries):
        entries.remove(paths)
    draft = editor.finished()
    left = editor.around.select(draft)
    still = [path for path in paths if path in left and left[path].by_glob]
    if not still:
        return draft
    editor = Editor(draft, editor.around)
    files = editor.table("files")
    if "exclude" not in files:
        files["exclude"] = tomlkit.array().multiline(True)
    append_all(files["exclude"], _patterns(still, left))
    return editor.finished()


def _patterns(paths: Sequence[str], shown: Mapping[str, ResolvedFile]) -> list[str]:
    """Return few patterns that match ``paths`` and no other of the files that are shown: if possible of folders."""
    chosen = _per_folder(paths)
    every = _per_folder([path for path, file in shown.items() if file.by_glob])
    whole = {folder for folder, count in chosen.items() if count > 1 and every.get(folder) == count}
    patterns: dict[str, None] = {}
    for path in paths:
        folders = [path[:i] for i, character in enumerate(path) if character == "/"]
        folder = next((folder for folder in folders if folder in whole), None)
        pattern = (
            exclude_pattern(path) if folder is None else exclude_pattern(folder, is_folder=True)
        )
        patterns[pattern] = None
    return list(patterns)


def _per_folder(paths: Sequence[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for path in paths:
        for i, character in enumerate(path):
            if character == "/":
                counts[path[:i]] = counts.get(path[:i], 0) + 1
    return counts


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
