"""The project's screenshots: those that a draft shows or has shown, their bytes, and new ones from the page."""

import base64
import binascii
import re
from itertools import chain, count
from pathlib import Path
from typing import Final

from aggregate.base.disk.reading import CONTENT_BYTES, read_bytes
from aggregate.base.disk.writing import temporary_name, write_to_free
from aggregate.base.errors import OutputError, ToolError
from aggregate.panel.draft import Draft
from aggregate.project.files import FolderListing, read_image_header
from aggregate.prompt import Request, find_screenshots
from aggregate.prompt.document import Screenshot

# Of a new screenshot: a screen of 4K pixels has less as PNG, and hardly a provider takes more.
MOST_BYTES: Final = 10_000_000
# Where new ones go if the configuration names no folder of its own for them.
_FOLDER: Final = "screenshots"
# Characters of a file's name that are kept: enough to tell it, and far from any system's limit.
_MOST_NAME: Final = 60
_SUFFIXES: Final = {
    "image/png": ".png",
    "image/jpeg": ".jpg",
    "image/gif": ".gif",
    "image/webp": ".webp",
}


def images_of(request: Request, entries: tuple[str, ...] | None = None) -> tuple[Screenshot, ...]:
    return find_screenshots(
        request.screenshot_dir,
        request.screenshots if entries is None else entries,
        shown_from=request.shown_from,
        listing=FolderListing(request.scope),
    )


def known_images(request: Request, draft: Draft) -> tuple[Screenshot, ...]:
    """Return the screenshots of a draft's request, and those that were switched off since the start."""
    images = (*images_of(request, draft.images), *images_of(request))
    return tuple({image.path: image for image in images}.values())


def image_data(request: Request, draft: Draft, path: str) -> tuple[bytes, str]:
    image = next(
        (each for each in known_images(request, draft) if each.path == path and each.file), None
    )
    try:
        data = read_bytes(image.file, limit=CONTENT_BYTES) if image else b""
    except (OSError, ValueError):
        data = b""
    header = read_image_header(data)
    if header is None:
        raise ToolError(f"there is no screenshot {path[:100]!r}")
    return data, header.media_type


def add_image(request: Request, encoded: str, name: str = "") -> Path:
    """Write a new screenshot into the project, under a name that is free; return where it lies.

    It goes into the folder that the configuration names for screenshots, or, where that is the project's own, into one
    called ``screenshots``.
    """
    try:
        data = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        raise ToolError('the screenshot is no base64: send its bytes so as "data"') from None
    if len(data) > MOST_BYTES:
        raise ToolError(
            f"the screenshot has {len(data):,} bytes, more than {MOST_BYTES:,}: make it smaller"
        )
    header = read_image_header(data)
    if header is None:
        raise ToolError("this is no PNG, JPEG, GIF or WebP image: convert it into one")
    folder = request.screenshot_dir
    if folder.resolve() == request.shown_from.resolve():
        folder = folder / _FOLDER
    stem = re.split(r"[/\\]", name)[-1].rpartition(".")[0] or name
    stem = re.sub(r"[^0-9A-Za-z]+", "-", stem)[:_MOST_NAME].strip("-").lower() or "screenshot"
    suffix = _SUFFIXES[header.media_type]
    numbers = chain([""], (f"-{number}" for number in count(2)))
    names = (folder / f"{stem}{number}{suffix}" for number in numbers)
    try:
        return write_to_free(
            names, (data,), temporary_name(folder, stem), within=request.written_in
        )
    except OSError as error:
        raise OutputError(f"cannot write to {folder}: {error.strerror or error}") from error
