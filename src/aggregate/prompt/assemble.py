"""From rendered files and everything else that a request names to the prompt."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Union

from aggregate.base.disk import is_file, read_bytes
from aggregate.base.monitor import get_monitor
from aggregate.base.values import (
    THRESHOLD,
    Cut,
    FileChoice,
    FileRecord,
    FileRow,
    Image,
    Missing,
    Prompt,
    RenderedFile,
    Screenshot,
    Section,
    Segment,
    Stability,
    ViewMode,
    ViewRequest,
)
from aggregate.code.syntax import fence_tag, language_of
from aggregate.project.configuration import BEADS_MODE
from aggregate.project.files import FolderListing, display_path, read_file, read_image_header
from aggregate.prompt.file_rendering import FileStream, RenderedFiles, check_refused
from aggregate.prompt.layout import (
    FILES_TIER3,
    Omitted,
    discussion_segments,
    file_block,
    file_segment,
    files_segments,
    rendered_segment,
    screenshots_section,
    view_segment,
)
from aggregate.prompt.redact_prompt import FoundSecrets
from aggregate.prompt.request import FOCUS_TIER, FocusIndex, Request, is_named, unknown_focus
from aggregate.prompt.view_pool import render_all

if TYPE_CHECKING:
    from aggregate.base.values import Origin, SourceMap
    from aggregate.prompt.sections.subagent_results import Results


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


@dataclass(slots=True, eq=False)
class Composition:
    """A prompt, and what it was made of.

    It is iterated once for its segments, which are made one after another; what it tells is complete after that. None
    of their texts is kept, unless it is ``composed``.

    Attributes:
        source: The request's files, read already or while they are iterated.
        choices: With a task or a budget: what was decided about each candidate, in the order of the configuration.
        cut: What else was shortened or left out for the budget.
        missing: Evidence that there was none of.
        rows: What is told of each file.
    """

    request: Request
    source: Union["RenderedFiles", "FileStream"]
    choices: Sequence[FileChoice] = ()
    cut: Sequence[Cut] = ()
    missing: Sequence[Missing] = ()
    lay_out: Callable[[Iterable[RenderedFile]], Iterable[Segment]] | None = None
    omitted: tuple[Omitted | None, Omitted | None] = (None, None)
    rows: list[FileRow] = field(default_factory=list)
    _images: Sequence[Screenshot] = ()
    _secrets: FoundSecrets | None = None
    _prompt: Prompt | None = None
    _map: "SourceMap | None" = None

    def composed(self) -> "Composition":
        """Make all segments, keep them, and return this."""
        self._prompt = Prompt(tuple(self))
        return self

    @property
    def prompt(self) -> Prompt:
        """The segments in order."""
        return self._prompt or self.composed().prompt

    @property
    def files(self) -> tuple[RenderedFile, ...]:
        """The files, rendered; none of a prompt that keeps no texts."""
        return self.source.files if isinstance(self.source, RenderedFiles) else ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was left out or is doubtful, one sentence each."""
        request = self.request
        # With a budget the pins tell of the task's places.
        focus_files = request.focus_paths if request.budget is None else request.focus_files
        unknown = (
            unknown_focus(focus, [row.path for row in self.rows])
            for focus in focus_files
            if not any(is_named(row.path, row.entry, [focus]) for row in self.rows)
        )
        images = (
            f"screenshot {image.path}: {image.problem}" for image in self._images if image.problem
        )
        secrets = self._secrets.warnings if self._secrets else ()
        return (*self.source.warnings, *unknown, *images, *secrets)

    @property
    def refused(self) -> tuple[str, ...]:
        """Those of the warnings that say what the scope does not allow."""
        refused = (
            f"screenshot {image.path}: {image.refused}" for image in self._images if image.refused
        )
        return (*self.source.refused, *refused)

    def __iter__(self) -> Iterator[Segment]:
        """Yield the prompt's segments."""
        return iter(self._prompt.segments) if self._prompt else self._segments()

    def _segments(self) -> Iterator[Segment]:
        request = self.request
        secrets = self._secrets = FoundSecrets(request.redaction)
        self._images = find_screenshots(
            request.screenshot_dir,
            request.screenshots,
            shown_from=request.shown_from,
            listing=FolderListing(request.scope),
        )
        root = "" if request.scope.allow_outside else request.scope.root
        segments = section_segments(
            self._files_section(secrets),
            screenshots=screenshots_section(self._images),
            beads=beads_text(BEADS_MODE if request.beads else "", request.base_dir, root=root),
            results=request.results,
            history=request.history,
            omitted=self.omitted,
        )
        yield from map(secrets.shown_segment, segments)

    def _files_section(self, secrets: FoundSecrets) -> Iterable[Segment]:
        def noted() -> Iterator[RenderedFile]:
            for file in self.source:
                self.rows.append(file.row)
                secrets.note_file(file.path, file.secrets)
                yield file

        request = self.request
        if self.lay_out is not None:
            return self.lay_out(noted())
        if request.is_tier3:
            return tier3_segments(noted(), request.focus_files)
        is_summary, strategy = request.summary_only, request.strategy
        return files_segments(noted(), summary_only=is_summary, strategy=strategy)

    @property
    def source_map(self) -> "SourceMap":
        """Where each line of the prompt comes from (rule L-1); made when it is first asked for."""
        if self._map is None:
            from aggregate.prompt.source_map import map_sources  # few ask

            self._map = map_sources(self.prompt.segments)
        return self._map

    def origin(self, line: int) -> "Origin | None":
        """Return where the 1-based ``line`` of the prompt comes from, ``None`` where it has no such line."""
        return self.source_map.origin(line)

    def find(self, path: str, line: int) -> int | None:
        """Return the first line of the prompt that shows a file's 1-based line, else that stands for it."""
        return self.source_map.find(path, line)

    def shows(self, path: str, lines: Iterable[int]) -> bool:
        """Tell whether the prompt shows 1-based lines of a file as the file has them now; none at all are not shown."""
        wanted = frozenset(lines)
        if not wanted or not wanted <= self.source_map.verbatim_lines(path):
            return False
        then = next(file.source for file in self.files if file.path == path).split("\n")
        now = read_file(self.request.base_dir / path).text.split("\n")
        return all(line <= len(now) and then[line - 1] == now[line - 1] for line in wanted)

    @property
    def records(self) -> tuple[FileRecord, ...]:
        """A record per file, as ``build_file_items`` returns them."""
        return tuple(file.to_record() for file in self.files)

    def check_scope(self) -> None:
        """Raise a ``ScopeError`` with the first file that the prompt asks for and its scope does not allow."""
        check_refused(self.refused)


def section_segments(
    files: Iterable[Segment],
    *,
    screenshots: str,
    beads: str,
    history: Sequence[object],
    results: "Sequence[Results]" = (),
    omitted: tuple[Omitted | None, Omitted | None] = (None, None),
) -> Iterator[Segment]:
    """Yield the segments of all sections in their order, each only if not empty (rule M-9)."""
    yield from files
    if screenshots:
        yield Segment(Section.SCREENSHOTS, screenshots, Stability.STABLE)
    if beads:
        yield Segment(Section.BEADS, beads, Stability.SLOW)
    omitted_turns, omitted_results = omitted
    if results or omitted_results:
        from aggregate.prompt.sections.subagent_results import (
            results_segments,  # few prompts have results
        )

        yield from results_segments(results, omitted_results)
    yield from discussion_segments(history, omitted_turns)


PromptStream = Composition  # What ``stream_prompt`` returns


@get_monitor().scope("assemble")
def assemble(request: Request, rendered: RenderedFiles) -> Composition:
    return Composition(request, rendered).composed()


def beads_text(execution_mode: str, base_dir: str | Path | None, *, root: str = "") -> str:
    return build_beads_section(base_dir or "", root=root) if execution_mode == BEADS_MODE else ""


def build_beads_section(
    base_dir: str | Path,
    *,
    environ: Mapping[str, str] | None = None,
    now: datetime | None = None,
    root: str = "",
) -> str:
    """Find, read and render the beads of the project around ``base_dir``, ``""`` where there are none (rule M-8).

    Args:
        base_dir: Where the project is looked for.
        environ: For ``BEADS_DIR`` and for ``PATH``, where ``bd`` is looked for; the process's own by default.
        now: Compared with ``defer_until`` only; the current time by default.
        root: The real path of the folder that the beads must lie in; by default they may lie anywhere.
    """
    # These take 15 ms, and few projects have beads.
    from aggregate.project.beads import read_board
    from aggregate.prompt.sections.beads import beads_section

    environ = os.environ if environ is None else environ
    board = read_board(Path(base_dir), environ=environ, root=root)
    return beads_section(board, now=now or datetime.now(UTC))


def with_references(
    results: "Results | Sequence[Results]", cache_dir: str | Path, threshold: int = THRESHOLD
) -> "tuple[Results, ...]":
    """Return single results, each with its value below ``cache_dir`` where its JSON has ``threshold`` bytes."""
    if type(results) is tuple and not results:  # isinstance would ask an odd value for its class
        return ()
    from aggregate.prompt.references import compact_all  # 70 ms, needed only with results

    return compact_all(results, cache_dir=cache_dir, threshold=threshold)
