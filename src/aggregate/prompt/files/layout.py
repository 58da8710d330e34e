"""Markdown of files and screenshots: headings, fences and links that no content can break."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import tee

from aggregate.base.files import (
    RenderedFile,
    ShownText,
    Span,
    View,
    ViewMode,
    ViewRequest,
    source_lines,
)
from aggregate.base.text import fence, heading_text
from aggregate.code.syntax import fence_tag, language_of
from aggregate.code.views import render_all
from aggregate.prompt.asking.request import FOCUS_TIER, find_named
from aggregate.prompt.document import Screenshot, Section, Segment, Stability

FILES = "## Files"
FILES_SUMMARY = "## Files (Summary)"
FILES_TIER3 = "## Files (Tier 3 - Focused)"
_BEFORE = 3  # lines of a file's block before its content


def file_block(
    path: str, content: str, *, language: str = "text", excluded: bool = False, note: str = ""
) -> str:
    """Return a file's heading and its fenced content (rule M-X16)."""
    heading = file_heading(path) + (f" ({note})" if note else "")
    if excluded:
        return f"{heading} (excluded)\n\n{content}"
    return fence(content, language, before=f"{heading}\n\n")


def file_heading(path: str) -> str:
    return f"### File {heading_text(path)}"


def is_fenced(block: str) -> bool:
    return block.startswith("```", block.find("\n") + 2)


def file_segment(path: str, block: str, shown: ShownText | None = None) -> Segment:
    return Segment(Section.FILES, block, Stability.STABLE, path, shown)


def files_section(title: str, files: Iterable[Segment]) -> Iterator[Segment]:
    """Yield the title and the files' segments, nothing without files."""
    is_empty = True
    for segment in files:
        if is_empty:
            yield Segment(Section.FILES, title, Stability.STABLE)
            is_empty = False
        yield segment


def rendered_segment(file: RenderedFile) -> Segment:
    language = "text" if file.error else file.language or "text"
    is_none = file.view_mode is ViewMode.NONE
    is_excluded = is_none and not file.error and not file.force_full
    block = file_block(
        file.path, file.content, language=language, excluded=is_excluded, note=file.note
    )
    return file_segment(file.path, block, file.shown)


def numbered(segment: Segment) -> Segment:
    """Add line numbers to a file's block.

    Lines without exactly one line of origin get no number.
    """
    source, lines = segment.shown, segment.text.split("\n")
    if source is None or source.is_message or not is_fenced(segment.text):
        return segment
    content = lines[_BEFORE:-1]
    spans = (Span(1, len(content), 1, len(content)),) if source.spans is None else source.spans
    numbers = source_lines(spans)
    width = len(str(max(numbers.values(), default=0)))
    lines[_BEFORE:-1] = [
        f"{numbers.get(line, ''):>{width}} | {text}" for line, text in enumerate(content, start=1)
    ]
    return replace(segment, text="\n".join(lines), shown=source._replace(is_numbered=True))


def view_segment(file: RenderedFile, mode: ViewMode, view: View | str) -> Segment:
    """Return the segment with the view of a file, or with the error that prevented it."""
    if isinstance(view, str):
        block = file_block(file.path, view_error_text(file.path, mode, view))
        return file_segment(file.path, block, ShownText(file.source, (), is_message=True))
    block = file_block(file.path, view.text, language=view.language, note=file.note)
    return file_segment(file.path, block, ShownText(file.source, view.spans, file.redacted))


def view_error_text(path: str, mode: ViewMode, reason: str) -> str:
    return f"ERROR in {mode.value} view mode for {heading_text(path)}:\n{reason}"


def files_segments(files: Iterable[RenderedFile], *, is_summary: bool = False) -> Iterator[Segment]:
    """Yield the Files section, without files that have ``auto_aggregate`` off."""
    in_prompt = (file for file in files if file.auto_aggregate)
    if is_summary:
        return files_section(FILES_SUMMARY, _summary_segments(in_prompt))
    return files_section(FILES, map(rendered_segment, in_prompt))


def _summary_segments(files: Iterable[RenderedFile]) -> Iterator[Segment]:
    """Yield digests of the raw texts (rule M-X2); full files, errors and notes stay."""
    rendered, sources = tee(files)
    requests = (
        ViewRequest(file.path, file.source, ViewMode.NONE if _stays(file) else ViewMode.SUMMARY)
        for file in sources
    )
    for file, view in zip(rendered, render_all(requests), strict=True):
        if _stays(file):
            yield rendered_segment(file)
        else:
            yield view_segment(file, ViewMode.SUMMARY, view)


def _stays(file: RenderedFile) -> bool:
    return file.force_full or file.error or file.view_mode is ViewMode.NONE


HEADING = "## Screenshots"
# Characters that can break a link's text; an underscore inside a word cannot.
_TEXT_SPECIAL = re.compile(r"[\\\[\]`<*]|&(?=[#\w])|(?<![^\W_])_|_(?![^\W_])")
_PLAIN_PATH = re.compile(r"[^\s()<>\\&\x00-\x20\x7f]+")
_PATH_SPECIAL = re.compile(r"[\\<>&]")
# Control characters, bytes that are not UTF-8, outer blanks, which renderers strip, and a percent sign that looks like
# an escape.
_PATH_ENCODED = re.compile(
    "[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]|^\\s+|\\s+$|%(?=[0-9A-Fa-f]{2})"
)
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")


def screenshots_section(images: Sequence[Screenshot]) -> str:
    """Render images as ``![name](path)``, missing ones marked (rules M-7, M-51, M-X20)."""
    return "\n\n".join([HEADING, *map(_link, images)]) if images else ""


def _link(image: Screenshot) -> str:
    if image.refused:
        return f"ERROR: {image.refused}: {_link_text(image.path)}"
    name = re.split(r"[\\/]", image.path.rstrip("\\/"))[-1]
    link = f"![{_link_text(name)}]({_destination(image.path)})"
    return link if image.exists else f"{link} (missing)"


def _link_text(name: str) -> str:
    return _TEXT_SPECIAL.sub(r"\\\g<0>", heading_text(name))


def _destination(path: str) -> str:
    """Return a path as a link's destination, in angle brackets if necessary (CommonMark 6.3)."""
    encoded = _PATH_ENCODED.sub(_percent, path)
    if ":" in encoded.split("/")[0] and not _DRIVE.match(encoded):
        # A first part with a colon would be a scheme (RFC 3986, section 4.2).
        encoded = f"./{encoded}"
    if _PLAIN_PATH.fullmatch(encoded):
        return encoded
    return "<" + _PATH_SPECIAL.sub(r"\\\g<0>", encoded) + ">"


def _percent(match: re.Match[str]) -> str:
    """Return matched characters as ``%XX`` per byte, including bytes that are not UTF-8 (PEP 383)."""
    is_byte = "\udc80" <= match[0] <= "\udcff"
    raw = match[0].encode("utf-8", "surrogateescape" if is_byte else "surrogatepass")
    return "".join(f"%{byte:02X}" for byte in raw)


_CONTEXT_MODES = {"python": ViewMode.SKELETON, "c": ViewMode.OUTLINE, "cpp": ViewMode.OUTLINE}
# Views by size, the smallest first.
_BY_SIZE = (ViewMode.SUMMARY, ViewMode.OUTLINE, ViewMode.SKELETON)


def tier3_segments(
    files: Iterable[RenderedFile], focus_files: Sequence[str]
) -> tuple[Segment, ...]:
    """Return the section ``## Files (Tier 3 - Focused)``.

    See rule M-53. Focus files, files of tier 3 and files forced to full are shown as they are; focus files even if
    excluded or not aggregated (rule M-X8). Of all remaining files the slices are shown; without slices, the skeleton of
    Python files, an outline of C and C++ files, and else the file's view.
    """
    return Tier3Files(files).section(focus_files)


class Tier3Files:
    """The files of many Tier 3 prompts.

    Each file is rendered once in full and once as structure.

    Args:
        files: In the order of the prompts.
        as_rendered: The contents are views by ``render_files``, and used if they are smaller than the structure.
            Records of other origin may contain anything.
    """

    def __init__(self, files: Iterable[RenderedFile], *, as_rendered: bool = False) -> None:
        self._files = tuple(files)
        self._as_rendered = as_rendered
        self._pairs = [(file.path, file.entry) for file in self._files]
        self._raw: dict[int, Segment] = {}
        self._context: dict[int, Segment] = {}

    def named(self, focus: str) -> list[RenderedFile]:
        return [self._files[number] for number in find_named(self._pairs, focus)]

    def section(self, focus_files: Iterable[str]) -> tuple[Segment, ...]:
        blocks = dict.fromkeys(find_named(self._pairs, *focus_files), self._raw)
        for number, file in enumerate(self._files):
            if file.auto_aggregate and number not in blocks:
                is_raw = file.tier == FOCUS_TIER or file.force_full
                blocks[number] = self._raw if is_raw else self._context
        self._make_raw(sorted(number for number in blocks if blocks[number] is self._raw))
        self._make_context(sorted(number for number in blocks if blocks[number] is self._context))
        title = Segment(Section.FILES, FILES_TIER3, Stability.STABLE)
        return (title, *(blocks[number][number] for number in sorted(blocks))) if blocks else ()

    def in_full(self, focus_files: Iterable[str]) -> dict[str, Segment]:
        numbers = find_named(self._pairs, *focus_files)
        self._make_raw(numbers)
        return {self._files[number].path: self._raw[number] for number in numbers}

    def _make_raw(self, numbers: Iterable[int]) -> None:
        new = [number for number in numbers if number not in self._raw]
        segments = []
        for file in (self._files[number] for number in new):
            if file.error and not file.source:
                segments.append(rendered_segment(file))
            else:
                language = fence_tag(file.path, file.source)
                block = file_block(file.path, file.source, language=language, note=file.note)
                segments.append(file_segment(file.path, block, file.shown_raw))
        self._raw.update(zip(new, segments, strict=True))

    def _make_context(self, numbers: Iterable[int]) -> None:
        new = [number for number in numbers if number not in self._context]
        files = [self._files[number] for number in new]
        requests = [_context_request(file, as_rendered=self._as_rendered) for file in files]
        views = iter(render_all([request for request in requests if request]))
        segments = [
            view_segment(file, request.mode, next(views)) if request else rendered_segment(file)
            for file, request in zip(files, requests, strict=True)
        ]
        self._context.update(zip(new, segments, strict=True))


def _context_request(file: RenderedFile, *, as_rendered: bool) -> ViewRequest | None:
    """Return the view for rendering an unfocused file.

    Return ``None`` if the file's content is shown unchanged.
    """
    if file.error or file.view_mode is ViewMode.NONE:
        return None
    mode: ViewMode | None = ViewMode.CUSTOM
    if not file.custom_slices:
        language = language_of(file.path, file.source)
        mode = _CONTEXT_MODES.get(language.name) if language else None
    if mode is None:
        return None
    if as_rendered and file.language:
        smaller = _BY_SIZE[: _BY_SIZE.index(mode)] if mode in _BY_SIZE else ()
        if file.view_mode in (mode, *smaller):
            return None
    return ViewRequest(file.path, file.source, mode, slices=tuple(file.custom_slices))
