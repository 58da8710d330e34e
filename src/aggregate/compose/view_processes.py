"""Views in processes of our own, which pays where there is much to parse.

tree-sitter holds Python's global lock while it parses, so threads do not help. The standard process pools import the
caller's main module again (which breaks scripts without a guard) or fork (which breaks programs with threads), so the
workers are plain child processes that run ``view_worker``. One that crashes or hangs costs the file that it was at,
not the run: this is why this process does not parse too, and reads, writes and counts meanwhile.

Requests go out in batches and come back in the order of the requests. Each worker has the batch that it is at and the
next one; no more is read ahead than a few megabytes.
"""

import pickle
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from aggregate.compose.child_workers import await_answers, has_room, start_worker
from aggregate.concurrency.message_stream import StreamingProcess
from aggregate.models.view import PackedView, View, ViewMode, ViewRequest
from aggregate.views.rendering import render_view, views_by_file

_BATCH_CHARACTERS: Final = 200_000
"""About 0.03 seconds of parsing: much beside a trip through the pipes, little to wait for at the end."""
_MOST_CHARACTERS: Final = 4_000_000
"""Of all requests whose views are not out yet: one large file at the front stops nobody for half a second."""
_START_SECONDS: Final = 60.0
"""A start takes 0.1: even on a slow, busy machine only a process that cannot start is given up."""
_MOST_RENDERED: Final = 50_000_000
"""Characters after which a worker is renewed: tree-sitter 0.26.1 for Python never frees what its parser was given to
read in pieces, as texts from 8 KB on are."""
_AT_ONCE: Final = frozenset({ViewMode.FULL, ViewMode.NONE})
"""Views that cost less than the way to another process."""
_MODULE: Final = "aggregate.compose.view_worker"
_LOST: Final = "the parser crashed or took longer than {:.0f} seconds on this file"


@dataclass(slots=True, eq=False)
class _Batch:
    """Requests that follow each other, and their views as far as they are there."""

    requests: list[ViewRequest]
    size: int
    views: dict[int, View | str] = field(default_factory=dict)

    def is_ready(self) -> bool:
        return len(self.views) == len(self.requests)


@dataclass(frozen=True, slots=True)
class _Job:
    """The requests of a batch, by their places in it, that a worker is asked for at once."""

    batch: _Batch
    places: tuple[int, ...]

    def message(self) -> bytes:
        requests = [self.batch.requests[place] for place in self.places]
        return pickle.dumps(requests, protocol=pickle.HIGHEST_PROTOCOL)

    def settle(self, views: Iterable[View | str]) -> None:
        self.batch.views.update(zip(self.places, views, strict=True))


def render_in_processes(
    requests: Iterable[ViewRequest],
    *,
    workers: int,
    on_done: Callable[[int], None] | None,
    patience: float,
    renewed_after: int = _MOST_RENDERED,
) -> Iterator[View | str]:
    """Yield the views of ``requests`` as ``render_all`` does, made by ``workers`` processes, two or more.

    After ``renewed_after`` characters a process is replaced by a new one.
    """
    lanes = [_Lane(patience, renewed_after) for _ in range(workers)]
    upcoming = _batches(requests)
    pending: deque[_Batch] = deque()
    is_at_end = False
    try:
        while pending or not is_at_end:
            while not is_at_end and has_room(
                lanes, characters=sum(batch.size for batch in pending), most=_MOST_CHARACTERS
            ):
                batch = next(upcoming, None)
                if batch is None:
                    is_at_end = True
                    break
                pending.append(batch)
                _hand_out(batch, lanes)
            if pending and not pending[0].is_ready():
                await_answers(lanes)
            elif pending:
                batch = pending.popleft()
                yield from (batch.views[place] for place in range(len(batch.requests)))
                if on_done:
                    on_done(len(batch.requests))
    finally:
        for lane in lanes:
            lane.close()


def _batches(requests: Iterable[ViewRequest]) -> Iterator[_Batch]:
    """Yield the requests in batches; those of one text, which share its parse, stay together."""
    batch: list[ViewRequest] = []
    size = 0
    for request in requests:
        if size >= _BATCH_CHARACTERS and request.text is not batch[-1].text:
            yield _Batch(batch, size)
            batch, size = [], 0
        batch.append(request)
        size += len(request.text)
    if batch:
        yield _Batch(batch, size)


def _hand_out(batch: _Batch, lanes: Iterable["_Lane"]) -> None:
    """Give a batch to the worker that has the least to do, and make the views that need none."""
    remote: list[int] = []
    for place, request in enumerate(batch.requests):
        if request.mode in _AT_ONCE:
            batch.views[place] = render_view(request)
        else:
            remote.append(place)
    if remote:
        lane = min(lanes, key=lambda lane: sum(job.batch.size for job in lane.jobs))
        lane.add(_Job(batch, tuple(remote)))


class _Lane:
    """One worker, replaced when it dies, and the jobs that it has, in order."""

    def __init__(self, patience: float, renewed_after: int) -> None:
        self.jobs: deque[_Job] = deque()
        self.process: StreamingProcess | None = None
        self.patience_left = patience
        """Seconds of waiting that the worker has for its first job; who reads the views may take longer over them."""
        self._patience = patience
        self._is_ready = False
        self._rendered = 0
        self._renewed_after = renewed_after

    def add(self, job: _Job) -> None:
        """Ask the worker for one more job; where no process can be started, it is done here."""
        try:
            if self.process is None:
                self.process = start_worker(_MODULE)
                self._is_ready = False
                self._rendered = 0
        except OSError:
            requests = (job.batch.requests[place] for place in job.places)
            job.settle(view for views in views_by_file(requests) for view in views)
            return
        if not self.jobs:
            self.patience_left = self._patience if self._is_ready else _START_SECONDS
        self.jobs.append(job)
        self.process.send(job.message())

    def advance(self, waited: float) -> None:
        """Take up what the worker has answered; one that is dead or too slow is replaced."""
        if self.process is None:
            return
        self.patience_left -= waited
        answers = self.process.transfer()
        for answer in answers:
            if self._is_ready:
                self._settle(answer)
            else:
                self._is_ready = True  # the answer is its greeting
        if answers:
            self.patience_left = self._patience
        if self.process.has_ended or self.patience_left <= 0:
            self._replace()
        elif self._rendered > self._renewed_after:
            self._renew()

    def _settle(self, answer: bytes) -> None:
        packed: list[PackedView | str] = pickle.loads(answer)  # noqa: S301 - a private pipe from our own child
        self.jobs[0].settle(view if isinstance(view, str) else View.unpack(view) for view in packed)
        self._rendered += self.jobs.popleft().batch.size

    def close(self) -> None:
        """End the worker."""
        if self.process is not None:
            self.process.kill()
            self.process = None

    def _renew(self) -> None:
        """End the worker, and let a new one go on with its jobs."""
        self.close()
        jobs = list(self.jobs)
        self.jobs.clear()
        for job in jobs:
            self.add(job)

    def _replace(self) -> None:
        """End the worker and ask a new one: for each file of the first job alone, to find the one at fault."""
        self.close()
        if not self.jobs:
            return
        first, *others = self.jobs
        self.jobs.clear()
        if len(first.places) == 1:
            first.settle([_LOST.format(self._patience)])
        else:
            others[:0] = [_Job(first.batch, (place,)) for place in first.places]
        for job in others:
            self.add(job)
