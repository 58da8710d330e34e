"""Files and screenshots as Markdown, files as XML documents; no content can break headings, fences and links."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import Final

from aggregate.base.files import FOCUS_TIER, ShownText, Span, ViewMode, ViewRequest, source_lines
from aggregate.base.text import fence, heading_text
from aggregate.code.syntax import fence_tag, language_of
from aggregate.code.views import render_all
from aggregate.prompt.asking import Request, find_named
from aggregate.prompt.document import (
    BEFORE_CONTENT,
    Screenshot,
    Section,
    Segment,
    Stability,
    file_heading,
    is_fenced,
)
from aggregate.prompt.files.file import File

FILES = "## Files"
FILES_SUMMARY = "## Files (Summary)"
FILES_TIER3 = "## Files (Tier 3 - Focused)"
MORE_TOKENS: Final = 20  # upper bound by which a document's tags exceed a heading and a fence
_DIGESTED: Final = 512  # files digested together
_CLOSING: Final = re.compile(r"<(?=/\s*(?:documents?|document_content|source)\b)", re.IGNORECASE)


def file_block(
    path: str, content: str, *, language: str = "text", excluded: bool = False, note: str = ""
) -> str:
    """Return a file's heading and its fenced content (rule M-X16)."""
    heading = file_heading(path) + (f" ({note})" if note else "")
    if excluded:
        return f"{heading} (excluded)\n\n{content}"
    return fence(content, language, before=f"{heading}\n\n")


def files_section(title: str, files: Iterable[Segment]) -> Iterator[Segment]:
    """Yield the title and the files' segments, nothing without files."""
    is_empty = True
    for segment in files:
        if is_empty:
            yield Segment(Section.FILES, title, Stability.STABLE)
            is_empty = False
        yield segment


def rendered_segment(file: File) -> Segment:
    language = "text" if file.is_error else file.view.language or "text"
    is_none = file.view_mode is ViewMode.NONE
    is_excluded = is_none and not file.is_error and not file.item.force_full
    block = file_block(
        file.path, file.view.text, language=language, excluded=is_excluded, note=file.note
    )
    return Segment(Section.FILES, block, Stability.STABLE, file.path, file.shown)


def _raw_segment(file: File) -> Segment:
    text = file.source.text
    if file.is_error and not text:
        return rendered_segment(file)
    block = file_block(file.path, text, language=fence_tag(file.path, text), note=file.note)
    shown = ShownText(text, None, file.source.redacted)
    return Segment(Section.FILES, block, Stability.STABLE, file.path, shown)


def numbered(segment: Segment) -> Segment:
    """Add line numbers to a file's block.

    Lines without exactly one line of origin get no number.
    """
    source, lines = segment.shown, segment.text.split("\n")
    if source is None or source.is_message or not is_fenced(segment.text):
        return segment
    content = lines[BEFORE_CONTENT:-1]
    spans = (Span(1, len(content), 1, len(content)),) if source.spans is None else source.spans
    numbers = source_lines(spans)
    width = len(str(max(numbers.values(), default=0)))
    lines[BEFORE_CONTENT:-1] = [
        f"{numbers.get(line, ''):>{width}} | {text}" for line, text in enumerate(content, start=1)
    ]
    return replace(segment, text="\n".join(lines), shown=source._replace(is_numbered=True))


def as_documents(files: Iterable[Segment]) -> Iterator[Segment]:
    """Yield the segments of the Files section with each file as a numbered XML document.

    The form is that of Anthropic's guide to long contexts (rule T-16).
    """
    number = 0
    is_open = False
    for segment in files:
        if bool(segment.source) is not is_open:
            is_open = not is_open
            yield _tag("<documents>" if is_open else "</documents>")
        number += bool(segment.source)
        yield _document(segment, number) if segment.source else segment
    if is_open:
        yield _tag("</documents>")


def _tag(text: str) -> Segment:
    return Segment(Section.FILES, text, Stability.STABLE)


def _document(segment: Segment, number: int) -> Segment:
    """Return a file's block as a document, with as many lines around the content."""
    heading, _, *lines = segment.text.split("\n")
    shown, content = segment.shown, lines
    if is_fenced(segment.text):
        content = lines[1:-1]
    elif shown:
        shown = shown._replace(is_message=True)
    name = heading.removeprefix(file_heading("")).replace("&", "&amp;").replace("<", "&lt;")
    escaped = [_CLOSING.sub("&lt;", line) for line in content]
    if shown and shown.spans is None and escaped != content:
        shown = shown._replace(spans=(Span(1, len(content), 1, len(content)),))
    opening = f'<document index="{number}">\n<source>{name}</source>\n<document_content>'
    text = "\n".join((opening, *escaped, "</document_content></document>"))
    return replace(segment, text=text, shown=shown)


def files_segments(files: Iterable[File], *, is_summary: bool = False) -> Iterator[Segment]:
    """Yield the Files section, without files that have ``auto_aggregate`` off."""
    in_prompt = (file for file in files if file.item.auto_aggregate)
    if is_summary:
        return files_section(FILES_SUMMARY, _summary_segments(in_prompt))
    return files_section(FILES, map(rendered_segment, in_prompt))


def prompt_files(
    files: Iterable[File], request: Request, listed: Iterable[Segment] = ()
) -> Iterable[Segment]:
    """Return the files' section of a request; ``listed`` is the list of files that a budget hides."""
    if request.budget is not None:
        title = FILES_SUMMARY if request.is_summary else FILES
        title = FILES_TIER3 if request.is_tier3 else title
        segments = files_section(title, chain(map(rendered_segment, files), listed))
    elif request.is_tier3:
        segments = iter(tier3_segments(files, request.focus_files))
    else:
        segments = files_segments(files, is_summary=request.is_summary)
    if request.is_numbered:
        segments = map(numbered, segments)
    return as_documents(segments) if request.is_xml else segments


def _summary_segments(files: Iterator[File]) -> Iterator[Segment]:
    """Yield digests of the raw texts (rule M-X2); full files, errors and notes stay."""
    mode = ViewMode.SUMMARY
    while portion := list(islice(files, _DIGESTED)):
        digested = [file for file in portion if not _stays(file)]
        requests = [ViewRequest(file.path, file.source.text, mode) for file in digested]
        views = render_all(requests)
        for file in portion:
            shown = file if _stays(file) else file.with_view(next(views), mode)
            yield rendered_segment(shown)


def _stays(file: File) -> bool:
    return file.item.force_full or file.is_error or file.view_mode is ViewMode.NONE


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


# Views of unfocused files in a Tier 3 prompt, by language.
_CONTEXT_MODES = {"python": ViewMode.SKELETON, "c": ViewMode.OUTLINE, "cpp": ViewMode.OUTLINE}
# Views by size, the smallest first.
_BY_SIZE = (ViewMode.SUMMARY, ViewMode.OUTLINE, ViewMode.SKELETON)


def tier3_segments(files: Iterable[File], focus_files: Sequence[str]) -> tuple[Segment, ...]:
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

    def __init__(self, files: Iterable[File], *, as_rendered: bool = False) -> None:
        self._files = tuple(files)
        self._as_rendered = as_rendered
        self._pairs = [(file.path, file.item.path) for file in self._files]
        self._raw: dict[int, Segment] = {}
        self._context: dict[int, Segment] = {}

    def named(self, focus: str) -> list[File]:
        return [self._files[number] for number in find_named(self._pairs, focus)]

    def section(self, focus_files: Iterable[str]) -> tuple[Segment, ...]:
        raw, context = find_named(self._pairs, *focus_files), list[int]()
        focused = set(raw)
        for number, file in enumerate(self._files):
            if file.item.auto_aggregate and number not in focused:
                is_raw = file.entry.tier == FOCUS_TIER or file.item.force_full
                (raw if is_raw else context).append(number)
        blocks = self._raw_segments(raw) | self._context_segments(context)
        title = Segment(Section.FILES, FILES_TIER3, Stability.STABLE)
        return (title, *(blocks[number] for number in sorted(blocks))) if blocks else ()

    def in_full(self, focus_files: Iterable[str]) -> dict[str, Segment]:
        segments = self._raw_segments(find_named(self._pairs, *focus_files))
        return {self._files[number].path: segment for number, segment in segments.items()}

    def _raw_segments(self, numbers: Sequence[int]) -> dict[int, Segment]:
        for number in numbers:
            if number not in self._raw:
                self._raw[number] = _raw_segment(self._files[number])
        return {number: self._raw[number] for number in numbers}

    def _context_segments(self, numbers: Sequence[int]) -> dict[int, Segment]:
        new = [number for number in numbers if number not in self._context]
        requests = [self._context_request(self._files[number]) for number in new]
        views = iter(render_all([request for request in requests if request]))
        for number, request in zip(new, requests, strict=True):
            file = self._files[number]
            shown = file.with_view(next(views), request.mode) if request else file
            self._context[number] = rendered_segment(shown)
        return {number: self._context[number] for number in numbers}

    def _context_request(self, file: File) -> ViewRequest | None:
        """Return the view for rendering an unfocused file, ``None`` to show its content unchanged."""
        if file.is_error or file.view_mode is ViewMode.NONE:
            return None
        text, slices, mode = file.source.text, tuple(file.item.custom_slices), ViewMode.CUSTOM
        if not slices:
            language = language_of(file.path, text)
            if language is None or language.name not in _CONTEXT_MODES:
                return None
            mode = _CONTEXT_MODES[language.name]
        if self._as_rendered and file.view.language:
            smaller = _BY_SIZE[: _BY_SIZE.index(mode)] if mode in _BY_SIZE else ()
            if file.view_mode in (mode, *smaller):
                return None
        return ViewRequest(file.path, text, mode, slices=slices)
