"""Standard output that others read, and may leave before its end."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from aggregate.errors import OutputError


@contextmanager
def writable_output(note: str = "") -> Iterator[None]:
    """Make one sentence of an output that was closed or is full, with the notes of its error and ``note``.

    Raises:
        OutputError: Standard output cannot be written.
    """
    try:
        yield
    except OSError as error:
        abandon_output()
        notes = (*getattr(error, "__notes__", ()), *([note] if note else []))
        raise OutputError("; ".join((f"the output cannot be written: {error.strerror or error}", *notes))) from None


def abandon_output() -> None:
    """Send to nowhere what is still to be written: the reader has left, as ``head`` does.

    Else the interpreter fails once more when it flushes at its end.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
