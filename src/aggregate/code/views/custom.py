"""Views without a parser: full text, none, or slices found again after edits."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from aggregate.base.files import Span, View, ViewRequest
from aggregate.base.text import heading_text, line_count, split_lines
from aggregate.code.syntax.languages import fence_tag

if TYPE_CHECKING:
    from aggregate.code.anchors import Resolution


EXCLUDED = "(context excluded)"


def none(_request: ViewRequest) -> View:
    """Return the note for excluded content (rule M-36)."""
    return View(EXCLUDED)


def full(request: ViewRequest) -> View:
    """Return the text unchanged (rule M-31)."""
    lines = line_count(request.text)
    spans = (Span(1, lines, 1, lines),) if lines else ()
    return View(request.text, spans, fence_tag(request.path, request.text))


def custom(request: ViewRequest) -> View:
    """Return the slices of a file, each under a heading (rules M-37, M-42, M-X9)."""
    path, text, slices = request.path, request.text, request.slices
    if not slices:
        from aggregate.code.views.summary import summary  # many patterns

        return summary(request)
    # 30 ms to import in each process.
    from aggregate.code.anchors import FuzzyAnchor

    lines = split_lines(text)
    blocks: list[str] = []
    spans: list[Span] = []
    problems: list[str] = []
    line = 1  # line of the view for the next heading
    for piece, place in zip(slices, FuzzyAnchor.resolve_all(slices, text), strict=True):
        heading = slice_heading(piece, place)
        if place.found:
            start, end = place.start_line, place.end_line
            body = "".join(lines[start - 1 : end]).removesuffix("\n")
            blocks.append(f"{heading}\n{body}")
            spans.append(Span(line + 1, line + 1 + end - start, start, end))
            line += end - start + 1
        else:
            blocks.append(heading)
            problems.append(heading)
        line += 2
    return View("\n\n".join(blocks), tuple(spans), fence_tag(path, text), tuple(problems))


def slice_heading(piece: Mapping[str, Any], place: "Resolution") -> str:
    """Return the heading of a slice: ``--- [Slice: TAG] (COMMENT) Lines A-B: ---``."""
    tag = f" [Slice: {heading_text(str(piece['tag']))}]" if piece.get("tag") else " [Slice]"
    comment = f" ({heading_text(str(piece['comment']))})" if piece.get("comment") else ""
    if not place.found:
        lines = "-".join(_number_text(piece.get(key)) for key in ("start_line", "end_line"))
        return f"---{tag}{comment} Lines {lines}: {place.state.value}: {place.reason} ---"
    note = f" ({place.state.value}: {place.reason})" if place.reason else ""
    return f"---{tag}{comment} Lines {place.start_line}-{place.end_line}: ---{note}"


def _number_text(value: object) -> str:
    # Numbers beyond 64 bits are not repeated.
    return str(value) if isinstance(value, int) and abs(value) < 1 << 63 else "?"
