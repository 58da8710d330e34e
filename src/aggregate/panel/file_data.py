"""One file for the page: its source beside a view of it, what it defines, and its slices."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from aggregate.base.concurrency import in_child
from aggregate.base.errors import AggregateError
from aggregate.base.values import FileChoice, RenderedFile, Span, View, ViewMode, ViewRequest
from aggregate.code.anchors import AnchorState, FuzzyAnchor, Resolution, has_anchor, line_numbers
from aggregate.code.syntax import fence_tag, language_of, read_definitions
from aggregate.code.views import view_of
from aggregate.panel.protocol import DefinitionData, FileData, SliceData
from aggregate.project.files import SourceFile
from aggregate.prompt import ResolvedFile, SavedCounts, render_all

_COUNTED = (ViewMode.FULL, ViewMode.SKELETON, ViewMode.OUTLINE, ViewMode.SUMMARY)
"""The views whose sizes are told whatever the entry says; of the others an entry has to say what to show."""
_MOST_DEFINITIONS = 5_000
"""Of a file that are listed: a generated one may have more, which nobody clicks one by one."""
_MOST_CHARACTERS = 5_000_000
"""Of a file that is shown: a page with more of it than that is slow, and nobody reads it."""
_MOST_REASONS = 12
"""Reasons for a score that are listed."""


def file_data(
    file: ResolvedFile,
    source: SourceFile,
    *,
    revision: int,
    mode: str,
    shown: RenderedFile | None,
    choice: FileChoice | None,
    is_entered: bool,
    count: SavedCounts,
) -> FileData:
    """Return what the page shows of a file.

    Args:
        file: The file and its entry.
        source: Its text.
        revision: What this is of.
        mode: The view to show beside the source; ``""`` for what the prompt shows.
        shown: The file as the prompt shows it, ``None`` where it does not.
        choice: What was decided about it.
        is_entered: Whether an entry of the configuration stands for it.
        count: Counts tokens.
    """
    if len(source.text) > _MOST_CHARACTERS:
        size = f"{len(source.text):,} characters"
        source = SourceFile("", error=f"too large to be shown here: {size}; its view still counts")
        file = file.with_slices([])
    name, view = _view(file, source, mode, shown)
    text = source.text
    return {
        "path": file.path,
        "hash": source.content_hash.hex(),
        "revision": revision,
        "language": fence_tag(file.path, text),
        "mode": name,
        "view": _lines(view.text),
        "origin": _origins(view, len(_lines(view.text)), is_whole=view.text == text),
        "source": _lines(text),
        "entry": file.item.path if is_entered else "",
        "by_glob": file.by_glob,
        "definitions": _definitions(file, text),
        "slices": list(_slices(file.item.custom_slices, text)),
        "sizes": _sizes(file, text, count) if not source.error else {},
        "redacted": [[first, last] for first, last in source.redacted],
        "score": None if choice is None else choice.score,
        "evidence": [] if choice is None else _reasons(choice),
        "error": source.error or file.problem,
    }


def _reasons(choice: FileChoice) -> list[list[str | float]]:
    return [
        [reason.kind, round(reason.weight, 4), reason.matched]
        for reason in choice.reasons[:_MOST_REASONS]
    ]


def _view(
    file: ResolvedFile, source: SourceFile, mode: str, shown: RenderedFile | None
) -> tuple[str, View]:
    if source.error:
        return mode, View("")
    if not mode and shown is not None:
        spans = shown.shown.spans
        return shown.view_mode.value, View(shown.content, () if spans is None else spans)
    wanted = ViewMode.parse(mode) if mode else file.view_mode
    return wanted.value, view_of(_request(file, source.text, wanted))


def _request(file: ResolvedFile, text: str, mode: ViewMode) -> ViewRequest:
    item = file.item
    return ViewRequest(file.path, text, mode, item.ast_mask, tuple(item.custom_slices))


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def _origins(view: View, count: int, *, is_whole: bool) -> list[int]:
    """Return for each line of a view the line of the file that it shows, ``0`` for one that was made."""
    if is_whole:
        return list(range(1, count + 1))
    origins = [0] * count
    for span in view.spans:
        for line, shown in _pairs(span):
            if 1 <= line <= count:
                origins[line - 1] = shown
    return origins


def _pairs(span: Span) -> Iterator[tuple[int, int]]:
    same = span.end - span.start == span.source_end - span.source_start
    for offset in range(span.end - span.start + 1):
        yield span.start + offset, span.source_start + (offset if same else 0)


def _definitions(file: ResolvedFile, text: str) -> list[DefinitionData]:
    language = language_of(file.path, text) if text else None
    if language is None:
        return []
    try:
        definitions = in_child(read_definitions, text, language).definitions
    except AggregateError:  # it takes the parser too long; its views say so
        return []
    masks: Mapping[str, str] = file.item.ast_mask
    return [
        {
            "name": name,
            "kind": definition.kind,
            "start": definition.first_line,
            "end": definition.last_line,
            "depth": definition.depth,
            "mask": masks.get(name, ""),
        }
        for definition in definitions[:_MOST_DEFINITIONS]
        if (name := ".".join(definition.path))
    ]


def _slices(slices: Sequence[Mapping[str, Any]], text: str) -> Iterator[SliceData]:
    places = FuzzyAnchor.resolve_all(slices, text) if slices else []
    for number, (piece, place) in enumerate(zip(slices, places, strict=True)):
        start, end = line_numbers(piece) or (0, 0)
        candidate = place.candidates[0] if place.candidates else None
        yield {
            "id": number,
            "start": place.start_line if place.found else start,
            "end": place.end_line if place.found else end,
            "tag": str(piece.get("tag") or ""),
            "comment": str(piece.get("comment") or ""),
            "state": _slice_state(piece, place),
            "candidate": None
            if candidate is None
            else {"start": candidate[0], "end": candidate[1]},
            "why": place.reason,
        }


def _slice_state(piece: Mapping[str, Any], place: Resolution) -> Any:  # noqa: ANN401 - one of four words
    if not place.found:
        return "stale"
    if not has_anchor(piece):
        return "anchorless"
    return "exact" if place.state is AnchorState.FRESH else "moved"


def _sizes(file: ResolvedFile, text: str, count: SavedCounts) -> dict[str, int]:
    modes = [*_COUNTED]
    if file.item.ast_mask:
        modes.append(ViewMode.MASKED)
    if file.item.custom_slices:
        modes.append(ViewMode.CUSTOM)
    views = render_all([_request(file, text, mode) for mode in modes], workers=1)
    return {
        mode.value: count(view if isinstance(view, str) else view.text)
        for mode, view in zip(modes, views, strict=True)
    }
