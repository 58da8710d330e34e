"""Views, where a failure is a value, and files of which several views are wanted."""

from collections.abc import Iterable, Iterator
from itertools import groupby

from aggregate.errors import DeadlineError
from aggregate.models.view import View, ViewRequest
from aggregate.syntax.shared_parse import shared_parse
from aggregate.views.dispatch import render
from aggregate.views.fallback import plain_digest


def views_by_file(requests: Iterable[ViewRequest]) -> Iterator[list[View | str]]:
    """Yield the views of those requests together that follow each other and ask for one text, which is parsed once."""
    for _, group in groupby(requests, lambda request: (request.path, id(request.text))):
        first, *others = group
        if not others:
            yield [render_view(first)]
            continue
        with shared_parse():
            views = [render_view(request) for request in (first, *others)]
        yield views


def render_view(request: ViewRequest) -> View | str:
    """Return the view that ``request`` asks for, or the traceback of what went wrong.

    A text that takes too long is shown by a sentence that says so, and what can be said of it without a grammar.
    """
    try:
        return render(request)
    except DeadlineError as error:
        return _without_grammar(
            request, f'{error}; show the file with view_mode = "full", or exclude it'
        )
    except Exception:  # noqa: BLE001 - a failing view becomes the file's content, the run goes on (M-5)
        import traceback

        return traceback.format_exc()


def _without_grammar(request: ViewRequest, problem: str) -> View:
    digest = plain_digest(request.path, request.text)
    return View("\n".join([f"NOTE: {problem}", *digest]), language="text", problems=(problem,))
