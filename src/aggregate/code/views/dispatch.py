"""The views: each mode is rendered by the function of its name, in the module of its name."""

from collections.abc import Callable
from functools import cache
from importlib import import_module

from aggregate.base.values import View, ViewMode, ViewRequest
from aggregate.code.syntax.languages import language_of

PARSED = frozenset({ViewMode.SKELETON, ViewMode.OUTLINE, ViewMode.MASKED, ViewMode.SUMMARY})
"""The views that parse the file."""
_OF_CELLS = PARSED | {ViewMode.FULL}
"""The views that show a notebook by its cells; slices are picked from the lines of its file."""
NOTEBOOK_SUFFIX = ".ipynb"


def render(request: ViewRequest) -> View:
    """Return the view that ``request`` asks for."""
    if request.mode in _OF_CELLS and _is_notebook(request.path):
        # Few projects have notebooks.
        from aggregate.code.views.notebook import render_notebook

        return render_notebook(request, _renderer(request.mode))
    return _renderer(request.mode)(request)


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
    """Return the function for a mode, loaded on first use: most bring the parser, and files in full need none."""
    renderer: Callable[[ViewRequest], View] = getattr(
        import_module(f"aggregate.code.views.{mode.value}"), mode.value
    )
    return renderer
