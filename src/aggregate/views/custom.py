"""The runs of lines that the user picked, found again after edits."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from aggregate.models.view import Span, View, ViewRequest
from aggregate.syntax.languages import fence_tag
from aggregate.text.fences import heading_text
from aggregate.text.lines import split_lines
from aggregate.views.summary import summary

if TYPE_CHECKING:
    from aggregate.anchors import Resolution


def custom(request: ViewRequest) -> View:
    """Return the slices of the file, each under its own line, parted by a blank line (rules M-37, M-42, M-X9).

    Slices are resolved against the text as it is now. A moved or edited slice says so; one that is ambiguous or gone
    is shown by its reason alone, never by lines that may be wrong. No slices at all means the summary.
    """
    if not request.slices:
        return summary(request)
    return render_slices(request.path, request.text, request.slices)


def render_slices(path: str, text: str, slices: Sequence[Mapping[str, Any]]) -> View:
    """Return the slices of ``text`` as a view."""
    from aggregate.anchors import FuzzyAnchor  # 30 ms in each process, needed only where there are slices

    lines = split_lines(text)
    blocks: list[str] = []
    spans: list[Span] = []
    problems: list[str] = []
    line = 1
    for piece, found in zip(slices, FuzzyAnchor.resolve_all(slices, text), strict=True):
        head = slice_heading(piece, found)
        body = "".join(lines[found.start_line - 1 : found.end_line]).removesuffix("\n") if found.found else ""
        blocks.append(f"{head}\n{body}" if found.found else head)
        if found.found:
            count = found.end_line - found.start_line
            spans.append(Span(line + 1, line + 1 + count, found.start_line, found.end_line))
            line += count + 1
        else:
            problems.append(head)
        line += 2
    return View("\n\n".join(blocks), tuple(spans), fence_tag(path, text), tuple(problems))


def slice_heading(piece: Mapping[str, Any], found: "Resolution") -> str:
    """Return the line above a slice: ``--- [Slice: TAG] (COMMENT) Lines A-B: ---``, with the reason where not fresh."""
    tag = f" [Slice: {heading_text(str(piece['tag']))}]" if piece.get("tag") else " [Slice]"
    comment = f" ({heading_text(str(piece['comment']))})" if piece.get("comment") else ""
    if not found.found:
        lines = f"Lines {_number_text(piece.get('start_line'))}-{_number_text(piece.get('end_line'))}"
        return f"---{tag}{comment} {lines}: {found.state.value}: {found.reason} ---"
    note = "" if not found.reason else f" ({found.state.value}: {found.reason})"
    return f"---{tag}{comment} Lines {found.start_line}-{found.end_line}: ---{note}"


def _number_text(value: object) -> str:
    """Return a line number as the user wrote it; what is no number of 64 bits is not repeated."""
    return str(value) if isinstance(value, int) and abs(value) < 1 << 63 else "?"
