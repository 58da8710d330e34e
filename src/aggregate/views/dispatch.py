"""The views: each mode is rendered by the function of its name, in the module of its name."""

from collections.abc import Callable
from functools import cache
from importlib import import_module

from aggregate.models.view import View, ViewMode, ViewRequest

PARSED = frozenset({ViewMode.SKELETON, ViewMode.OUTLINE, ViewMode.MASKED, ViewMode.SUMMARY})
"""The views that parse the file: those worth a process of their own when there are many."""


def render(request: ViewRequest) -> View:
    """Return the view that ``request`` asks for."""
    return _renderer(request.mode)(request)


@cache
def _renderer(mode: ViewMode) -> Callable[[ViewRequest], View]:
    """Return the function for a mode, loaded on first use: most bring the parser, and files in full need none."""
    renderer: Callable[[ViewRequest], View] = getattr(
        import_module(f"aggregate.views.{mode.value}"), mode.value
    )
    return renderer
