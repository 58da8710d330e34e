"""Views that need no parser: the full text, and none of it."""

from aggregate.base.files import Span, View, ViewRequest
from aggregate.base.text import line_count
from aggregate.code.syntax.languages import fence_tag

EXCLUDED = "(context excluded)"


def none(_request: ViewRequest) -> View:
    """Return the fixed note for content excluded on purpose (rule M-36)."""
    return View(EXCLUDED)


def full(request: ViewRequest) -> View:
    """Return the text unchanged (rule M-31)."""
    lines = line_count(request.text)
    spans = (Span(1, lines, 1, lines),) if lines else ()
    return View(request.text, spans, fence_tag(request.path, request.text))
