"""The Files section of a Tier 3 worker: its focus files in full, the rest by structure."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence

from aggregate.compose.file_rendering import view_error_text
from aggregate.compose.focus import FOCUS_TIER, is_named, named_paths
from aggregate.compose.view_pool import render_all
from aggregate.models.prompt import Segment
from aggregate.models.rendered_file import FileRow, RenderedFile
from aggregate.models.view import View, ViewMode, ViewRequest
from aggregate.sections.files import FILES_TIER3, file_block, files_section, rendered_block
from aggregate.syntax.languages import fence_tag, language_of

_CONTEXT_MODES = {"python": ViewMode.SKELETON, "c": ViewMode.OUTLINE, "cpp": ViewMode.OUTLINE}


def tier3_segments(files: Iterable[RenderedFile], focus_files: Sequence[str]) -> Iterator[Segment]:
    """Yield the section ``## Files (Tier 3 - Focused)`` (rule M-53).

    Focus files, files of tier 3 and files forced to full are shown raw, whatever their view mode;
    files named as focus also where they are excluded or not aggregated (rule M-X8). Of the others,
    files with slices are shown by these, found again, Python by its skeleton, C and C++ by their
    outline, everything else as it was rendered.
    """
    return files_section(FILES_TIER3, _blocks(files, focus_files))


def _blocks(files: Iterable[RenderedFile], focus_files: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the path and the block of each file in the prompt."""
    waiting: deque[tuple[RenderedFile, ViewRequest | None, bool]] = deque()

    def requests() -> Iterator[ViewRequest]:
        for file in files:
            is_raw = _is_raw(file, focus_files)
            if is_raw or file.auto_aggregate:
                request = None if is_raw else _context_request(file)
                waiting.append((file, request, is_raw))
                # Where no view is made, one that costs nothing stands for it.
                yield request or ViewRequest(file.path, file.source, ViewMode.NONE)

    for view in render_all(requests()):
        file, request, is_raw = waiting.popleft()
        if is_raw:
            block = _raw_block(file)
        elif request:
            block = _context_block(request, view)
        else:
            block = rendered_block(file)
        yield file.path, block


def is_focus(file: RenderedFile | FileRow, focus_files: Sequence[str]) -> bool:
    """Tell whether one of ``focus_files`` names the file (rule M-X7)."""
    return is_named(file.path, file.entry, focus_files)


def focus_paths(files: Iterable[RenderedFile], focus_files: Iterable[str]) -> frozenset[str]:
    """Return the paths of the files that ``is_focus`` holds for."""
    return named_paths(((file.path, file.entry) for file in files), focus_files)


def _is_raw(file: RenderedFile, focus_files: Sequence[str]) -> bool:
    if is_focus(file, focus_files):
        return True
    return file.auto_aggregate and (file.tier == FOCUS_TIER or file.force_full)


def _raw_block(file: RenderedFile) -> str:
    if file.error and not file.source:
        return rendered_block(file)
    return file_block(file.path, file.source, language=fence_tag(file.path, file.source))


def _context_request(file: RenderedFile) -> ViewRequest | None:
    """Return the view of a file as context for a worker, ``None`` for the one it was rendered in."""
    mode = _context_mode(file)
    if mode is None:
        return None
    return ViewRequest(file.path, file.source, mode, slices=tuple(file.custom_slices))


def _context_mode(file: RenderedFile) -> ViewMode | None:
    if file.error or file.view_mode is ViewMode.NONE:
        return None
    if file.custom_slices:
        return ViewMode.CUSTOM
    language = language_of(file.path, file.source)
    return _CONTEXT_MODES.get(language.name) if language else None


def _context_block(request: ViewRequest, view: View | str) -> str:
    if isinstance(view, str):
        return file_block(request.path, view_error_text(request.path, request.mode, view))
    return file_block(request.path, view.text, language=view.language)
