"""The definitions of a file, one line each."""

from aggregate.models.view import Span, View, ViewRequest
from aggregate.syntax.definitions import read_module
from aggregate.syntax.languages import language_of
from aggregate.views.summary import summary

OUTLINE_FENCE = "text"


def outline(request: ViewRequest) -> View:
    """Return a row per definition: its lines in the file and its signature, indented by nesting (rule M-34).

    Files without a grammar, and files that define nothing, are shown by their summary.
    """
    language = language_of(request.path, request.text)
    if language is None:
        return summary(request)
    module = read_module(request.text, language)
    if not module.definitions:
        return summary(request)
    width = len(f"{module.definitions[-1].last_line}") * 2 + 1
    rows = [
        f"{f'{one.first_line}-{one.last_line}':<{width}}  {'  ' * one.depth}{module.signature(one)}"
        for one in module.definitions
    ]
    spans = tuple(Span(i, i, one.first_line, one.last_line) for i, one in enumerate(module.definitions, start=1))
    return View("\n".join(rows) + "\n", spans, OUTLINE_FENCE)
