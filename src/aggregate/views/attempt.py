"""One view, where a failure is a value."""

import traceback

from aggregate.models.view import View, ViewRequest
from aggregate.views.registry import VIEWS


def attempt(request: ViewRequest) -> View | str:
    """Return the view that ``request`` asks for, or the traceback of what went wrong."""
    try:
        return VIEWS[request.mode](request)
    except Exception:  # noqa: BLE001 - rule 3.4: a failing view becomes the file's content, the run goes on
        return traceback.format_exc()
