"""Named, persisted sets of files: reusable context compositions."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from aggregate.base.values.file_item import FileItem

ContextFileEntry = FileItem
"""An entry of a preset; a plain string is promoted to one."""


@dataclass
class ContextPreset:
    """A named set of files and screenshots (rule M-43).

    Attributes:
        name: The key under ``[context_presets]``.
        files: Entries; strings are promoted to ``FileItem``.
        screenshots: Paths or globs, relative to the screenshots' base directory.
        description: One line for lists.
        budget: The most tokens of a prompt with it, such as ``32000``, ``"32k"`` or ``"auto"``; ``None`` for what the
            configuration says (rule B-4).
    """

    name: str
    files: list[ContextFileEntry] = field(default_factory=list)
    screenshots: list[str] = field(default_factory=list)
    description: str = ""
    budget: int | str | None = None

    def __post_init__(self) -> None:
        self.files = [promote(entry) for entry in self.files]


def promote(entry: FileItem | str | Mapping[str, Any]) -> FileItem:
    """Return ``entry`` as a ``FileItem``: a string is a path, a mapping goes through ``FileItem.from_dict``."""
    if isinstance(entry, FileItem):
        return entry
    return FileItem(path=entry) if isinstance(entry, str) else FileItem.from_dict(entry)
