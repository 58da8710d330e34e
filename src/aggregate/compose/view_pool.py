"""Many views at once: in this process while there is little to parse, in a few processes of our own where it pays."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import overload

from aggregate.models.view import View, ViewRequest
from aggregate.views.dispatch import PARSED
from aggregate.views.rendering import render_view

_WORTH_CHARACTERS = 2_000_000
"""About 0.7 seconds of parsing; each process takes 0.1 to 0.2 to start."""
_MOST_WORKERS = 8
"""Each holds its own grammars in memory."""
_BATCH_SECONDS = 60.0
"""A batch takes 0.1: even on a slow, busy machine only a parser that hangs is given up."""


@overload
def render_all(
    requests: Iterable[ViewRequest],
    *,
    workers: int | None = None,
    on_done: Callable[[int], None] | None = None,
    patience: float = _BATCH_SECONDS,
) -> Iterator[View | str]: ...


@overload
def render_all(
    requests: Iterable[ViewRequest | None],
    *,
    workers: int | None = None,
    on_done: Callable[[int], None] | None = None,
    patience: float = _BATCH_SECONDS,
) -> Iterator[View | str | None]: ...


def render_all(
    requests: Iterable[ViewRequest | None],
    *,
    workers: int | None = None,
    on_done: Callable[[int], None] | None = None,
    patience: float = _BATCH_SECONDS,
) -> Iterator[View | str | None]:
    """Yield the view of each request, in their order, or the traceback where one failed.

    Args:
        requests: What to render; for ``None`` stands ``None`` among the views.
        workers: How many processes; ``0`` or ``1`` means this one. By default one per core if there is much to parse.
        on_done: Called with the number of views that have become ready.
        patience: Seconds that a worker process has for a batch of about 300,000 characters before it is given up.
    """
    if workers is None:
        requests = list(requests)
        workers = _worthwhile_workers(requests)
    if workers < 2 or os.name != "posix":  # elsewhere no pipe can be read under a deadline
        for request in requests:
            yield render_view(request) if request else None
            if on_done:
                on_done(1)
        return
    # Threads and pipes, which few projects need.
    from aggregate.compose.view_processes import render_in_processes

    requests = list(requests)
    views = render_in_processes(
        [request for request in requests if request],
        workers=workers,
        on_done=on_done,
        patience=patience,
    )
    for request in requests:
        yield next(views) if request else None


def _worthwhile_workers(requests: Sequence[ViewRequest | None]) -> int:
    parsed = sum(len(request.text) for request in requests if request and request.mode in PARSED)
    if parsed < _WORTH_CHARACTERS or not sys.executable:
        return 1
    cores = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    return min(cores, _MOST_WORKERS)
