"""Ending in good order where the system asks for it."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]


@contextmanager
def orderly_termination() -> Iterator[None]:
    """Have a signal that ends the process do so as an error does: what is half written is removed before.

    Signals that are ignored, as under ``nohup``, stay so. The exit code is 128 and the signal's number, as a shell has
    it.
    """
    handled: list[signal.Signals] = []
    if threading.current_thread() is threading.main_thread():
        handled = [number for number in _SIGNALS if signal.getsignal(number) is signal.SIG_DFL]
    for number in handled:
        signal.signal(number, _end)
    try:
        yield
    finally:
        for number in handled:
            signal.signal(number, signal.SIG_DFL)


def _end(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + number)
