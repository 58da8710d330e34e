"""The views: each mode is rendered by the function of its name, and a failure is a value."""

from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from pathlib import PurePath

from aggregate.base.errors import DeadlineError
from aggregate.base.files import PackedView, View, ViewMode, ViewRequest
from aggregate.code.syntax.languages import language_of
from aggregate.code.views.full import full, none

PARSED = frozenset({ViewMode.SKELETON, ViewMode.OUTLINE, ViewMode.MASKED, ViewMode.SUMMARY})
# The views that show a notebook by its cells; slices are picked from the lines of its file.
_OF_CELLS = PARSED | {ViewMode.FULL}
NOTEBOOK_SUFFIX = ".ipynb"
_RENDERED_HERE = {ViewMode.FULL: full, ViewMode.NONE: none}
_MODULES = {ViewMode.SKELETON: "outline"}


def render(request: ViewRequest) -> View:
    if request.mode in _OF_CELLS and _is_notebook(request.path):
        # Few projects have notebooks.
        from aggregate.code.views.notebook import render_notebook

        return render_notebook(request, _renderer(request.mode))
    return _renderer(request.mode)(request)


def view_of(request: ViewRequest) -> View:
    if not takes_grammar(request):
        return render(request)
    from aggregate.base.concurrency import in_child

    return in_child(render, request)


def summarise_file(path: str | PurePath, content: str) -> str:
    """Return the digest of ``content``, of which the name of ``path`` tells the kind (rule M-16)."""
    return view_of(ViewRequest(str(path), content, ViewMode.SUMMARY)).text


def takes_grammar(request: ViewRequest) -> bool:
    """Tell whether a grammar may have to read the file for its view, which it does in child processes only."""
    of_summary = request.mode is ViewMode.CUSTOM and not request.slices
    if request.mode not in PARSED and not of_summary:
        return False
    return _is_notebook(request.path) or language_of(request.path, request.text) is not None


def is_the_text(path: str, mode: ViewMode) -> bool:
    """Tell whether a view is the file's text as it is, so that nothing has to be rendered (rule M-31)."""
    return mode is ViewMode.FULL and not _is_notebook(path)


def _is_notebook(path: str) -> bool:
    return path[-len(NOTEBOOK_SUFFIX) :].lower() == NOTEBOOK_SUFFIX


@cache
def _renderer(mode: ViewMode) -> Callable[[ViewRequest], View]:
    # Loaded on first use: most bring the parser, and files in full need none.
    if mode in _RENDERED_HERE:
        return _RENDERED_HERE[mode]
    module = import_module(f"aggregate.code.views.{_MODULES.get(mode, mode.value)}")
    renderer: Callable[[ViewRequest], View] = getattr(module, mode.value)
    return renderer


def packed_views(requests: Sequence[ViewRequest]) -> list[PackedView | str]:
    """Return the views of one text, which is parsed once, as they cross to another process."""
    from aggregate.code.syntax.parsing import shared_parse  # for children

    with shared_parse():
        views = [render_view(request) for request in requests]
    return [view if isinstance(view, str) else view.pack() for view in views]


def render_view(request: ViewRequest) -> View | str:
    """Return the view that ``request`` asks for, or the traceback of what went wrong."""
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
    from aggregate.code.views.digest import plain_digest  # many patterns

    problem = f'{problem}; show the file with view_mode = "full", or exclude it'
    digest = plain_digest(request.path, request.text)
    return View("\n".join([f"NOTE: {problem}", *digest]), language="text", problems=(problem,))
