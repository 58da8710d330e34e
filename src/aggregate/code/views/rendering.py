"""Views, where a failure is a value, and files of which several views are wanted."""

from collections.abc import Sequence

from aggregate.base.errors import DeadlineError
from aggregate.base.values import PackedView, View, ViewRequest
from aggregate.code.views.dispatch import render


def packed_views(requests: Sequence[ViewRequest]) -> list[PackedView | str]:
    """Return the views of one text, which is parsed once, as they cross to another process."""
    from aggregate.code.syntax.shared_parse import shared_parse  # for children

    with shared_parse():
        views = [render_view(request) for request in requests]
    return [view if isinstance(view, str) else view.pack() for view in views]


def render_view(request: ViewRequest) -> View | str:
    """Return the view that ``request`` asks for, or the traceback of what went wrong.

    A text that takes too long is shown by a sentence that says so, and what can be said of it without a grammar.
    """
    try:
        return render(request)
    except DeadlineError as error:
        return without_grammar(request, str(error))
    except MemoryError:
        raise  # of this process, not of the view
    except Exception:  # noqa: BLE001 - a failing view becomes the file's content, the run goes on (M-5)
        import traceback

        return traceback.format_exc()


def without_grammar(request: ViewRequest, problem: str) -> View:
    """Return what can be said of a text that its grammar cannot read, below a sentence that says so."""
    from aggregate.code.views.fallback import plain_digest  # many patterns

    problem = f'{problem}; show the file with view_mode = "full", or exclude it'
    digest = plain_digest(request.path, request.text)
    return View("\n".join([f"NOTE: {problem}", *digest]), language="text", problems=(problem,))
