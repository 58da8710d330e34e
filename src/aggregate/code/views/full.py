"""Views without a parser: full text, or none."""

from aggregate.base.files import Span, View, ViewRequest
from aggregate.base.text import line_count
from aggregate.code.syntax.languages import fence_tag

EXCLUDED = "(context excluded)"


def none(_request: ViewRequest) -> View:
    """Return the note for excluded content (rule M-36)."""
    return View(EXCLUDED)


def full(request: ViewRequest) -> View:
    """Return the text unchanged (rule M-31)."""
    lines = line_count(request.text)
    spans = (Span(1, lines, 1, lines),) if lines else ()
    return View(request.text, spans, fence_tag(request.path, request.text))
