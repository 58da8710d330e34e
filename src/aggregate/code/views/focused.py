"""Chosen lines of a view in order, with a line of dots where others are left out."""

from collections.abc import Sequence

from aggregate.base.files import Span, View

GAP = "..."


def focused(view: View, lines: Sequence[str], runs: Sequence[tuple[int, int]]) -> View:
    """Return the ``runs`` of lines of ``view``, each part that is left out replaced by one line ``...``."""
    pieces: list[str] = []
    kept: list[Span] = []
    line, behind = 1, 1  # of the new text, and the first line of the view that was not passed yet
    for first, last in runs:
        if first > behind:
            pieces.append(f"{GAP}\n")
            kept.append(Span(line, line, behind, first - 1))
            line += 1
        pieces += lines[first - 1 : last]
        kept.append(Span(line, line + last - first, first, last))
        line += last - first + 1
        behind = last + 1
    if behind <= len(lines):
        if pieces and not pieces[-1].endswith("\n"):
            pieces.append("\n")
        pieces.append(f"{GAP}\n")
        kept.append(Span(line, line, behind, len(lines)))
    spans = _composed(kept, view.spans) if view.spans else kept
    return View("".join(pieces), tuple(spans), view.language, view.problems)


def _composed(outer: Sequence[Span], inner: Sequence[Span]) -> list[Span]:
    # ``outer`` leads to the view, ``inner`` from there to the file; lines that come from nowhere stay without a span.
    composed: list[Span] = []
    position = 0
    ordered = sorted(inner)
    for span in outer:
        while position and ordered[position - 1].end >= span.source_start:
            position -= 1
        while position < len(ordered) and ordered[position].end < span.source_start:
            position += 1
        overlapping: list[Span] = []
        following = position
        while following < len(ordered) and ordered[following].start <= span.source_end:
            overlapping.append(ordered[following])
            following += 1
        if not overlapping:
            continue
        if span.end - span.start != span.source_end - span.source_start:  # a line of dots
            sources = [_shown_by(part, span.source_start, span.source_end) for part in overlapping]
            first = min(start for start, _ in sources)
            last = max(end for _, end in sources)
            composed.append(Span(span.start, span.end, first, last))
            continue
        offset = span.start - span.source_start
        for part in overlapping:
            start = max(span.source_start, part.start) + offset
            end = min(span.source_end, part.end) + offset
            shown = _shown_by(part, span.source_start, span.source_end)
            composed.append(Span(start, end, *shown))
    return composed


def _shown_by(part: Span, first: int, last: int) -> tuple[int, int]:
    """Return the lines of the file that those of ``part`` stand for which lie within these lines of the view."""
    if part.end - part.start != part.source_end - part.source_start:
        return part.source_start, part.source_end
    offset = part.source_start - part.start
    return max(first, part.start) + offset, min(last, part.end) + offset
