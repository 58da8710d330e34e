"""Views in processes of our own, which pays where there is much to parse.

tree-sitter holds Python's global lock while it parses, so threads do not help. The standard process pools import the
caller's main module again (which breaks scripts without a guard) or fork (which breaks programs with threads), so the
workers are plain child processes of this module. One that crashes or hangs costs the file that it was at, not the run.
"""

import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Timer, local

from aggregate.models.view import PackedView, View, ViewRequest

_BATCH_CHARACTERS = 300_000
_SERVE = "import sys; sys.path[:] = sys.argv[1:]; from aggregate.views.pool_worker import serve; serve()"
_LOST = "the parser crashed or took longer than {:.0f} seconds on this file"


def render_in_processes(
    requests: Sequence[ViewRequest],
    *,
    workers: int,
    on_done: Callable[[int], None] | None,
    patience: float,
) -> Iterator[View | str]:
    """Yield the views of ``requests`` as ``render_all`` does, made by ``workers`` processes, two or more."""
    crew = _Crew(patience)
    with ThreadPoolExecutor(workers) as threads:
        try:
            for views in threads.map(crew.render, _batches(requests)):
                yield from views
                if on_done:
                    on_done(len(views))
        finally:
            threads.shutdown(wait=True, cancel_futures=True)
            crew.close()


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


@dataclass(slots=True)
class _Crew:
    """One worker process per thread, started when the thread gets its first batch."""

    patience: float
    _mine: local = field(default_factory=local)
    _all: list["_RenderProcess"] = field(default_factory=list)

    def render(self, batch: list[ViewRequest]) -> list[View | str]:
        """Return the views of a batch; after a crash each file is tried alone, to find the one at fault."""
        views = self._ask(batch)
        if views is not None:
            return views
        alone = [self._ask([request]) for request in batch]
        return [views[0] if views else _LOST.format(self.patience) for views in alone]

    def close(self) -> None:
        for worker in self._all:
            worker.close()

    def _ask(self, batch: list[ViewRequest]) -> list[View | str] | None:
        worker: _RenderProcess | None = getattr(self._mine, "worker", None)
        if worker is None:
            worker = self._mine.worker = _RenderProcess(self.patience)
            self._all.append(worker)
        views = worker.ask(batch)
        if views is None:
            self._mine.worker = None
        return views


class _RenderProcess:
    """A child process that renders batches."""

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", _SERVE, *sys.path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def ask(self, batch: list[ViewRequest]) -> list[View | str] | None:
        """Return the views of a batch, or ``None`` when the process died or had to be killed."""
        watchdog = Timer(self._patience, self._process.kill)
        watchdog.start()
        try:
            stdin, stdout = self._process.stdin, self._process.stdout
            if stdin is None or stdout is None:
                return None
            pickle.dump(batch, stdin, protocol=pickle.HIGHEST_PROTOCOL)
            stdin.flush()
            plain: list[PackedView | str] = pickle.load(stdout)  # noqa: S301 - a private pipe from our own child
        except (OSError, EOFError, pickle.UnpicklingError):
            self.close()
            return None
        finally:
            watchdog.cancel()
        return [view if isinstance(view, str) else View.unpack(view) for view in plain]

    def close(self) -> None:
        self._process.kill()
        with self._process:
            pass  # closes the pipes and reaps the process
