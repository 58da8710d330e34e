"""The definitions of a file, one line each."""

from aggregate.models.view import Span, View, ViewRequest
from aggregate.syntax.definitions import Definition
from aggregate.syntax.languages import LanguageKind, language_of
from aggregate.syntax.symbols import read_module
from aggregate.views.document import document_row, fitting
from aggregate.views.labels import more_row
from aggregate.views.summary import summary

OUTLINE_FENCE = "text"
_MOST_DOCUMENT_ROWS = 500
_DEEPEST = 50
"""Levels of nesting that are shown by indentation; no code has as many, and indentation must not outgrow a file."""


def outline(request: ViewRequest) -> View:
    """Return a row per definition: its lines in the file and its signature, indented by nesting (rule M-34).

    Of data, markup and prose, at most 500 rows are shown, the outer ones first, and a last row tells how many are not.
    Files without a grammar, and files that define nothing, are shown by their summary.
    """
    language = language_of(request.path, request.text)
    if language is None:
        return summary(request)
    module = read_module(request.text, language)
    if not module.definitions:
        return summary(request, module)
    if language.kind is LanguageKind.CODE:
        return _view([(one, _indent(one) + module.signature(one)) for one in module.definitions], 0)
    shown, left_out = fitting(module.definitions, _MOST_DOCUMENT_ROWS)
    return _view([(one, document_row(one, module)) for one in shown], left_out)


def _indent(definition: Definition) -> str:
    return "  " * min(definition.depth, _DEEPEST)


def _view(rows: list[tuple[Definition, str]], left_out: int) -> View:
    """Return the rows behind their lines in the file."""
    width = len(f"{rows[-1][0].last_line}") * 2 + 1
    lines = [f"{f'{one.first_line}-{one.last_line}':<{width}}  {row}" for one, row in rows]
    lines += [more_row(left_out)] if left_out else []
    spans = tuple(Span(i, i, one.first_line, one.last_line) for i, (one, _) in enumerate(rows, start=1))
    return View("\n".join(lines) + "\n", spans, OUTLINE_FENCE)
