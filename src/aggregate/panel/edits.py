"""The page's edits, each a change of a draft; nothing is written here."""

from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args

import tomlkit

from aggregate.anchors import FuzzyAnchor
from aggregate.compose.asking import ALL_FILES
from aggregate.compose.layout import Strategy
from aggregate.compose.project import find_preset
from aggregate.compose.selection import ResolvedFile, display_path
from aggregate.config.load import MOST_BYTES, Project
from aggregate.config.schema import BEADS_MODE, MaskName, ViewModeName
from aggregate.errors import ToolError
from aggregate.models.amounts import parse_amount
from aggregate.panel.draft import Draft
from aggregate.panel.entry_edits import (
    EntryList,
    append_all,
    exclude_pattern,
    remove_all,
    set_slices,
    slices_of,
)
from aggregate.panel.protocol import EditData
from aggregate.paths.globs import is_glob
from aggregate.presets.store import TABLE, preset_toml

OUT = "out"
"""The view of a file that is not in the prompt."""
VIEWS: tuple[str, ...] = get_args(ViewModeName)
_MASKS: tuple[str, ...] = get_args(MaskName)
_WORTH_A_GLOB = 4
"""Files of a folder from which one glob says it for all of them."""
_MOST_EDITS = 100
"""Edits of one step: the page makes one, of as many files as it likes."""
_MOST_TEXT = 200_000
"""Characters of a task: a log that somebody pastes has that many at most."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What an edit has to know of the disk.

    Attributes:
        config: The configuration's path.
        select: Returns the files that a draft asks for, by their paths.
        listed: All files that could be asked for.
        text: Returns the text of a file of the project.
    """

    config: Path
    select: Callable[[Draft], Mapping[str, ResolvedFile]]
    listed: Mapping[str, ResolvedFile]
    text: Callable[[str], str]


def apply_edits(draft: Draft, edits: Sequence[EditData], around: Surroundings) -> Draft:
    """Return the draft after some edits.

    Raises:
        ToolError: An edit is none, or names what is not there.
        ConfigError: The draft would be no configuration.
        AnchorError: Lines that are to be a slice do not stand in the file.
    """
    if len(edits) > _MOST_EDITS:
        raise ToolError(f"these are {len(edits):,} edits at once: {_MOST_EDITS} is the most")
    for edit in edits:
        change = _CHANGES.get(str(edit.get("op")))
        if change is None:
            raise ToolError(
                f"there is no edit {str(edit.get('op'))[:40]!r}: reload the page, it is of another version"
            )
        draft = change(_Editor(draft, around), edit)
        draft.project(around.config)  # what cannot be loaded is no draft
    if len(draft.text.encode()) > MOST_BYTES:
        raise ToolError(
            f"the configuration would have more than {MOST_BYTES:,} bytes, which is the most: name folders by globs"
        )
    return draft


class _Editor:
    """A draft that is being changed.

    Attributes:
        draft: What is changed.
        around: What is known of the disk.
        project: The draft as a project.
        document: Its configuration, to be changed in place.
    """

    def __init__(self, draft: Draft, around: Surroundings) -> None:
        self.draft = draft
        self.around = around
        self.project: Project = draft.project(around.config)
        self.document = tomlkit.parse(draft.text)

    def table(self, name: str) -> MutableMapping[str, Any]:
        """Return a table of the configuration, which is made where it is missing."""
        if name not in self.document:
            self.document[name] = tomlkit.table()
        table: MutableMapping[str, Any] = self.document[name]
        return table

    def set(self, table: str, key: str, value: object) -> None:
        """Set a key, or remove it where the value is ``None``; a table that is empty then goes too."""
        if value is not None:
            self.table(table)[key] = value
        elif table in self.document:
            self.table(table).pop(key, None)
            if not self.document[table]:
                del self.document[table]

    @property
    def composition(self) -> MutableMapping[str, Any]:
        """The table whose files and screenshots are in force: the active preset's, else the configuration's own.

        A preset of all projects is copied into this one before it is changed.
        """
        name = self.project.config.project.active_preset
        if not name:
            return self.table("files")
        if name not in self.document.get(TABLE, {}):
            copied = tomlkit.parse(preset_toml(find_preset(self.project, name)))[TABLE]
            presets = self.document.setdefault(TABLE, tomlkit.table(is_super_table=True))
            presets[name] = copied[name]
        preset: MutableMapping[str, Any] = self.document[TABLE][name]
        return preset

    @property
    def entries(self) -> EntryList:
        """The entries in force."""
        key = "files" if self.project.config.project.active_preset else "paths"
        base_dir = self.project.folder / self.project.config.files.base_dir
        return EntryList(self.composition, key, base_dir)

    def entries_to_add_to(self) -> EntryList:
        """Return the entries in force; where none stand for all files, that is written down before one is added."""
        entries = self.entries
        has_preset = bool(self.project.config.project.active_preset)
        if not len(entries) and not has_preset and self.draft.asks(self.project):
            entries.add(ALL_FILES)
        return entries

    def finished(self, **changes: Any) -> Draft:  # noqa: ANN401 - the fields of a draft
        """Return the draft with the configuration as it is now, and other changes."""
        return replace(self.draft, text=tomlkit.dumps(self.document), **changes)


def _set_views(editor: _Editor, edit: EditData) -> Draft:
    paths, mode = _texts(edit, "paths"), _text(edit, "mode")
    if mode == OUT:
        return _take_out(editor, paths)
    _check(mode, VIEWS, "view")
    shown = editor.around.select(editor.draft)
    entries = editor.entries_to_add_to()
    left = dict.fromkeys(paths)
    for glob in _whole_globs(shown, left):
        if glob in entries.names():
            entries.set_view(entries.index(glob), mode)
            for path in [path for path in left if _is_of(shown, path, glob)]:
                del left[path]
    _take_in(editor, left)
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


def _take_in(editor: _Editor, paths: Mapping[str, None]) -> None:
    """Exclude no longer what is named now."""
    patterns = {exclude_pattern(path) for path in paths}
    excluded = editor.document.get("files", {}).get("exclude", [])
    remove_all(excluded, [i for i, pattern in enumerate(excluded) if pattern in patterns])
    if "exclude" in editor.document.get("files", {}) and not excluded:
        del editor.table("files")["exclude"]


def _take_out(editor: _Editor, paths: Sequence[str]) -> Draft:
    """Remove the entries of files; what a glob would still take is excluded from globs."""
    entries = editor.entries
    if len(entries):
        entries.remove(paths)
    draft = editor.finished()
    left = editor.around.select(draft)
    still = [path for path in paths if path in left and left[path].by_glob]
    if not still:
        return draft
    editor = _Editor(draft, editor.around)
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
    """Return how many of the paths lie below each folder."""
    counts: dict[str, int] = {}
    for path in paths:
        for i, character in enumerate(path):
            if character == "/":
                counts[path[:i]] = counts.get(path[:i], 0) + 1
    return counts


def _set_mask(editor: _Editor, edit: EditData) -> Draft:
    path, name, mask = (_text(edit, key) for key in ("path", "name", "mask"))
    if mask:
        _check(mask, _MASKS, "mask")
    entries = editor.entries_to_add_to()
    editor.around.text(path)  # refuses what is no file of the project
    _take_in(editor, {path: None})
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


def _add_slice(editor: _Editor, edit: EditData) -> Draft:
    path = _text(edit, "path")
    piece = _captured(editor, path, _number(edit, "start"), _number(edit, "end"), edit)
    entries = editor.entries_to_add_to()
    _take_in(editor, {path: None})
    table = entries.table_of(path)
    slices = [*slices_of(table), piece]
    table = _shown_as(entries, path, "custom")
    set_slices(table, sorted(slices, key=lambda each: int(each.get("start_line", 0))))
    return editor.finished()


def _confirm_slice(editor: _Editor, edit: EditData) -> Draft:
    """Capture a slice anew: where it went, or where the user says."""
    path, number = _text(edit, "path"), _number(edit, "id")
    table = editor.entries.table_of(path)
    slices = slices_of(table)
    old = _slice(slices, number, path)
    if edit.get("start") is not None and edit.get("end") is not None:
        start, end = _number(edit, "start"), _number(edit, "end")
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


def _edit_slice(editor: _Editor, edit: EditData) -> Draft:
    path, number = _text(edit, "path"), _number(edit, "id")
    table = editor.entries.table_of(path)
    slices = slices_of(table)
    piece = _slice(slices, number, path)
    for key in ("tag", "comment"):
        piece[key] = str(edit.get(key) or "") or None
    set_slices(table, slices)
    return editor.finished()


def _remove_slice(editor: _Editor, edit: EditData) -> Draft:
    path, number = _text(edit, "path"), _number(edit, "id")
    table = editor.entries.table_of(path)
    slices = slices_of(table)
    _slice(slices, number, path)
    del slices[number]
    set_slices(table, slices)
    return editor.finished()


def _captured(editor: _Editor, path: str, start: int, end: int, said: EditData) -> dict[str, Any]:
    tag, comment = (str(said.get(key) or "") or None for key in ("tag", "comment"))
    text = editor.around.text(path)
    return dict(FuzzyAnchor.create_slice(text, start, end, tag, comment))


def _slice(slices: Sequence[dict[str, Any]], number: int, path: str) -> dict[str, Any]:
    if not 0 <= number < len(slices):
        raise ToolError(f"{path} has no slice {number} any more: look at the file again")
    return slices[number]


def _set_task(editor: _Editor, edit: EditData) -> Draft:
    changes: dict[str, Any] = {}
    if "task" in edit:
        text = _text(edit, "task")
        editor.set("task", "text", text or None)
    if "budget" in edit:
        _set_budget(editor, edit["budget"])
    if "focus" in edit:
        changes["focus"] = tuple(_texts(edit, "focus"))
    if "symbols" in edit:
        changes["symbols"] = tuple(name for name in _texts(edit, "symbols") if name.strip())
    if "since" in edit:
        changes["since"] = _text(edit, "since")
    return editor.finished(**changes)


def _set_budget(editor: _Editor, budget: int | str | None) -> None:
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


def _set_strategy(editor: _Editor, edit: EditData) -> Draft:
    name = _text(edit, "name")
    _check(name, [strategy.value for strategy in Strategy], "strategy")
    editor.set("project", "aggregation_strategy", name)
    return editor.finished()


def _set_discussion(editor: _Editor, edit: EditData) -> Draft:
    return editor.finished(
        discussion=_text(edit, "name"), turns_out=frozenset[int](), has_history=True
    )


def _set_turn(editor: _Editor, edit: EditData) -> Draft:
    number = frozenset({_number(edit, "id")})
    out = editor.draft.turns_out
    return editor.finished(turns_out=out - number if edit.get("on") else out | number)


def _set_section(editor: _Editor, edit: EditData) -> Draft:
    name, is_on = _text(edit, "name"), bool(edit.get("on"))
    if name == "history":
        return editor.finished(has_history=is_on)
    _check(name, ["beads"], "section")
    editor.set("project", "execution_mode", BEADS_MODE if is_on else "native")
    return editor.finished()


def _set_screenshot(editor: _Editor, edit: EditData) -> Draft:
    path, is_on = _text(edit, "path"), bool(edit.get("on"))
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


def _set_preset(editor: _Editor, edit: EditData) -> Draft:
    name = _text(edit, "name")
    if name:
        find_preset(editor.project, name)
    editor.set("project", "active_preset", name or None)
    return editor.finished()


_CHANGES: Mapping[str, Callable[[_Editor, EditData], Draft]] = {
    "view": _set_views,
    "mask": _set_mask,
    "slice": _add_slice,
    "confirm_slice": _confirm_slice,
    "edit_slice": _edit_slice,
    "remove_slice": _remove_slice,
    "task": _set_task,
    "strategy": _set_strategy,
    "discussion": _set_discussion,
    "turn": _set_turn,
    "section": _set_section,
    "screenshot": _set_screenshot,
    "preset": _set_preset,
}


def _text(edit: EditData, key: str) -> str:
    """Return a text of an edit.

    Raises:
        ToolError: It is none.
    """
    value = edit.get(key)
    if not isinstance(value, str) or len(value) > _MOST_TEXT:
        raise ToolError(f'the edit "{edit.get("op")}" needs a text as "{key}"')
    if not _is_unicode(value):
        raise ToolError(f'the edit "{edit.get("op")}": "{key}" is no Unicode text')
    return value


def _texts(edit: EditData, key: str) -> list[str]:
    values = edit.get(key)
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise ToolError(f'the edit "{edit.get("op")}" needs a list of texts as "{key}"')
    for value in values:
        if not _is_unicode(value):
            raise ToolError(
                f"{value[:200]!r} is no Unicode, which a configuration cannot hold: rename it, or name it by a glob"
            )
    return values


def _is_unicode(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _number(edit: EditData, key: str) -> int:
    value = edit.get(key)
    if not isinstance(value, int) or isinstance(value, bool):
        raise ToolError(f'the edit "{edit.get("op")}" needs a number as "{key}"')
    return value


def _check(value: str, known: Sequence[str], what: str) -> None:
    if value not in known:
        raise ToolError(f"there is no {what} {value[:40]!r}: there are {', '.join(known)}")
