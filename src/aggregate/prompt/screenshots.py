"""Find the screenshots of a prompt, and read them as images."""

from collections.abc import Sequence
from pathlib import Path

from aggregate.base.disk import is_file, read_bytes
from aggregate.base.values import Image, Screenshot
from aggregate.project.files import FolderListing, display_path, read_image_header


def find_screenshots(
    base_dir: str | Path, entries: Sequence[str], *, shown_from: str | Path, listing: FolderListing
) -> tuple[Screenshot, ...]:
    """Return the images that paths and globs below ``base_dir`` stand for, each once, as far as the scope allows."""
    images: dict[str, Screenshot] = {}
    for entry in entries:
        resolved = listing.resolve(base_dir, entry)
        for name in resolved.names:
            file = Path(resolved.folder, name)
            path = display_path(file, shown_from)
            exists = not resolved.refused and is_file(file)
            place = (resolved.real or str(file)) if exists else ""
            images.setdefault(path, Screenshot(path, exists, resolved.refused, place))
        if not resolved.names and resolved.is_glob:
            images.setdefault(entry, Screenshot(entry, exists=False, refused=resolved.refused))
    return tuple(images.values())


def read_images(
    screenshots: Sequence[Screenshot], *, limit: int
) -> tuple[tuple[Image, ...], tuple[str, ...]]:
    """Return the images that screenshots are, and a warning for each that is there and cannot be sent."""
    images: list[Image] = []
    warnings = []
    for screenshot in screenshots:
        if not screenshot.file:
            continue
        try:
            data = read_bytes(screenshot.file, limit=limit)
        except (OSError, ValueError) as error:
            problem = getattr(error, "strerror", None) or error
            warnings.append(f"screenshot {screenshot.path} is only named in the prompt: {problem}")
            continue
        header = read_image_header(data)
        if header is None:
            warnings.append(
                f"screenshot {screenshot.path} is only named in the prompt: it is no PNG, JPEG, GIF or WebP image"
            )
            continue
        images.append(Image(screenshot.path, header.media_type, data, header.width, header.height))
    return tuple(images), tuple(warnings)
