"""What the caller asks for, in one form, whatever form it was given in."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from aggregate.base.values.file_item import FileItem
from aggregate.base.values.preset import promote
from aggregate.base.values.view import ViewMode

FileEntry = FileItem | str | Mapping[str, Any]
"""A file as the caller may name it: an item, a path or glob, or a mapping with the fields of an item and ``tier``."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a file list.

    Attributes:
        item: How its files are shown; ``item.path`` is the path or glob.
        tier: ``3`` marks a focus file of a Tier 3 context; only mappings can carry it (rule M-X11).
        view_mode: The view of its files: ``force_full`` wins, then the shortcuts for the skeleton.
    """

    item: FileItem
    tier: int | None = None
    view_mode: ViewMode = field(init=False)

    def __post_init__(self) -> None:
        # Once for all the files that a glob stands for.
        object.__setattr__(self, "view_mode", _view_mode(self.item))

    @classmethod
    def of(cls, entry: FileEntry) -> "Entry":
        """Return ``entry`` in this form."""
        tier = entry.get("tier") if isinstance(entry, Mapping) else None
        return cls(promote(entry), tier if isinstance(tier, int) else None)


def _view_mode(item: FileItem) -> ViewMode:
    if item.force_full:
        return ViewMode.FULL
    mode = ViewMode.parse(item.view_mode)
    wants_skeleton = item.ast_signatures or item.ast_definitions
    return ViewMode.SKELETON if mode is ViewMode.FULL and wants_skeleton else mode
