"""Edits of views: of one file or of many, in as few entries as say it."""

from collections.abc import Mapping, Sequence
from typing import Final, get_args

import tomlkit

from aggregate.panel.config_editor import Editor
from aggregate.panel.draft import Draft
from aggregate.panel.edit_fields import check_known, text_of, texts_of
from aggregate.panel.entry_edits import append_all, exclude_pattern
from aggregate.panel.protocol import EditData
from aggregate.project.configuration import ViewModeName
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
