"""Views in processes of our own, which pays where there is much to parse.

tree-sitter holds Python's global lock while it parses, so threads do not help. The standard process pools import the
caller's main module again (which breaks scripts without a guard) or fork (which breaks programs with threads), so the
workers are plain child processes that run ``view_worker``. One that crashes or hangs costs the file that it was at,
not the run.
"""

import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from aggregate.concurrency.pipes import DeadlinePassed
from aggregate.concurrency.worker_pool import PoolProcess, WorkerPool
from aggregate.models.view import PackedView, View, ViewRequest

_BATCH_CHARACTERS = 300_000
"""About 0.1 seconds of parsing: much beside a trip through the pipes, little to wait for at the end."""
_SERVE = "import sys; sys.path[:] = sys.argv[1:]; from aggregate.compose.view_worker import serve; serve()"
_LOST = "the parser crashed or took longer than {:.0f} seconds on this file"


def render_in_processes(
    requests: Sequence[ViewRequest],
    *,
    workers: int,
    on_done: Callable[[int], None] | None,
    patience: float,
) -> Iterator[View | str]:
    """Yield the views of ``requests`` as ``render_all`` does, made by ``workers`` processes, two or more."""
    pool = WorkerPool(_start_worker, workers)

    def render(batch: list[ViewRequest]) -> list[View | str]:
        return _render_batch(pool, batch, patience)

    with ThreadPoolExecutor(workers) as threads:
        try:
            for views in threads.map(render, _batches(requests)):
                yield from views
                if on_done:
                    on_done(len(views))
        finally:
            threads.shutdown(wait=True, cancel_futures=True)
            pool.close()


def _batches(requests: Sequence[ViewRequest]) -> Iterator[list[ViewRequest]]:
    batch: list[ViewRequest] = []
    size = 0
    for request in requests:
        batch.append(request)
        size += len(request.text)
        if size >= _BATCH_CHARACTERS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _render_batch(pool: WorkerPool, batch: list[ViewRequest], patience: float) -> list[View | str]:
    """Return the views of a batch; after a crash each file is tried alone, to find the one at fault."""
    views = _ask(pool, batch, patience)
    if views is not None:
        return views
    alone = [_ask(pool, [request], patience) for request in batch]
    return [views[0] if views else _LOST.format(patience) for views in alone]


def _ask(pool: WorkerPool, batch: list[ViewRequest], patience: float) -> list[View | str] | None:
    """Return the views of a batch, or ``None`` when the process died or had to be killed."""
    request = pickle.dumps(batch, protocol=pickle.HIGHEST_PROTOCOL)
    try:
        answer = pool.ask(request, seconds=patience, most=sys.maxsize)
        packed: list[PackedView | str] = pickle.loads(answer)  # noqa: S301 - a private pipe from our own child
    except (DeadlinePassed, OSError, EOFError, pickle.UnpicklingError):
        return None
    return [view if isinstance(view, str) else View.unpack(view) for view in packed]


def _start_worker() -> PoolProcess:
    command = [sys.executable, "-P", "-c", _SERVE, *sys.path]
    return PoolProcess(
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    )
