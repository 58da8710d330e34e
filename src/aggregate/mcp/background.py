"""Work beside the protocol: in a thread that tells how far it is, and stops where whoever asked has gone."""

import math
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import anyio

from aggregate.mcp.workspace import Progress

_PROGRESS_SECONDS: Final = 0.1
"""Between two messages about the same work: a host shows a bar, and each message costs as much as a file."""


class _GoneError(Exception):
    """Whoever asked has gone."""


async def run_beside(session: Any, work: Callable[[Progress], str]) -> str:  # noqa: ANN401 - the SDK's
    """Return what ``work`` does in a thread; what was cancelled stops at its next step.

    Args:
        session: The connection, which is told of the progress.
        work: Called with what takes how many steps of how many are done.
    """
    gone = threading.Event()
    told = -math.inf

    def progress(done: int, total: int) -> None:
        nonlocal told
        if gone.is_set():
            raise _GoneError
        now = time.monotonic()
        if 0 < done < total and now < told + _PROGRESS_SECONDS:
            return
        told = now
        anyio.from_thread.run(session.report_progress, done, total)

    try:
        return await anyio.to_thread.run_sync(
            partial(_unless_gone, work, progress), abandon_on_cancel=True
        )
    except BaseException:
        gone.set()
        raise


def _unless_gone(work: Callable[[Progress], str], progress: Progress) -> str:
    try:
        return work(progress)
    except _GoneError:
        return ""
