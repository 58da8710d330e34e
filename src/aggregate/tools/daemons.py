"""Work in threads that no program waits for when it ends: a thread cannot be ended from outside."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextvars import copy_context
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TypeVar

_T = TypeVar("_T")
_R = TypeVar("_R")


def started(name: str, work: Callable[[], _R]) -> "Future[_R]":
    """Run ``work`` in a thread called ``name`` and return its future."""
    future: Future[_R] = Future()
    context = copy_context()
    Thread(target=_settle, args=(future, context.run, work), name=name, daemon=True).start()
    return future


def in_order(name: str, work: Callable[[_T], _R], items: Sequence[_T], *, workers: int) -> list[_R]:
    """Return what ``work`` gives for each item, in the order of the items, ``workers`` of them at a time.

    Raises:
        BaseException: What the first of them has raised, or an interrupt; the others go on.
    """
    futures: list[Future[_R]] = [Future() for _ in items]
    waiting: SimpleQueue[tuple[Future[_R], _T]] = SimpleQueue()
    for pair in zip(futures, items, strict=True):
        waiting.put(pair)

    def drain() -> None:
        while True:
            try:
                future, item = waiting.get_nowait()
            except Empty:
                return
            _settle(future, work, item)

    for _ in range(min(workers, len(items))):
        started(name, drain)
    return [future.result() for future in futures]


def _settle(future: "Future[_R]", work: Callable[..., _R], *arguments: object) -> None:
    try:
        future.set_result(work(*arguments))
    except BaseException as error:  # noqa: BLE001 - whoever waits for the future raises it
        future.set_exception(error)
