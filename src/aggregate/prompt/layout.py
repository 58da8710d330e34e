"""Files and screenshots as the text of a prompt: their headings, fences and links, which no content can break."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import tee

from aggregate.base.files import RenderedFile, ShownText, View, ViewMode, ViewRequest
from aggregate.base.text import fence, heading_text
from aggregate.code.views import render_all
from aggregate.prompt.document import Screenshot, Section, Segment, Stability

FILES = "## Files"
FILES_SUMMARY = "## Files (Summary)"
FILES_TIER3 = "## Files (Tier 3 - Focused)"


def file_block(path: str, content: str, *, language: str = "text", excluded: bool = False) -> str:
    """Return a file's heading and its content in a fence that it cannot break (rule M-X16)."""
    heading = file_heading(path)
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
    """Yield the section's segments from those of its files, none where there is no file."""
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
    block = file_block(file.path, file.content, language=language, excluded=is_excluded)
    return file_segment(file.path, block, file.shown)


def view_segment(file: RenderedFile, mode: ViewMode, view: View | str) -> Segment:
    """Return the segment of a file shown by a view of its source, or by what went wrong with that."""
    if isinstance(view, str):
        block = file_block(file.path, view_error_text(file.path, mode, view))
        return file_segment(file.path, block, ShownText(file.source, (), is_message=True))
    block = file_block(file.path, view.text, language=view.language)
    return file_segment(file.path, block, ShownText(file.source, view.spans, file.redacted))


def view_error_text(path: str, mode: ViewMode, reason: str) -> str:
    return f"ERROR in {mode.value} view mode for {heading_text(path)}:\n{reason}"


def files_segments(files: Iterable[RenderedFile], *, is_summary: bool = False) -> Iterator[Segment]:
    """Yield the Files section: by digests, or by each file's own view.

    Files with ``auto_aggregate`` off are left out.
    """
    in_prompt = (file for file in files if file.auto_aggregate)
    if is_summary:
        return files_section(FILES_SUMMARY, _summary_segments(in_prompt))
    return files_section(FILES, map(rendered_segment, in_prompt))


def _summary_segments(files: Iterable[RenderedFile]) -> Iterator[Segment]:
    """Yield the files' digests, made from the raw texts (rule M-X2); what is forced to full, errors and notes stay."""
    shown, asked = tee(files)
    requests = (
        ViewRequest(
            file.path, file.source, ViewMode.NONE if _is_as_it_is(file) else ViewMode.SUMMARY
        )
        for file in asked
    )
    for file, view in zip(shown, render_all(requests), strict=True):
        if _is_as_it_is(file):
            yield rendered_segment(file)
        else:
            yield view_segment(file, ViewMode.SUMMARY, view)


def _is_as_it_is(file: RenderedFile) -> bool:
    return file.force_full or file.error or file.view_mode is ViewMode.NONE


HEADING = "## Screenshots"
# What a link's text can be broken by; an underscore inside a word is plain text.
_TEXT_SPECIAL = re.compile(r"[\\\[\]`<*]|&(?=[#\w])|(?<![^\W_])_|_(?![^\W_])")
_PLAIN_PATH = re.compile(r"[^\s()<>\\&\x00-\x20\x7f]+")
_PATH_SPECIAL = re.compile(r"[\\<>&]")
# Characters that no link may hold, bytes that are not UTF-8, white space at either end, which renderers cut off, and a
# percent sign that would be read as an escape.
_PATH_ENCODED = re.compile(
    "[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]|^\\s+|\\s+$|%(?=[0-9A-Fa-f]{2})"
)
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")


def screenshots_section(images: Sequence[Screenshot]) -> str:
    """Render ``images`` in their order as ``![name](path)``; a missing file is marked so (rules M-7, M-51, M-X20)."""
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
    """Return ``path`` as a link's destination: bare where it is plain, else in angle brackets (CommonMark 6.3)."""
    encoded = _PATH_ENCODED.sub(_percent, path)
    if ":" in encoded.split("/")[0] and not _DRIVE.match(encoded):
        encoded = (
            f"./{encoded}"  # a first part with a colon would be a scheme (RFC 3986, section 4.2)
        )
    if _PLAIN_PATH.fullmatch(encoded):
        return encoded
    return "<" + _PATH_SPECIAL.sub(r"\\\g<0>", encoded) + ">"


def _percent(match: re.Match[str]) -> str:
    """Return the bytes of a match as ``%XX``; a byte that is not UTF-8 stands for itself (PEP 383)."""
    is_byte = "\udc80" <= match[0] <= "\udcff"
    raw = match[0].encode("utf-8", "surrogateescape" if is_byte else "surrogatepass")
    return "".join(f"%{byte:02X}" for byte in raw)
