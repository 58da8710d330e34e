"""The definitions of a file, one line each; and the file without the bodies of its functions."""

from collections.abc import Sequence

from aggregate.base.files import Span, View, ViewRequest
from aggregate.code.syntax.definitions import Definition
from aggregate.code.syntax.elision import without_bodies
from aggregate.code.syntax.languages import LanguageKind, language_of
from aggregate.code.syntax.symbols import read_definitions
from aggregate.code.views.digest import document_row, more_row, outermost
from aggregate.code.views.full import full
from aggregate.code.views.records import records_view
from aggregate.code.views.summary import summary

# A lock file or a data set has many thousands; its outer ones tell what it is.
_MOST_DOCUMENT_ROWS = 500
# Levels of nesting that are shown by indentation; no code has as many, and indentation must not outgrow a file.
_DEEPEST = 50


def outline(request: ViewRequest) -> View:
    """Return a row per definition: its lines in the file and its signature, indented by nesting (rule M-34)."""
    language = language_of(request.path, request.text)
    if language is None:
        return summary(request)
    if records := records_view(request):
        return records
    module = read_definitions(request.text, language)
    if not module.definitions:
        return summary(request, module)
    if language.kind is LanguageKind.CODE:
        rows = [
            indentation(definition) + module.signature(definition)
            for definition in module.definitions
        ]
        return numbered(module.definitions, rows)
    definitions, left_out = outermost(module.definitions, _MOST_DOCUMENT_ROWS)
    rows = [document_row(definition, module) for definition in definitions]
    return numbered(definitions, rows, left_out)


def indentation(definition: Definition) -> str:
    return "  " * min(definition.depth, _DEEPEST)


def numbered(definitions: Sequence[Definition], rows: Sequence[str], left_out: int = 0) -> View:
    width = len(f"{definitions[-1].last_line}") * 2 + 1
    lines: list[str] = []
    spans: list[Span] = []
    for number, (definition, row) in enumerate(zip(definitions, rows, strict=True), start=1):
        numbers = f"{definition.first_line}-{definition.last_line}"
        lines.append(f"{numbers:<{width}}  {row}")
        spans.append(Span(number, number, definition.first_line, definition.last_line))
    if left_out:
        lines.append(more_row(left_out))
    return View("\n".join(lines) + "\n", tuple(spans), "text")


def skeleton(request: ViewRequest) -> View:
    """Return imports, constants, decorators, signatures and docstrings, with bodies cut out (rule M-33)."""
    language = language_of(request.path, request.text)
    if language is None:
        return summary(request)
    if language.kind is LanguageKind.DATA:
        view = outline(request)
        return view if len(view.text) < len(request.text) else full(request)
    text, spans = without_bodies(request.text, language)
    return View(text, spans, language.fence)
