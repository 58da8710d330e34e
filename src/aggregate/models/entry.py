"""What the caller asks for, in one form, whatever form it was given in."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aggregate.models.file_item import FileItem
from aggregate.models.preset import promote

FileEntry = FileItem | str | Mapping[str, Any]
"""A file as the caller may name it: an item, a path or glob, or a mapping with the fields of an item and ``tier``."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a file list.

    Attributes:
        item: How its files are shown; ``item.path`` is the path or glob.
        tier: ``3`` marks a focus file of a Tier 3 context; only mappings can carry it (rule M-X11).
    """

    item: FileItem
    tier: int | None = None

    @classmethod
    def of(cls, entry: FileEntry) -> "Entry":
        """Return ``entry`` in this form."""
        tier = entry.get("tier") if isinstance(entry, Mapping) else None
        return cls(promote(entry), tier if isinstance(tier, int) else None)
