"""The Files section: a heading and a fenced block per file."""

from collections.abc import Iterable, Iterator

from aggregate.base.text import fence, heading_text
from aggregate.base.values import (
    RenderedFile,
    Section,
    Segment,
    ShownText,
    Stability,
    View,
    ViewMode,
)

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
    """Return the heading of a file's block."""
    return f"### File {heading_text(path)}"


def is_fenced(block: str) -> bool:
    """Tell whether a file's block holds a fence below its heading."""
    return block.startswith("```", block.find("\n") + 2)


def file_segment(path: str, block: str, shown: ShownText | None = None) -> Segment:
    """Return the segment of one file; ``shown`` tells what its content was made of."""
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
    """Return the segment of a file as it was rendered."""
    language = "text" if file.error else file.language or "text"
    block = file_block(file.path, file.content, language=language, excluded=file.is_excluded)
    return file_segment(file.path, block, file.shown)


def view_segment(file: RenderedFile, mode: ViewMode, view: View | str) -> Segment:
    """Return the segment of a file shown by a view of its source, or by what went wrong with that."""
    if isinstance(view, str):
        block = file_block(file.path, view_error_text(file.path, mode, view))
        return file_segment(file.path, block, ShownText(file.source, (), is_message=True))
    block = file_block(file.path, view.text, language=view.language)
    return file_segment(file.path, block, ShownText(file.source, view.spans, file.redacted))


def view_error_text(path: str, mode: ViewMode, reason: str) -> str:
    """Return the text in place of a view that could not be made."""
    return f"ERROR in {mode.value} view mode for {heading_text(path)}:\n{reason}"
