"""The whole file, as it is."""

from aggregate.models.view import Span, View, ViewRequest
from aggregate.syntax.languages import fence_tag
from aggregate.text.lines import line_count


def full(request: ViewRequest) -> View:
    """Return the text unchanged (rule M-31)."""
    lines = line_count(request.text)
    spans = (Span(1, lines, 1, lines),) if lines else ()
    return View(request.text, spans, fence_tag(request.path, request.text))
