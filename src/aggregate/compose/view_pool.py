"""Many views at once: in this process while there is little to parse, in a few processes of our own where it pays."""

import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import chain

from aggregate.models.view import View, ViewRequest
from aggregate.views.dispatch import PARSED
from aggregate.views.rendering import render_view, views_by_file

_WORTH_CHARACTERS = 1_500_000
"""About 0.2 seconds of parsing. Two processes need half of that to start; what comes behind is then twice as fast."""
_MOST_HELD_CHARACTERS = 6_000_000
"""Of texts that are held back before it is known whether processes pay: files in full are not parsed."""
_MOST_WORKERS = 8
"""Each holds its own grammars in memory."""
_PATIENCE_SECONDS = 60.0
"""A batch takes 0.05: even on a slow, busy machine only a parser that hangs is given up."""


def render_all(
    requests: Iterable[ViewRequest],
    *,
    workers: int | None = None,
    on_done: Callable[[int], None] | None = None,
    patience: float = _PATIENCE_SECONDS,
) -> Iterator[View | str]:
    """Yield the view of each request, in their order, or the traceback where one failed.

    Requests are taken as they are needed and dropped once their views are out, so that a few megabytes of texts are
    held at a time, however many there are. Requests of one text that follow each other share one parse of it.

    Args:
        requests: What to render.
        workers: How many processes; ``0`` or ``1`` means this one. By default one per core if there is much to parse.
        on_done: Called with the number of views that have become ready.
        patience: Seconds that a worker process has for a batch of about 200,000 characters before it is given up.
    """
    stream = iter(requests)
    if workers is None:
        workers = useful_workers()
        if workers > 1:
            held: deque[ViewRequest] = deque()
            yield from _hold_back(stream, held, on_done)
            stream = chain(held, stream)
            if not _is_worth_processes(held):
                workers = 1
    if workers > 1 and os.name == "posix":  # elsewhere no pipe can be read without waiting
        # Processes and pipes, which few projects need.
        from aggregate.compose.view_processes import render_in_processes

        yield from render_in_processes(stream, workers=workers, on_done=on_done, patience=patience)
        return
    for views in views_by_file(stream):
        for view in views:
            yield view
            if on_done:
                on_done(1)


def _hold_back(
    stream: Iterator[ViewRequest],
    held: deque[ViewRequest],
    on_done: Callable[[int], None] | None,
) -> Iterator[View | str]:
    """Fill ``held`` until processes are worth it or ``stream`` ends; yield the views of what is too much to be held."""
    parsed = size = 0
    for request in stream:
        held.append(request)
        size += len(request.text)
        parsed += _parsed_characters(request)
        if parsed >= _WORTH_CHARACTERS:
            return
        while size > _MOST_HELD_CHARACTERS:
            oldest = held.popleft()
            size -= len(oldest.text)
            parsed -= _parsed_characters(oldest)
            yield render_view(oldest)
            if on_done:
                on_done(1)


def _is_worth_processes(held: Iterable[ViewRequest]) -> bool:
    return sum(map(_parsed_characters, held)) >= _WORTH_CHARACTERS


def _parsed_characters(request: ViewRequest) -> int:
    return len(request.text) if request.mode in PARSED else 0


def useful_workers() -> int:
    """Return how many processes this machine has cores for; 1 where Python's own program is not known."""
    if not sys.executable:
        return 1
    cores = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    return min(cores, _MOST_WORKERS)
