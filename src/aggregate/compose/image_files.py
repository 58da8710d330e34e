"""From the user's entries to screenshots."""

from collections.abc import Sequence
from pathlib import Path

from aggregate.compose.selection import display_path
from aggregate.disk.reading import is_file
from aggregate.models.screenshot import Screenshot
from aggregate.sources.path_resolution import FolderListing


def find_screenshots(
    base_dir: str | Path, entries: Sequence[str], *, shown_from: str | Path, listing: FolderListing
) -> tuple[Screenshot, ...]:
    """Return the images that paths and globs below ``base_dir`` stand for, each once.

    Args:
        base_dir: Where relative paths begin.
        entries: Paths or globs.
        shown_from: The folder that paths are shown relative to.
        listing: Resolves them, as far as its scope allows.
    """
    images: dict[str, Screenshot] = {}
    for entry in entries:
        resolved = listing.resolve(base_dir, entry)
        for name in resolved.names:
            file = Path(resolved.folder, name)
            path = display_path(file, shown_from)
            exists = not resolved.refused and is_file(file)
            images.setdefault(path, Screenshot(path, exists, resolved.refused))
        if not resolved.names and resolved.is_glob:
            images.setdefault(entry, Screenshot(entry, exists=False, refused=resolved.refused))
    return tuple(images.values())
