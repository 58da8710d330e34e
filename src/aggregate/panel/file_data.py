"""One file for the page: its source beside a view of it, what it defines, and its slices."""

from collections.abc import Iterator
from typing import Any, Final

from aggregate.base.concurrency import in_child
from aggregate.base.errors import AggregateError
from aggregate.base.files import RenderedFile, View, ViewMode, ViewRequest
from aggregate.base.request import FileChoice
from aggregate.code.anchors import AnchorState, FuzzyAnchor, has_anchor, line_numbers
from aggregate.code.syntax import fence_tag, language_of, read_definitions
from aggregate.code.views import render_all, view_of
from aggregate.project.files import SourceFile
from aggregate.prompt import ResolvedFile, SavedCounts

# The views whose sizes are told whatever the entry says; of the others an entry has to say what to show.
_COUNTED: Final = (ViewMode.FULL, ViewMode.SKELETON, ViewMode.OUTLINE, ViewMode.SUMMARY)
# Of a file that are listed: a generated one may have more, which nobody clicks one by one.
_MOST_DEFINITIONS: Final = 5_000
# Of a file that is shown: a page with more of it than that is slow, and nobody reads it.
_MOST_CHARACTERS: Final = 5_000_000
_MOST_REASONS: Final = 12  # Reasons for a score that are listed


def file_data(
    file: ResolvedFile,
    source: SourceFile,
    *,
    mode: str,
    shown: RenderedFile | None,
    choice: FileChoice | None,
    count: SavedCounts,
) -> dict[str, Any]:
    """Return what the page shows of a file."""
    if len(source.text) > _MOST_CHARACTERS:
        size = f"{len(source.text):,} characters"
        source = SourceFile("", error=f"too large to be shown here: {size}; its view still counts")
        file = file.with_slices([])
    text = source.text
    if source.error:
        name, view = mode, View("")
    elif not mode and shown is not None:
        name, view = shown.view_mode.value, View(shown.content, shown.shown.spans or ())
    else:
        wanted = ViewMode.parse(mode) if mode else file.view_mode
        name, view = wanted.value, view_of(_request(file, text, wanted))
    reasons = choice.reasons[:_MOST_REASONS] if choice else ()
    return {
        "path": file.path,
        "language": fence_tag(file.path, text),
        "mode": name,
        "view": _lines(view.text),
        "origin": _origins(view, text),
        "source": _lines(text),
        "by_glob": file.by_glob,
        "definitions": _definitions(file, text),
        "slices": list(_slices(file, text)),
        "sizes": _sizes(file, text, count) if not source.error else {},
        # First and last lines in which secrets were found; these are replaced here too.
        "redacted": [[first, last] for first, last in source.redacted],
        "score": choice.score if choice else None,
        "evidence": [[each.kind, round(each.weight, 4), each.matched] for each in reasons],
        "error": source.error or file.problem,
    }


def _request(file: ResolvedFile, text: str, mode: ViewMode) -> ViewRequest:
    item = file.item
    return ViewRequest(file.path, text, mode, item.ast_mask, tuple(item.custom_slices))


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def _origins(view: View, source: str) -> list[int]:
    """Return for each line of a view the line of the file that it shows, ``0`` for one that was made."""
    count = len(_lines(view.text))
    if view.text == source:
        return list(range(1, count + 1))
    origins = [0] * count
    for span in view.spans:
        is_same = span.end - span.start == span.source_end - span.source_start
        for line in range(max(span.start, 1), min(span.end, count) + 1):
            origins[line - 1] = span.source_start + (line - span.start if is_same else 0)
    return origins


def _definitions(file: ResolvedFile, text: str) -> list[dict[str, Any]]:
    language = language_of(file.path, text) if text else None
    if language is None:
        return []
    try:
        definitions = in_child(read_definitions, text, language).definitions
    except AggregateError:  # it takes the parser too long; its views say so
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


def _slices(file: ResolvedFile, text: str) -> Iterator[dict[str, Any]]:
    slices = file.item.custom_slices
    places = FuzzyAnchor.resolve_all(slices, text) if slices else []
    for number, (piece, place) in enumerate(zip(slices, places, strict=True)):
        start, end = line_numbers(piece) or (0, 0)
        if not place.found:
            state = "stale"
        elif not has_anchor(piece):
            state = "anchorless"
        else:
            state = "exact" if place.state is AnchorState.FRESH else "moved"
        candidate = place.candidates[0] if place.candidates else None
        yield {
            "id": number,
            "start": place.start_line if place.found else start,
            "end": place.end_line if place.found else end,
            "tag": str(piece.get("tag") or ""),
            "comment": str(piece.get("comment") or ""),
            "state": state,
            "candidate": {"start": candidate[0], "end": candidate[1]} if candidate else None,
            "why": place.reason,
        }


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
