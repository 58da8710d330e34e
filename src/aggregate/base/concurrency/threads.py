"""Daemon threads, coroutines, and delays between attempts."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from queue import Empty, SimpleQueue
from threading import Event, Thread
from time import monotonic
from typing import TypeVar

_T = TypeVar("_T")
_R = TypeVar("_R")
_AHEAD = 1  # items queued for the thread or finished and not yet read
_WAIT_SECONDS = 0.25  # until the main thread notices a Ctrl-C without being woken


def doubling_delay(number: int, base: float, most: float) -> float:
    """Return the seconds to wait after failure ``number`` (from 1): ``base``, doubled up to ``most``."""
    return min(base * 2.0 ** min(number - 1, 64), most)  # a float would overflow at 1,024


def run_in_thread(name: str, work: Callable[[], _R]) -> "Future[_R]":
    future: Future[_R] = Future()
    context = copy_context()
    Thread(target=_complete, args=(future, context.run, work), name=name, daemon=True).start()
    return future


def result_within(future: "Future[_R]", seconds: float | None = None) -> _R:
    """Return a future's result, or raise a ``TimeoutError`` after ``seconds``.

    Waits a quarter of a second at a time, since a signal does not always interrupt a wait.
    """
    end = None if seconds is None else monotonic() + seconds
    while not future.done():
        timeout = _WAIT_SECONDS if end is None else min(end - monotonic(), _WAIT_SECONDS)
        if timeout <= 0:
            raise TimeoutError
        with suppress(TimeoutError):
            future.exception(timeout=timeout)
    return future.result()


def ahead(work: Callable[[_T], _R], items: Iterable[_T]) -> Iterator[_R]:
    """Yield the results of ``work`` in order, computed ahead by a thread."""
    waiting: deque[Future[_R]] = deque()
    with ThreadPoolExecutor(1, "ahead") as thread:
        for item in items:
            waiting.append(thread.submit(work, item))
            if len(waiting) > _AHEAD:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def ordered_map(
    name: str, work: Callable[[_T], _R], items: Sequence[_T], *, workers: int
) -> list[_R]:
    """Return the results of ``work`` in order, computed by at most ``workers`` threads."""
    futures: list[Future[_R]] = [Future() for _ in items]
    queue: SimpleQueue[tuple[Future[_R], _T]] = SimpleQueue()
    for pair in zip(futures, items, strict=True):
        queue.put(pair)
    stop = Event()

    def work_off_queue() -> None:
        while not stop.is_set():
            try:
                future, item = queue.get_nowait()
            except Empty:
                return
            _complete(future, work, item)
            if future.exception() is not None:
                stop.set()

    try:
        for _ in range(min(workers, len(items))):
            run_in_thread(name, work_off_queue)
        return [result_within(future) for future in futures]
    finally:
        stop.set()


def _complete(future: "Future[_R]", work: Callable[..., _R], *arguments: object) -> None:
    try:
        future.set_result(work(*arguments))
    except BaseException as error:  # noqa: BLE001 - raised by ``future.result``
        future.set_exception(error)
