"""The values of the page's edits, checked: a page may be of another version, and others may ask like one."""

from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import tomlkit

from aggregate.base.errors import ToolError
from aggregate.panel.draft import Draft
from aggregate.panel.entry_edits import EntryList, exclude_pattern, remove_all
from aggregate.panel.protocol import EditData
from aggregate.project.configuration import Project
from aggregate.project.presets import TABLE, preset_toml
from aggregate.prompt import ALL_FILES, ResolvedFile, find_preset

_MOST_TEXT: Final = 200_000
"""Characters of a task: a log that somebody pastes has that many at most."""


def text_of(edit: EditData, key: str) -> str:
    """Return a text of an edit."""
    value = edit.get(key)
    if not isinstance(value, str) or len(value) > _MOST_TEXT:
        raise ToolError(f'the edit "{edit.get("op")}" needs a text as "{key}"')
    if not _is_unicode(value):
        raise ToolError(f'the edit "{edit.get("op")}": "{key}" is no Unicode text')
    return value


def texts_of(edit: EditData, key: str) -> list[str]:
    """Return a list of texts of an edit."""
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


def number_of(edit: EditData, key: str) -> int:
    """Return a number of an edit."""
    value = edit.get(key)
    if not isinstance(value, int) or isinstance(value, bool):
        raise ToolError(f'the edit "{edit.get("op")}" needs a number as "{key}"')
    return value


def check_known(value: str, known: Sequence[str], what: str) -> None:
    """Make sure that a word is one of those that there are."""
    if value not in known:
        raise ToolError(f"there is no {what} {value[:40]!r}: there are {', '.join(known)}")


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What an edit has to know of the disk.

    Attributes:
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
        around: What is known of the disk.
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
