"""Analyses in processes of our own, which pays where there is much to read.

Python's global lock lets one thread of a process work, so the workers are plain child processes, as those are that
render views. What a worker has when it dies or hangs is analysed by this process, so that nothing depends on it.
"""

import pickle
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from aggregate.compose.child_workers import await_answers, has_room, start_worker
from aggregate.compose.known_files import AnalysisRequest, KnownFile
from aggregate.concurrency.message_stream import StreamingProcess, wait_for_any
from aggregate.sources.file_content import SourceFile

_BATCH_CHARACTERS: Final = 150_000
"""About 0.06 seconds of analysing: much beside a trip through the pipes, little to wait for at the end."""
_BATCH_FILES: Final = 200
"""Small files take time too."""
_MOST_PENDING: Final = 4_000_000
"""Characters of all requests that are not answered yet."""
_PATIENCE_SECONDS: Final = 60.0
"""For one batch: even on a slow, busy machine only a parser that hangs is given up."""
_MOST_ANALYSED: Final = 20_000_000
"""Characters after which a worker is renewed, which takes 3 % of the time that they do: its parser frees little of what
it read, and a worker grows by a megabyte with each million."""
_LAST_SECONDS: Final = 1.0
"""For what workers are at when a run is interrupted: nobody who has pressed Ctrl-C waits longer, and a batch that has
begun is done by then."""
_MODULE: Final = "aggregate.compose.analysis_worker"

SaveAnalysis = Callable[[str, SourceFile, bytes], None]
"""Takes a file's path, what reading it gave, and its packed ``KnownFile``."""


@dataclass(slots=True, eq=False)
class _Batch:
    """Requests that follow each other, and their answers once they are there."""

    requests: list[AnalysisRequest] = field(default_factory=list)
    size: int = 0
    answers: list[bytes] | None = None

    @property
    def files(self) -> list[tuple[str, SourceFile]]:
        return [request for request in self.requests if request]

    def results(self) -> Iterator[bytes | None]:
        answers = iter(self.answers or ())
        return (next(answers) if request else None for request in self.requests)


def pack_in_processes(
    requests: Iterable[AnalysisRequest],
    *,
    workers: int,
    patience: float = _PATIENCE_SECONDS,
    renewed_after: int = _MOST_ANALYSED,
    save: SaveAnalysis | None = None,
    last_seconds: float = _LAST_SECONDS,
) -> Generator[bytes | None, None, None]:
    """Yield what ``pack_all`` does, made by ``workers`` processes.

    Args:
        requests: What to analyse.
        workers: Two or more.
        patience: Seconds that a process has for a batch.
        renewed_after: Characters after which a process is replaced by a new one.
        save: Takes what was analysed and nobody has taken, where the work is ended before its time.
        last_seconds: How long workers are waited for then.
    """
    lanes = [_Lane(patience, renewed_after) for _ in range(workers)]
    upcoming = _batches(requests)
    pending: deque[_Batch] = deque()
    is_at_end = False
    try:
        while pending or not is_at_end:
            while not is_at_end and has_room(
                [lane for lane in lanes if lane.is_ready],
                characters=sum(batch.size for batch in pending),
                most=_MOST_PENDING,
            ):
                batch = next(upcoming, None)
                if batch is None:
                    is_at_end = True
                    break
                pending.append(batch)
                ready = [lane for lane in lanes if lane.is_ready]
                min(ready, key=lambda lane: len(lane.jobs)).add(batch)
            if pending and pending[0].answers is None:
                await_answers(lanes)
            elif pending:
                yield from pending[0].results()
                pending.popleft()
    finally:
        try:
            if save and pending:
                _save_finished(lanes, pending, save, end=time.monotonic() + last_seconds)
        finally:
            for lane in lanes:
                lane.close()


def _save_finished(
    lanes: Iterable["_Lane"], pending: Iterable[_Batch], save: SaveAnalysis, *, end: float
) -> None:
    """Hand over what was analysed of some batches, and what workers answer until ``end`` (of ``monotonic``)."""
    while time.monotonic() < end and (busy := [lane for lane in lanes if lane.is_working]):
        wait_for_any([lane.process for lane in busy if lane.process], end)
        for lane in busy:
            lane.take_answers()
    for batch in pending:
        for (path, source), packed in zip(batch.files, batch.answers or (), strict=False):
            save(path, source, packed)


def _batches(requests: Iterable[AnalysisRequest]) -> Iterator[_Batch]:
    batch = _Batch()
    for request in requests:
        batch.requests.append(request)
        batch.size += len(request[1].text) if request else 0
        if batch.size >= _BATCH_CHARACTERS or len(batch.requests) >= _BATCH_FILES:
            yield batch
            batch = _Batch()
    if batch.requests:
        yield batch


class _Lane:
    """One worker, and the batches that it has, in order."""

    def __init__(self, patience: float, renewed_after: int) -> None:
        self.jobs: deque[_Batch] = deque()
        self.process: StreamingProcess | None = None
        self.patience_left = patience
        """Seconds of waiting that the worker has for its first batch."""
        self._patience = patience
        self._renewed_after = renewed_after
        self._analysed = 0

    @property
    def is_ready(self) -> bool:
        """Whether it may be asked for more: one that is to be renewed answers first what it was asked."""
        return not self.jobs or self._analysed <= self._renewed_after

    def add(self, batch: _Batch) -> None:
        """Ask the worker for one more batch; where no process can be started, it is analysed here."""
        if not batch.files:
            batch.answers = []
            return
        if not self.jobs:
            self.patience_left = self._patience
            if self._analysed > self._renewed_after:
                self.close()
        try:
            if self.process is None:
                self.process = start_worker(_MODULE)
                self._analysed = 0
        except OSError:
            batch.answers = _analysed(batch)
            return
        self.jobs.append(batch)
        self._analysed += batch.size
        self.process.send(pickle.dumps(batch.files, protocol=pickle.HIGHEST_PROTOCOL))

    def advance(self, waited: float) -> None:
        """Take up what the worker has answered; what one had that is dead or too slow is analysed here."""
        if self.process is None:
            return
        has_answered = self.take_answers()
        self.patience_left = self._patience if has_answered else self.patience_left - waited
        if self.jobs and (self.process.has_ended or self.patience_left <= 0):
            self.close()
            while self.jobs:
                batch = self.jobs.popleft()
                batch.answers = _analysed(batch)

    @property
    def is_working(self) -> bool:
        """Whether answers may still come."""
        return bool(self.jobs) and self.process is not None and not self.process.has_ended

    def take_answers(self) -> bool:
        """Take up what the worker has answered, and tell whether that is anything."""
        answers = self.process.transfer() if self.process else []
        for answer in answers:
            self.jobs.popleft().answers = pickle.loads(answer)  # noqa: S301 - a private pipe from our own child
        return bool(answers)

    def close(self) -> None:
        """End the worker."""
        if self.process is not None:
            self.process.kill()
            self.process = None


def _analysed(batch: _Batch) -> list[bytes]:
    return [KnownFile.of(path, source).pack() for path, source in batch.files]
