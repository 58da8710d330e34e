"""What the page shows about one file (source, view, definitions, slices), and its screenshots."""

import base64
import binascii
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, count
from pathlib import Path
from typing import Any, Final

from aggregate.base.concurrency import in_child
from aggregate.base.disk.reading import CONTENT_BYTES, read_bytes
from aggregate.base.disk.writing import write_to_free
from aggregate.base.errors import AggregateError, OutputError, ToolError
from aggregate.base.files import View, ViewMode
from aggregate.base.task_budget import FileChoice
from aggregate.code.anchors import AnchorState, FuzzyAnchor, has_anchor, line_numbers
from aggregate.code.syntax import fence_tag, language_of, read_definitions
from aggregate.code.views import render_all, view_of
from aggregate.panel.colours import code_colours
from aggregate.panel.draft import Draft
from aggregate.project.files import FolderListing, SourceFile, read_image_header
from aggregate.prompt import File, SavedCounts, find_screenshots
from aggregate.prompt.asking import Request
from aggregate.prompt.audit import told_reasons
from aggregate.prompt.document import Screenshot

# Views whose sizes are always reported; others need masks or slices.
_COUNTED: Final = (ViewMode.FULL, ViewMode.SKELETON, ViewMode.OUTLINE, ViewMode.SUMMARY)
_MOST_DEFINITIONS: Final = 5_000  # listed; only generated files have more
_MOST_CHARACTERS: Final = 5_000_000  # of a displayed file; more is slow
_MOST_REASONS: Final = 12  # listed for a score


def file_data(
    file: File, *, mode: str, shown: File | None, choice: FileChoice | None, count: SavedCounts
) -> dict[str, Any]:
    """Return the page's data of one file."""
    if len(file.source.text) > _MOST_CHARACTERS:
        size = f"{len(file.source.text):,} characters"
        source = SourceFile("", error=f"too large to display: {size}; its view still applies")
        file = file.with_item(replace(file.item, custom_slices=[]))._replace(source=source)
    source, text = file.source, file.source.text
    if source.error:
        name, view = mode, View("")
    elif not mode and shown is not None:
        name, view = shown.view_mode.value, shown.view
    else:
        wanted = ViewMode.parse(mode) if mode else file.view_mode
        name, view = wanted.value, view_of(file.request(wanted))
    reasons = choice.reasons[:_MOST_REASONS] if choice else ()
    language = fence_tag(file.path, text)
    return {
        "path": file.path,
        "language": language,
        "mode": name,
        "view": _lines(view.text),
        "origin": _origins(view, text),
        "source": _lines(text),
        "colours": code_colours(text, language),
        "view_colours": code_colours(view.text, view.language),
        "by_glob": file.by_glob,
        "definitions": _definitions(file, text),
        "slices": list(_slices(file, text)),
        "sizes": _sizes(file, count) if not source.error else {},
        # First and last lines of runs with replaced secrets.
        "redacted": [[first, last] for first, last in source.redacted],
        "score": choice.score if choice else None,
        "evidence": [[told_reasons([reason]), round(reason.weight, 4)] for reason in reasons],
        "error": source.error or file.problem,
    }


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def _origins(view: View, source: str) -> list[int]:
    """Return for each line of a view its line in the file, 0 if generated."""
    count = len(_lines(view.text))
    if view.text == source:
        return list(range(1, count + 1))
    origins = [0] * count
    for span in view.spans:
        is_same = span.end - span.start == span.source_end - span.source_start
        for line in range(max(span.start, 1), min(span.end, count) + 1):
            origins[line - 1] = span.source_start + (line - span.start if is_same else 0)
    return origins


def _definitions(file: File, text: str) -> list[dict[str, Any]]:
    language = language_of(file.path, text) if text else None
    if language is None:
        return []
    try:
        definitions = in_child(read_definitions, text, language).definitions
    except AggregateError:  # parsing takes too long, as its views report
        return []
    return [
        {
            "name": name,
            "kind": definition.kind,
            "start": definition.first_line,
            "end": definition.last_line,
            "depth": definition.depth,
            "mask": file.item.ast_mask.get(name, ""),
        }
        for definition in definitions[:_MOST_DEFINITIONS]
        if (name := ".".join(definition.path))
    ]


def _slices(file: File, text: str) -> Iterator[dict[str, Any]]:
    slices = file.item.custom_slices
    matches = FuzzyAnchor.resolve_all(slices, text) if slices else []
    for number, (piece, match) in enumerate(zip(slices, matches, strict=True)):
        start, end = line_numbers(piece) or (0, 0)
        if not match.found:
            state = "stale"
        elif not has_anchor(piece):
            state = "anchorless"
        else:
            state = "exact" if match.state is AnchorState.FRESH else "moved"
        candidate = match.candidates[0] if match.candidates else None
        yield {
            "id": number,
            "start": match.start_line if match.found else start,
            "end": match.end_line if match.found else end,
            "tag": str(piece.get("tag") or ""),
            "comment": str(piece.get("comment") or ""),
            "state": state,
            "candidate": {"start": candidate[0], "end": candidate[1]} if candidate else None,
            "why": match.reason,
        }


def _sizes(file: File, count: SavedCounts) -> dict[str, int]:
    modes = [*_COUNTED]
    if file.item.ast_mask:
        modes.append(ViewMode.MASKED)
    if file.item.custom_slices:
        modes.append(ViewMode.CUSTOM)
    views = render_all([file.request(mode) for mode in modes], workers=1)
    return {
        mode.value: count(view if isinstance(view, str) else view.text)
        for mode, view in zip(modes, views, strict=True)
    }


# Of a new screenshot: a 4K screen has fewer as PNG, and few providers take more.
MOST_BYTES: Final = 10_000_000
_FOLDER: Final = "screenshots"  # of new ones, unless the configuration has another folder
_MOST_NAME: Final = 60  # characters of a file's name
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
    """Return the draft's screenshots, including those switched off."""
    images = (*images_of(request, draft.images), *images_of(request))
    return tuple({image.path: image for image in images}.values())


class NoImageError(ToolError):
    """The project has no such screenshot."""


def image_data(request: Request, draft: Draft, path: str) -> tuple[bytes, str]:
    files = {image.path: image.file for image in known_images(request, draft) if image.file}
    try:
        data = read_bytes(files[path], limit=CONTENT_BYTES) if path in files else b""
    except (OSError, ValueError):
        data = b""
    header = read_image_header(data)
    if header is None:
        raise NoImageError(f"no such screenshot: {path[:100]!r}")
    return data, header.media_type


def add_image(request: Request, encoded: str, name: str = "") -> Path:
    """Write a new screenshot to the configured folder.

    Return the path of the screenshot. If the configured folder is the project's own, ``screenshots`` is used.
    """
    try:
        data = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        raise ToolError('the screenshot is not base64: encode its bytes in "data"') from None
    if len(data) > MOST_BYTES:
        raise ToolError(
            f"the screenshot has {len(data):,} bytes, more than {MOST_BYTES:,}: make it smaller"
        )
    header = read_image_header(data)
    if header is None:
        raise ToolError("this is not a PNG, JPEG, GIF or WebP image: convert it")
    folder = request.screenshot_dir
    if folder.resolve() == request.shown_from.resolve():
        folder = folder / _FOLDER
    stem = re.split(r"[/\\]", name)[-1].rpartition(".")[0] or name
    stem = re.sub(r"[^0-9A-Za-z]+", "-", stem)[:_MOST_NAME].strip("-").lower() or "screenshot"
    suffix = _SUFFIXES[header.media_type]
    numbers = chain([""], (f"-{number}" for number in count(2)))
    names = (folder / f"{stem}{number}{suffix}" for number in numbers)
    try:
        return write_to_free(folder, stem, names, (data,), within=request.written_in)
    except OSError as error:
        raise OutputError(f"cannot write to {folder}: {error.strerror or error}") from error
