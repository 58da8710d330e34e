"""The file without the bodies of its functions."""

from aggregate.base.values import View, ViewRequest
from aggregate.code.syntax.elision import without_bodies
from aggregate.code.syntax.languages import LanguageKind, language_of
from aggregate.code.views.full import full
from aggregate.code.views.outline import outline
from aggregate.code.views.summary import summary


def skeleton(request: ViewRequest) -> View:
    """Return imports, constants, decorators, signatures and docstrings, with bodies cut out (rule M-33).

    Data, markup and prose are shown by their outline where that is shorter than the file, else whole; files without a
    grammar by their summary.
    """
    language = language_of(request.path, request.text)
    if language is None:
        return summary(request)
    if language.kind is LanguageKind.DATA:
        view = outline(request)
        return view if len(view.text) < len(request.text) else full(request)
    text, spans = without_bodies(request.text, language)
    return View(text, spans, language.fence)
