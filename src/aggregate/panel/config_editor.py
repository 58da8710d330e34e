"""A draft's configuration to be edited: its document, and the entries that are in force."""

from collections.abc import Callable, Iterable, Mapping, MutableMapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import tomlkit

from aggregate.panel.draft import Draft
from aggregate.panel.entry_edits import EntryList, exclude_pattern, remove_all
from aggregate.project.configuration import Project
from aggregate.project.presets import TABLE, preset_toml
from aggregate.prompt import ALL_FILES, ResolvedFile, find_preset


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What an edit has to know of the disk.

    Attributes:
        config: The configuration's path.
        select: Returns the files that a draft asks for, by their paths.
        listed: All files that could be asked for.
        text: Returns the text of a file of the project.
        without_secrets: Returns a text as the page has it.
    """

    config: Path
    select: Callable[[Draft], Mapping[str, ResolvedFile]]
    listed: Mapping[str, ResolvedFile]
    text: Callable[[str], str]
    without_secrets: Callable[[str], str]


class Editor:
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

    def exclude_no_longer(self, paths: Iterable[str]) -> None:
        """Drop the patterns of ``exclude`` that stand for files which are named now."""
        patterns = {exclude_pattern(path) for path in paths}
        excluded = self.document.get("files", {}).get("exclude", [])
        remove_all(excluded, [i for i, pattern in enumerate(excluded) if pattern in patterns])
        if "exclude" in self.document.get("files", {}) and not excluded:
            del self.table("files")["exclude"]

    def finished(self, **changes: Any) -> Draft:  # noqa: ANN401 - the fields of a draft
        """Return the draft with the configuration as it is now, and other changes."""
        return replace(self.draft, text=tomlkit.dumps(self.document), **changes)
