"""One view, where a failure is a value."""

from aggregate.errors import DeadlineError
from aggregate.models.view import View, ViewRequest
from aggregate.views.registry import render


def attempt(request: ViewRequest) -> View | str:
    """Return the view that ``request`` asks for, or a sentence, or the traceback of what went wrong."""
    try:
        return render(request)
    except DeadlineError as error:
        return f'{error}; show the file with view_mode = "full", or exclude it'
    except Exception:  # noqa: BLE001 - a failing view becomes the file's content, the run goes on (M-5)
        import traceback

        return traceback.format_exc()
