"""The files of a worker's prompt: its focus files as they are, the others by their structure."""

from collections.abc import Callable, Iterable, Sequence

from aggregate.base.files import RenderedFile, ViewMode, ViewRequest
from aggregate.code.syntax import fence_tag, language_of
from aggregate.code.views import render_all
from aggregate.prompt.document import Section, Segment, Stability
from aggregate.prompt.layout import (
    FILES_TIER3,
    file_block,
    file_segment,
    rendered_segment,
    view_segment,
)
from aggregate.prompt.request import FOCUS_TIER, FocusIndex

_CONTEXT_MODES = {"python": ViewMode.SKELETON, "c": ViewMode.OUTLINE, "cpp": ViewMode.OUTLINE}
# Views that may be smaller than those above, the smallest first.
_BY_SIZE = (ViewMode.SUMMARY, ViewMode.OUTLINE, ViewMode.SKELETON)


def tier3_segments(
    files: Iterable[RenderedFile], focus_files: Sequence[str]
) -> tuple[Segment, ...]:
    """Return the section ``## Files (Tier 3 - Focused)`` (rule M-53).

    Focus files, files of tier 3 and files forced to full are shown raw, whatever their view mode;
    files named as focus also where they are excluded or not aggregated (rule M-X8). Of the others,
    files with slices are shown by these, found again, Python by its skeleton, C and C++ by their
    outline, everything else as it was rendered.
    """
    return Tier3Files(files).section(focus_files)


class Tier3Files:
    """The files of many Tier 3 prompts: whoever has which of them in focus, each is rendered once.

    Args:
        files: In the order of the prompts.
        as_rendered: Whether each file's content is still the view that ``render_files`` made of its source: where a
            prompt shows the same view, or that view is smaller than the one by structure, it is shown as it is.
            Records that others have written may hold anything.
        finish: Applied to segments when they are made: it returns as many, to be shown instead.
    """

    def __init__(
        self,
        files: Iterable[RenderedFile],
        *,
        as_rendered: bool = False,
        finish: Callable[[Sequence[Segment]], Sequence[Segment]] = lambda segments: segments,
    ) -> None:
        self._files = tuple(files)
        self._as_rendered = as_rendered
        self._finish = finish
        self._index = FocusIndex((file.path, file.entry) for file in self._files)
        self._raw: dict[int, Segment] = {}
        self._context: dict[int, Segment] = {}

    def named(self, focus: str) -> list[RenderedFile]:
        return [self._files[number] for number in self._index.find(focus)]

    def section(self, focus_files: Iterable[str]) -> tuple[Segment, ...]:
        shown = dict.fromkeys(self._index.find(*focus_files), self._raw)
        for number, file in enumerate(self._files):
            if file.auto_aggregate and number not in shown:
                is_raw = file.tier == FOCUS_TIER or file.force_full
                shown[number] = self._raw if is_raw else self._context
        self._make_raw(sorted(number for number in shown if shown[number] is self._raw))
        self._make_context(sorted(number for number in shown if shown[number] is self._context))
        title = Segment(Section.FILES, FILES_TIER3, Stability.STABLE)
        return (title, *(shown[number][number] for number in sorted(shown))) if shown else ()

    def in_full(self, focus_files: Iterable[str]) -> dict[str, Segment]:
        numbers = self._index.find(*focus_files)
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
                block = file_block(file.path, file.source, language=language)
                segments.append(file_segment(file.path, block, file.shown_raw))
        self._raw.update(zip(new, self._finish(segments), strict=True))

    def _make_context(self, numbers: Iterable[int]) -> None:
        new = [number for number in numbers if number not in self._context]
        files = [self._files[number] for number in new]
        requests = [_context_request(file, as_rendered=self._as_rendered) for file in files]
        views = iter(render_all([request for request in requests if request]))
        segments = [
            view_segment(file, request.mode, next(views)) if request else rendered_segment(file)
            for file, request in zip(files, requests, strict=True)
        ]
        self._context.update(zip(new, self._finish(segments), strict=True))


def _context_request(file: RenderedFile, *, as_rendered: bool) -> ViewRequest | None:
    """Return the view of a file as context for a worker, ``None`` for the one it was rendered in."""
    if file.error or file.view_mode is ViewMode.NONE:
        return None
    mode: ViewMode | None = ViewMode.CUSTOM
    if not file.custom_slices:
        language = language_of(file.path, file.source)
        mode = _CONTEXT_MODES.get(language.name) if language else None
    if mode is None:
        return None
    if as_rendered and file.language:
        no_larger = _BY_SIZE[: _BY_SIZE.index(mode)] if mode in _BY_SIZE else ()
        if file.view_mode in (mode, *no_larger):
            return None
    return ViewRequest(file.path, file.source, mode, slices=tuple(file.custom_slices))
