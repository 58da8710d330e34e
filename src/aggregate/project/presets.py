"""Context presets: named sets of files and screenshots in TOML."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.items import InlineTable, Table

from aggregate.base.errors import PresetError
from aggregate.base.files import FileItem
from aggregate.base.messages import short_list
from aggregate.project.configuration.edit import change_document, changing
from aggregate.project.configuration.load import load_config
from aggregate.project.paths.globs_and_ignores import is_glob
from aggregate.project.tables import Config, PresetTable

ContextFileEntry = FileItem  # a plain string is promoted to one


@dataclass
class ContextPreset:
    """A named set of files and screenshots (rule M-43)."""

    name: str
    files: list[ContextFileEntry] = field(default_factory=list)  # strings are promoted
    screenshots: list[str] = field(default_factory=list)  # relative to their base directory
    description: str = ""  # one line for lists
    # Token limit such as ``32000``, ``"32k"`` or ``"auto"``; None for the configuration's (rule B-4).
    budget: int | str | None = None

    def __post_init__(self) -> None:
        self.files = [FileItem.of(entry) for entry in self.files]


TABLE = "context_presets"


class ContextPresetManager:
    """Reads and writes the context presets of a project and of the user (rule M-43)."""

    def __init__(self, project_path: str | Path, global_path: str | Path | None = None) -> None:
        self.project_path = Path(project_path)
        self.global_path = Path(global_path) if global_path is not None else None

    def load_all(self) -> dict[str, ContextPreset]:
        """Return all presets by name; those of the project replace global ones of the same name."""
        presets: dict[str, ContextPreset] = {}
        for path in (self.global_path, self.project_path):
            if path is not None and path.exists():
                tables = load_config(path).config.context_presets
                for name, table in tables.items():
                    presets[name] = preset_of_table(name, table)
        return presets

    def scopes(self) -> dict[str, str]:
        """Return the scope of each preset: ``"project"`` or ``"global"``."""
        scopes = dict.fromkeys(_stored(self.global_path), "global")
        return scopes | dict.fromkeys(_stored(self.project_path), "project")

    def names(self, scope: str) -> list[str]:
        return [*_stored(self._path(scope))]

    def get(self, name: str) -> ContextPreset:
        presets = self.load_all()
        if name not in presets:
            raise self._unknown(name)
        return presets[name]

    def save_preset(self, preset: ContextPreset, *, scope: str = "project") -> None:
        """Add a preset to its file, or replace it; the rest of the file stays unchanged."""
        if not preset.name.strip():
            raise PresetError("a preset needs a name: give it one")
        path = self._path(scope)
        with changing(path):
            change_document(
                path, lambda document: set_preset(document, preset.name, _table(preset))
            )

    def delete_preset(self, name: str) -> None:
        """Delete a preset; a global preset of the same name becomes visible again."""
        scope = self.scopes().get(name)
        if scope is None:
            raise self._unknown(name)
        path = self._path(scope)
        with changing(path):
            is_shared = name in _stored(self.global_path)

            def change(document: tomlkit.TOMLDocument) -> None:
                presets = document.get(TABLE, {})
                if name not in presets:  # removed meanwhile
                    raise self._unknown(name)
                del presets[name]
                if not presets:
                    del document[TABLE]
                if document.get("project", {}).get("active_preset") == name and not is_shared:
                    del document["project"]["active_preset"]

            change_document(path, change, deletes=True)

    def apply_preset(self, name: str) -> ContextPreset:
        """Make a preset the active one, which replaces the project's files and screenshots."""
        preset = self.get(name)
        with changing(self.project_path):
            change_document(
                self.project_path,
                lambda document: document.setdefault("project", tomlkit.table()).update(
                    active_preset=name
                ),
            )
        return preset

    def reload_context_presets(self) -> tuple[dict[str, ContextPreset], list[str]]:
        """Read all presets again; return them, and warnings about missing files."""
        presets = self.load_all()
        config = load_config(self.project_path).config if self.project_path.exists() else None
        folder = self.project_path.parent
        files_dir = folder / (config.files.base_dir if config else ".")
        images_dir = folder / (config.screenshots.base_dir if config else ".")
        warnings: list[str] = []
        for name, preset in presets.items():
            paths = [(item.path, files_dir) for item in preset.files]
            paths += [(path, images_dir) for path in preset.screenshots]
            for path, base in paths:
                if not is_glob(path) and not os.path.lexists(base / path):
                    warnings.append(
                        f'preset "{name}": {path} does not exist: restore it or remove it from the preset'
                    )
        return presets, warnings

    def _path(self, scope: str) -> Path:
        if scope == "project":
            return self.project_path
        if scope == "global" and self.global_path is not None:
            return self.global_path
        raise PresetError(
            f'the scope "{scope}" has no file: use project, or global with a global file'
        )

    def _unknown(self, name: str) -> PresetError:
        names = short_list(tuple(self.load_all()))
        hint = f"use one of {names}" if names else "none is defined"
        return PresetError(f'no such context preset: "{name}": {hint}')


def preset_of_table(name: str, table: PresetTable) -> ContextPreset:
    files = [entry.item() for entry in table.files]
    return ContextPreset(name, files, list(table.screenshots), table.description, table.budget)


def budget_in_force(config: Config) -> int | str | None:
    """Return the active preset's budget, else the configured one."""
    preset = config.context_presets.get(config.project.active_preset)
    if preset is None or preset.budget is None:
        return config.budget.tokens
    return preset.budget


def _stored(path: Path | None) -> Mapping[str, Any]:
    if path is None or not path.exists():
        return {}
    return load_config(path).config.context_presets


def _table(preset: ContextPreset) -> Table:
    table = tomlkit.table()
    if preset.description:
        table["description"] = preset.description
    files = tomlkit.array().multiline(True)
    for item in preset.files:
        files.append(_entry(item))
    table["files"] = files
    if preset.screenshots:
        table["screenshots"] = preset.screenshots
    if preset.budget is not None:
        table["budget"] = preset.budget
    return table


def _entry(item: FileItem) -> str | InlineTable:
    default = FileItem(item.path).to_dict()
    changed = {
        key: value
        for key, value in item.to_dict().items()
        if key == "path" or value != default[key]
    }
    if set(changed) == {"path"}:
        return item.path
    for piece in changed.get("custom_slices", ()):
        for key in [key for key, value in piece.items() if value is None]:
            del piece[key]
    table = tomlkit.inline_table()
    table.update(changed)
    return table


def set_preset(document: Any, name: str, table: Table) -> None:  # noqa: ANN401 - tomlkit's
    """Add or replace a preset in a TOML document.

    It becomes an inline table if the other presets are inline tables.
    """
    presets = document.setdefault(TABLE, tomlkit.table(is_super_table=True))
    if isinstance(presets, InlineTable):
        inline = tomlkit.inline_table()
        inline.update(table.unwrap())
        presets[name] = inline
    else:
        presets[name] = table


def preset_toml(preset: ContextPreset) -> str:
    presets = tomlkit.table(is_super_table=True)
    presets[preset.name] = _table(preset)
    return tomlkit.dumps({TABLE: presets})
