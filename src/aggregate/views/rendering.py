"""One view, where a failure is a value."""

import traceback

from aggregate.errors import DeadlineError
from aggregate.models.view import View, ViewRequest
from aggregate.views.table import VIEWS


def render_view(request: ViewRequest) -> View | str:
    """Return the view that ``request`` asks for, or a sentence, or the traceback of what went wrong."""
    try:
        return VIEWS[request.mode](request)
    except DeadlineError as error:
        return f'{error}; show the file with view_mode = "full", or exclude it'
    except Exception:  # noqa: BLE001 - rule 3.4: a failing view becomes the file's content, the run goes on
        return traceback.format_exc()
