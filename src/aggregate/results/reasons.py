"""Why something failed, as a text; also where the exception is one that cannot be shown."""

from collections.abc import Callable
from typing import Final

UNREADABLE: Final = "its message cannot be read"


def failure_reason(error: object) -> str:
    """Return why a run failed as one text, whatever ``error`` is: an exception gives its name and message."""
    if not isinstance(error, BaseException):
        return ("" if error is None else _text(lambda: str(error))) or "no reason given"
    name = _text(lambda: type(error).__name__)
    message = _text(lambda: str(error))
    return f"{name}: {message}" if message else name


def _text(read: Callable[[], str]) -> str:
    """Return what ``read`` gives as a plain ``str``; foreign code behind it may raise anything."""
    try:
        # A subclass of str may raise in whatever is done with it: only its characters are taken.
        return str.__str__(read())
    except BaseException:  # noqa: BLE001 - a run has to end, also where its exception ends the program when it is shown
        return UNREADABLE
