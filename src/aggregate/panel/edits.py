"""Apply the page's edits to a draft; the field ``op`` is the kind of an edit."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, TypeVar, get_args

import tomlkit

from aggregate.base.errors import ToolError
from aggregate.base.task_budget import parse_amount
from aggregate.code.anchors import FuzzyAnchor
from aggregate.panel.draft import Draft
from aggregate.panel.entry_edits import EntryList, append_all, exclude_pattern, remove_all
from aggregate.project.configuration import MOST_BYTES, Project, edited
from aggregate.project.files import display_path
from aggregate.project.paths import is_glob
from aggregate.project.presets import TABLE, preset_toml, set_preset
from aggregate.project.tables import BEADS_MODE, MaskName, ViewModeName
from aggregate.prompt import File
from aggregate.prompt.asking import ALL_FILES, Strategy, find_preset

# An edit from the page; the docstrings below name the keys beside ``op``.
Edit = Mapping[str, Any]
ValueT = TypeVar("ValueT")

_WORTH_A_GLOB: Final = 4  # least number of a folder's files replaced by a glob
_VIEWS: Final[tuple[str, ...]] = get_args(ViewModeName)
_MASKS: Final[tuple[str, ...]] = get_args(MaskName)


@dataclass(frozen=True, slots=True)
class Surroundings:
    config: Path
    select: Callable[[Draft], Mapping[str, File]]  # files of a draft's entries
    listed: Mapping[str, File]  # all possible files
    text: Callable[[str], str]  # of a file of the project


class Editor:
    """Applies one edit of the page to a draft."""

    document: Any  # tomlkit's, while the edit is applied

    def __init__(self, draft: Draft, around: Surroundings, edit: Edit) -> None:
        self.draft = draft
        self.around = around
        self.edit = edit
        self.project: Project = draft.project(around.config)
        self.preset = self.project.config.project.active_preset

    def apply(self, change: "Callable[[Editor], None]") -> Draft:
        def apply_to(document: Any) -> None:  # noqa: ANN401 - tomlkit's
            self.document = document
            change(self)

        text = edited(self.draft.text, apply_to)
        return replace(self.draft, text=text)

    def set_draft(self, **changes: Any) -> None:  # noqa: ANN401 - fields of a draft
        self.draft = replace(self.draft, **changes)

    # --- values of the edit, which are not trusted

    def text(self, key: str) -> str:
        value = self._value(key, str, "a text")
        if not _is_unicode(value):
            raise ToolError(f'the edit "{self.edit.get("op")}": "{key}" is not valid Unicode')
        return value

    def _value(self, key: str, kind: type[ValueT], name: str) -> ValueT:
        value = self.edit.get(key)
        if not isinstance(value, kind) or isinstance(value, bool):
            raise ToolError(f'the edit "{self.edit.get("op")}" needs {name} as "{key}"')
        return value

    def texts(self, key: str) -> list[str]:
        values = self.edit.get(key)
        if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
            raise ToolError(f'the edit "{self.edit.get("op")}" needs a list of texts as "{key}"')
        for value in values:
            if not _is_unicode(value):
                raise ToolError(
                    f"{value[:200]!r} is not valid Unicode, which a configuration needs: rename it, or use a glob"
                )
        return values

    def number(self, key: str) -> int:
        return self._value(key, int, "a number")

    def word(self, key: str, words: Sequence[str], kind: str) -> str:
        value = self.text(key)
        if value not in words:
            raise ToolError(f"unknown {kind} {value[:40]!r}: use one of {', '.join(words)}")
        return value

    # --- the configuration

    def table(self, name: str) -> Any:  # noqa: ANN401 - a table of tomlkit's
        if name not in self.document:
            self.document[name] = tomlkit.table()
        return self.document[name]

    def set(self, table: str, key: str, value: object) -> None:
        if value is not None:
            self.table(table)[key] = value
        elif table in self.document:
            self.table(table).pop(key, None)
            if not self.document[table]:
                del self.document[table]

    @property
    def composition(self) -> Any:  # noqa: ANN401 - a table of tomlkit's
        """The table of the active files.

        It is a preset or the configuration. A global preset is first copied into this project.
        """
        if not self.preset:
            return self.table("files")
        if self.preset not in self.document.get(TABLE, {}):
            source = tomlkit.parse(preset_toml(find_preset(self.project, self.preset)))[TABLE]
            set_preset(self.document, self.preset, source[self.preset])
        return self.document[TABLE][self.preset]

    @property
    def entries(self) -> EntryList:
        key = "files" if self.preset else "paths"
        base_dir = self.project.folder / self.project.config.files.base_dir
        return EntryList(self.composition, key, base_dir)

    def entries_to_add_to(self) -> EntryList:
        """Return the active entries; implicit ones are first written out."""
        entries = self.entries
        if not len(entries) and not self.preset and self.draft.asks(self.project):
            entries.add(ALL_FILES)
        return entries

    def exclude_no_longer(self, paths: Sequence[str]) -> None:
        """Remove the ``exclude`` patterns of files with a new entry."""
        patterns = {exclude_pattern(path) for path in paths}
        excluded = self.document.get("files", {}).get("exclude", [])
        remove_all(excluded, [i for i, pattern in enumerate(excluded) if pattern in patterns])
        if "exclude" in self.document.get("files", {}) and not excluded:
            del self.table("files")["exclude"]

    def finished(self) -> Draft:
        return replace(self.draft, text=tomlkit.dumps(self.document.unwrap()))


def _is_unicode(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


def apply_edits(draft: Draft, edits: Sequence[Edit], around: Surroundings) -> Draft:
    for edit in edits:
        change = _CHANGES.get(str(edit.get("op")))
        if change is None:
            raise ToolError(
                f"unknown edit {str(edit.get('op'))[:40]!r}: reload the page, which is of another version"
            )
        draft = Editor(draft, around, edit).apply(change)
        draft.project(around.config)  # raises for an invalid configuration
    if len(draft.text.encode()) > MOST_BYTES:
        raise ToolError(
            f"the configuration would exceed the limit of {MOST_BYTES:,} bytes: use globs for folders"
        )
    return draft


def _set_views(editor: Editor) -> None:
    """Set the view (``mode``) of files (``paths``), or omit the files (rule E-5)."""
    paths = editor.texts("paths")
    if editor.edit.get("mode") == "out":
        _take_out(editor, paths)
        return
    mode = editor.word("mode", _VIEWS, "view")
    selected = editor.around.select(editor.draft)
    entries = editor.entries_to_add_to()
    remaining = set(paths)
    files_by_glob: dict[str, set[str]] = {}
    for path, file in selected.items():
        if file.by_glob:
            files_by_glob.setdefault(file.item.path, set()).add(path)
    for glob, files in files_by_glob.items():
        indices = [index for index, name in enumerate(entries.names()) if name == glob]
        if len(files) > 1 and files <= remaining and indices:
            entries.set_view(indices[-1], mode)
            remaining -= files
    editor.exclude_no_longer([*remaining])
    whole = _whole_folders(remaining, editor.around.listed, least=_WORTH_A_GLOB)
    whole = {folder for folder in whole if not is_glob(folder)}
    for folder in sorted(name for name in whole if whole.isdisjoint(_folders(name))):
        glob = f"{folder}/**/*"
        entries.remove_written(glob)
        entries.set_view(entries.add(glob), mode)
        with_entry = set(entries.named_files())
        remaining -= {
            path for path in remaining if path.startswith(f"{folder}/") and path not in with_entry
        }
    ordered = [path for path in dict.fromkeys(paths) if path in remaining]
    entry_indices = entries.indices(ordered)
    entry_indices |= entries.add_all([path for path in ordered if path not in entry_indices])
    for path in ordered:
        entries.set_view(entry_indices[path], mode)


def _whole_folders(paths: Iterable[str], others: Iterable[str], *, least: int) -> set[str]:
    """Return the folders of at least some paths that contain no ``others``."""
    all_counts = _per_folder(others)
    counts = _per_folder(paths).items()
    return {name for name, count in counts if count >= least and all_counts.get(name) == count}


def _take_out(editor: Editor, paths: Sequence[str]) -> None:
    """Remove the entries of files; exclude files of globs by few patterns."""
    if len(editor.entries):
        editor.entries.remove(paths)
    selected = editor.around.select(editor.finished())
    by_glob = [path for path, file in selected.items() if file.by_glob]
    matched = [path for path in paths if path in selected and selected[path].by_glob]
    if not matched:
        return
    whole_folders = _whole_folders(matched, by_glob, least=2)
    patterns: dict[str, None] = {}
    for path in matched:
        folder = next((folder for folder in _folders(path) if folder in whole_folders), None)
        patterns[exclude_pattern(path) if folder is None else exclude_pattern(f"{folder}/")] = None
    files = editor.table("files")
    if "exclude" not in files:
        files["exclude"] = tomlkit.array().multiline(True)
    append_all(files["exclude"], [*patterns])


def _folders(path: str) -> list[str]:
    return [path[:i] for i, character in enumerate(path) if character == "/"]


def _per_folder(paths: Iterable[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for path in paths:
        for folder in _folders(path):
            counts[folder] = counts.get(folder, 0) + 1
    return counts


def _set_mask(editor: Editor) -> None:
    """Show a definition (``path``, ``name``) by its ``mask``: in full, as signature or not at all."""
    path, name = editor.text("path"), editor.text("name")
    mask = editor.text("mask") and editor.word("mask", _MASKS, "mask")
    editor.around.text(path)  # raises unless it is a file of the project
    table = _single_entry(editor, path, "masked")
    masks = {key: value for key, value in table.get("ast_mask", {}).items() if key != name}
    if mask:
        masks[name] = mask
    if masks:
        inline = tomlkit.inline_table()
        inline.update(masks)
        table["ast_mask"] = inline
    else:
        table.pop("ast_mask", None)


def _single_entry(editor: Editor, path: str, mode: str) -> Any:  # noqa: ANN401 - a table of tomlkit's
    """Return the entry of one file, with the view ``mode``; add it if missing."""
    entries = editor.entries_to_add_to()
    editor.exclude_no_longer([path])
    table = entries.table_of(path)
    if table.get("view_mode") != mode:
        entries.set_view(entries.indices([path])[path], mode)
    return entries.table_of(path)


def _add_slice(editor: Editor) -> None:
    """Add a slice (``path``, ``start``, ``end``, ``tag``, ``comment``), and set the file's view to slices."""
    path = editor.text("path")
    new = _capture(editor, path, editor.number("start"), editor.number("end"), editor.edit)
    table = _single_entry(editor, path, "custom")
    slices = [*_slices_of(table), new]
    _set_slices(table, sorted(slices, key=lambda piece: int(piece.get("start_line", 0))))


def _confirm_slice(editor: Editor) -> None:
    """Store the present position of a moved slice (``path``, ``id``)."""
    table, slices, number = _chosen_slice(editor)
    path, old = editor.text("path"), slices[number]
    match = FuzzyAnchor.resolve(old, editor.around.text(path))
    if match.found:
        start, end = match.start_line, match.end_line
    elif match.candidates:
        start, end = match.candidates[0]
    else:
        raise ToolError(f"{path}: these lines cannot be found any more: choose them again")
    slices[number] = _capture(editor, path, start, end, old)
    _set_slices(table, slices)


def _remove_slice(editor: Editor) -> None:
    table, slices, number = _chosen_slice(editor)
    _set_slices(table, slices[:number] + slices[number + 1 :])


def _chosen_slice(editor: Editor) -> tuple[Any, list[dict[str, Any]], int]:
    """Return the entry, slices and index of an edit's slice."""
    path, number = editor.text("path"), editor.number("id")
    table = editor.entries.table_of(path)
    slices = _slices_of(table)
    if not 0 <= number < len(slices):
        raise ToolError(f"{path} has no slice {number} any more: open the file again")
    return table, slices, number


def _capture(editor: Editor, path: str, start: int, end: int, labels: Edit) -> dict[str, Any]:
    tag, comment = (str(labels.get(key) or "") or None for key in ("tag", "comment"))
    return dict(FuzzyAnchor.create_slice(editor.around.text(path), start, end, tag, comment))


def _slices_of(table: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - a table of tomlkit's
    slices = table.get("custom_slices", ())
    return [dict(piece) for piece in (slices.unwrap() if hasattr(slices, "unwrap") else slices)]


def _set_slices(table: Any, slices: Sequence[dict[str, Any]]) -> None:  # noqa: ANN401 - as above
    """Set the slices of an entry; None values, which TOML lacks, are left out."""
    tables = []
    for piece in slices:
        inline = tomlkit.inline_table()
        inline.update({key: value for key, value in piece.items() if value is not None})
        tables.append(inline)
    if tables:
        table["custom_slices"] = tables
    else:
        table.pop("custom_slices", None)


def _set_task(editor: Editor) -> None:
    """Set parts of the task: ``task``, ``focus``, ``symbols``, ``since``, ``budget``."""
    if "task" in editor.edit:
        editor.set("task", "text", editor.text("task") or None)
    if "budget" in editor.edit:
        _set_budget(editor, editor.edit["budget"])
    if "focus" in editor.edit:
        editor.set_draft(focus=tuple(editor.texts("focus")))
    if "symbols" in editor.edit:
        editor.set_draft(symbols=tuple(filter(str.strip, editor.texts("symbols"))))
    if "since" in editor.edit:
        editor.set_draft(since=editor.text("since"))


def _set_budget(editor: Editor, budget: int | str | None) -> None:
    """Set the budget of the active preset or the configuration."""
    if budget is not None:
        try:
            parse_amount(budget)
        except ValueError as error:
            raise ToolError(f"the budget {error}, not {str(budget)[:40]!r}") from None
    preset = editor.project.config.context_presets.get(editor.preset)
    if preset is None or preset.budget is None:
        editor.set("budget", "tokens", budget)
    elif budget is None:
        editor.composition.pop("budget")
    else:
        editor.composition["budget"] = budget


def _set_strategy(editor: Editor) -> None:
    name = editor.word("name", [strategy.value for strategy in Strategy], "strategy")
    editor.set("project", "aggregation_strategy", name)


def _set_discussion(editor: Editor) -> None:
    """Select a discussion (``name``) with all of its turns."""
    name = editor.text("name")
    editor.set_draft(discussion=name, turns_out=frozenset(), has_history=True)


def _set_turn(editor: Editor) -> None:
    """Include or omit (``on``) a turn (``id``) of the discussion."""
    number = frozenset({editor.number("id")})
    out = editor.draft.turns_out
    editor.set_draft(turns_out=out - number if editor.edit.get("on") else out | number)


def _set_section(editor: Editor) -> None:
    """Switch discussion or beads (``name``) on or off."""
    is_on = bool(editor.edit.get("on"))
    if editor.word("name", ("beads", "history"), "section") == "history":
        editor.set_draft(has_history=is_on)
    else:
        editor.set("project", "execution_mode", BEADS_MODE if is_on else "native")


def _set_screenshot(editor: Editor) -> None:
    """Include or omit (``on``) a screenshot (``path``); an omitted one stays in the list."""
    path, is_on = editor.text("path"), bool(editor.edit.get("on"))
    table = editor.composition if editor.preset else editor.table("screenshots")
    key = "screenshots" if editor.preset else "paths"
    if key not in table:
        table[key] = tomlkit.array()
    # The page's paths are relative to the project's folder, those of the configuration to another one.
    folder = editor.project.folder
    base_dir = folder / editor.project.config.screenshots.base_dir
    paths = [display_path(base_dir / str(name), folder) for name in table[key]]
    entry = display_path(folder / path, base_dir)
    if is_on and path not in paths:
        table[key].append(entry)
    elif not is_on and path not in paths:
        raise ToolError(f"{path[:100]}: this screenshot comes from a pattern: change the pattern")
    elif not is_on:
        remove_all(
            table[key], [index for index, listed_path in enumerate(paths) if listed_path == path]
        )
    editor.set_draft(images=tuple(dict.fromkeys((*editor.draft.images, entry))))


def _set_preset(editor: Editor) -> None:
    """Activate a preset (``name``), or none (``""``)."""
    name = editor.text("name")
    if name:
        find_preset(editor.project, name)
    editor.set("project", "active_preset", name or None)


_CHANGES: Final[Mapping[str, Callable[[Editor], None]]] = {
    "view": _set_views,
    "mask": _set_mask,
    "slice": _add_slice,
    "confirm_slice": _confirm_slice,
    "remove_slice": _remove_slice,
    "task": _set_task,
    "strategy": _set_strategy,
    "discussion": _set_discussion,
    "turn": _set_turn,
    "section": _set_section,
    "screenshot": _set_screenshot,
    "preset": _set_preset,
}
