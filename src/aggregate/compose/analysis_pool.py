"""Many analyses at once: in this process while there is little to read, in a few processes of our own where it pays."""

import os
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Final

from aggregate.compose.known_files import AnalysisRequest, KnownFile
from aggregate.compose.view_pool import useful_workers

if TYPE_CHECKING:
    from aggregate.compose.analysis_processes import SaveAnalysis

_WORTH_CHARACTERS: Final = 1_500_000
"""About 0.6 seconds of analysing. Two processes need a quarter of that to start; what comes behind is twice as fast."""


def pack_all(
    requests: Iterable[AnalysisRequest],
    *,
    workers: int | None = None,
    save: "SaveAnalysis | None" = None,
) -> Iterator[bytes | None]:
    """Yield the packed ``KnownFile`` of each request, in their order.

    Requests are taken some megabytes ahead, and dropped once they are answered.

    Args:
        requests: What to analyse.
        workers: How many processes; ``0`` or ``1`` means this one. By default one per core if there is much to do.
        save: Takes what processes have analysed and nobody has taken, where the work is ended before its time.
    """
    stream = iter(requests)
    if workers is None:
        workers = useful_workers()
        held: deque[AnalysisRequest] = deque()
        if workers > 1 and not _is_much(stream, held):
            workers = 1
        stream = chain(held, stream)
    if workers > 1 and os.name == "posix":  # elsewhere no pipe can be read without waiting
        # Processes and pipes, which few runs need.
        from aggregate.compose.analysis_processes import pack_in_processes

        yield from pack_in_processes(stream, workers=workers, save=save)
        return
    for request in stream:
        yield KnownFile.of(*request).pack() if request else None


def _is_much(stream: Iterator[AnalysisRequest], held: deque[AnalysisRequest]) -> bool:
    """Take requests into ``held`` until processes are worth it, and tell whether they are."""
    size = 0
    for request in stream:
        held.append(request)
        size += len(request[1].text) if request else 0
        if size >= _WORTH_CHARACTERS:
            return True
    return False
